"""Every outcome has its sentences, and every sentence can be said."""

import string

import pytest

from graders.contract.results import Mistake, Outcome
from graders.trusted.finding_sentences import BY_MISTAKE, SENTENCES, find_mistake, find_outcome

GOOD = (Outcome.OK, Outcome.PASSED)


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome not in GOOD])
def test_every_outcome_that_is_not_good_has_words(outcome):
    finding = find_outcome(outcome, limit="2 s")
    assert finding.short
    assert "{" not in finding.short + finding.long


@pytest.mark.parametrize("code", SENTENCES)
def test_sentences_name_only_what_they_are_given(code):
    named = {
        name
        for text in (SENTENCES[code].short, SENTENCES[code].long)
        for _, name, _, _ in string.Formatter().parse(text)
    }
    assert named - {None} <= {"type", "message", "line", "limit", "used"}


def test_braces_in_a_learners_message_are_only_text():
    mistake = Mistake(type="KeyError", message="{limit!r} {0} {nothing}", line=3)
    assert "{limit!r} {0} {nothing}" in find_mistake(Outcome.RUNTIME_ERROR, mistake, limit="").short


def test_a_mistake_without_a_line_points_at_none():
    mistake = Mistake(type="KeyError", message="x")
    assert find_mistake(Outcome.RUNTIME_ERROR, mistake, limit="").long == ""


def test_special_mistakes_have_sentences():
    assert set(BY_MISTAKE.values()) <= SENTENCES.keys()
