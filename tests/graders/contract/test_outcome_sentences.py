"""The ends that no judge decides: which they are, and that everybody says the same of them."""

import pytest

from app.web.views.outcomes import HEADLINES
from graders.contract.jobs import GradeJob, RunJob
from graders.contract.outcome_sentences import UNJUDGED, find_other_version, make_end
from graders.contract.results import Outcome, RunEnd, Verdict
from graders.trusted.finding_sentences import find_outcome


def test_what_no_judge_decides_is_what_costs_no_attempt() -> None:
    assert set(UNJUDGED) == {outcome for outcome in Outcome if not outcome.costs_an_attempt}


@pytest.mark.parametrize("outcome", UNJUDGED)
def test_judge_ledger_and_website_say_the_same(outcome: Outcome) -> None:
    end = make_end(RunJob(source=""), outcome)

    assert end == RunEnd(outcome=outcome, finding=UNJUDGED[outcome])
    assert find_outcome(outcome) == UNJUDGED[outcome]
    assert HEADLINES[outcome] == UNJUDGED[outcome].short


def test_another_version_is_told_by_the_exercises_name() -> None:
    finding = find_other_version("double")

    assert "double" in finding.short
    assert "no attempt" in finding.long
    assert make_end(RunJob(source=""), Outcome.GRADER_FAULT, finding).finding == finding


@pytest.mark.parametrize("public_only", [True, False])
def test_public_checks_that_were_not_judged_stay_public_checks(public_only: bool) -> None:
    job = GradeJob(exercise="double", source="", public_only=public_only)

    end = make_end(job, Outcome.CANCELLED)

    assert isinstance(end, Verdict)
    assert (end.exercise, end.public_only) == ("double", public_only)
