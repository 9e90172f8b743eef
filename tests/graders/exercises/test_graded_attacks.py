"""Forgeries: submissions that want to pass without an answer. None does, and the run after each is clean."""

import pytest

from graders.attacks.attempt import TOO_BUSY, Result
from graders.attacks.corpus import Forgery, list_forgeries
from graders.attacks.judged import EXERCISE, EXERCISES, Judge, try_through_judge
from graders.attacks.on_the_judge import HONEST, LAZY
from graders.contract.results import Outcome

FOLDER = EXERCISES / EXERCISE

pytestmark = [pytest.mark.box]


@pytest.mark.parametrize("attack", list_forgeries(), ids=lambda attack: f"{attack.id} {attack.title}")
def test_an_attack_gets_what_it_deserves_and_the_next_run_is_clean(judge: Judge, attack: Forgery) -> None:
    attempted = try_through_judge(judge, attack)

    if attempted.reason == TOO_BUSY:
        pytest.skip(TOO_BUSY)
    assert attempted.result is Result.HELD, attempted.reason


def make_forgery(source: str, *allowed: Outcome) -> Forgery:
    return Forgery(id="X1", title="a test's own", allowed=frozenset(allowed), source=source)


@pytest.mark.parametrize(
    ("attack", "result", "reason"),
    [
        (make_forgery(HONEST, Outcome.WRONG_ANSWER), Result.FORGED, "it passed, and its answers are wrong"),
        (
            make_forgery(LAZY, Outcome.TIME_LIMIT),
            Result.ESCAPED,
            "it ended as wrong_answer, where only these are right: time_limit",
        ),
        (
            make_forgery("print('ESCAPED to somewhere')" + LAZY, Outcome.WRONG_ANSWER),
            Result.ESCAPED,
            "it printed: ESCAPED to somewhere",
        ),
    ],
    ids=["passes", "ends otherwise", "says so"],
)
def test_a_forgery_that_succeeds_is_seen(judge: Judge, attack: Forgery, result: Result, reason: str) -> None:
    attempted = try_through_judge(judge, attack)

    assert (attempted.result, attempted.reason) == (result, reason)


def test_a_mistake_is_told_on_the_learners_line_without_our_frames(grade):
    verdict = grade(FOLDER, "def helper(x):\n    return x.nope\n\n\ndef solve(x, w):\n    return helper(x)\n")
    assert verdict.mistake is not None
    assert (verdict.mistake.type, verdict.mistake.line) == ("AttributeError", 2)
    assert "return x.nope" in verdict.mistake.traceback
    assert "probe" not in verdict.mistake.traceback
    assert "graded" not in verdict.mistake.traceback
    assert verdict.mistake.traceback.count("submission.py") == 2


def test_what_a_submission_prints_is_shown_as_its_own_words(grade):
    verdict = grade(FOLDER, "print('caf\\u00e9 \\x1b[2J')" + HONEST)
    assert (verdict.outcome, verdict.stdout) == (Outcome.PASSED, "café [2J\n")
