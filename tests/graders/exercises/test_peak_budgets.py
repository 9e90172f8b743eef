"""Peaks as the kernel sees them: they repeat, the baseline has no learner code; without a meter nothing passes."""

import statistics
from pathlib import Path

import pytest

from graders.contract.chart import FORWARDS, HELD
from graders.contract.results import MeasuredBy, Outcome, Verdict

FIXTURE = Path(__file__).parents[1] / "fixtures" / "held-at-once"
MAX_SPREAD = 0.01
REPEATS = 10

pytestmark = [pytest.mark.box]


@pytest.fixture
def meter(slot):
    if not slot.memory_cgroup:
        pytest.skip("this machine gives us no memory cgroup: nobody measures peak memory here")


def read_attempt(name: str) -> str:
    return (FIXTURE / "attempts" / name).read_text()


def read_held(verdict: Verdict, name: str = "sixty pieces") -> float:
    case = next(case for case in verdict.cases if case.name == name)
    return next(measure.value for measure in case.measures if measure.name == HELD)


def test_the_same_program_is_charged_the_same_within_a_hundredth(grade, meter):
    held = [read_held(grade(FIXTURE, read_attempt("holds_all.py"))) for _ in range(REPEATS)]
    assert max(held) - min(held) <= MAX_SPREAD * statistics.median(held), held
    assert 60 <= statistics.median(held) <= 61


def test_what_was_prepared_for_everybody_is_not_charged(grade, meter):
    """Eight units lie around before the learner's file is there."""
    assert read_held(grade(FIXTURE, (FIXTURE / "solution.py").read_text())) <= 2


def test_what_a_file_takes_as_it_is_loaded_is_charged(grade, meter):
    assert read_held(grade(FIXTURE, read_attempt("cheat_ballast.py"))) > 99


def test_one_case_leaves_nothing_to_the_next(grade, meter):
    kept = "kept = []\ndef total(make, count):\n    kept.extend(make(n) for n in range(min(count, 30)))\n"
    kept += "    return sum(make(number)[0] for number in range(count))\n"
    verdict = grade(FIXTURE, kept)
    assert verdict.outcome is Outcome.PASSED
    assert verdict.cases_passed == verdict.cases_total == 3


def test_a_measure_says_whose_word_it_is_and_its_budget(grade, meter):
    verdict = grade(FIXTURE, read_attempt("cheat_lies.py"))
    held = next(measure for measure in verdict.measures if measure.name == HELD)
    said = next(measure for measure in verdict.measures if measure.name == FORWARDS)
    assert (held.measured_by, held.most) == (MeasuredBy.KERNEL, 40)
    assert (said.measured_by, said.value) == (MeasuredBy.LEARNER_PROCESS, 1)


def test_a_machine_without_a_meter_gives_no_verdict(grade, slot):
    if slot.memory_cgroup:
        pytest.skip("this machine measures; tests/graders/box/as_ordinary_user.py makes one that may not")
    verdict = grade(FIXTURE, (FIXTURE / "solution.py").read_text(), may_skip=False)
    assert verdict.outcome is Outcome.GRADER_FAULT
