"""Every exercise proves itself: the starter fails, the solution passes, attempts get their outcome and finding.

The course's own solutions and attempts are held to their word by the course's check, and nightly 20 times each
(test_same_verdict.py); here, by the fixtures.
"""

from pathlib import Path

import pytest

from graders.attacks.judged import EXERCISE, EXERCISES
from graders.contract.manifest import TOO_LONG, Attempt
from graders.contract.results import Outcome
from graders.trusted.exercise import load_exercise
from graders.trusted.finding_sentences import ENGINE_CODES

HERE = Path(__file__).resolve()
ROOTS = (HERE.parents[3] / "exercises", HERE.parents[1] / "fixtures")
COURSE, FIXTURES = (sorted(found.parent for found in root.glob("*/exercise.toml")) for root in ROOTS)
FIXTURES.append(EXERCISES / EXERCISE)
ATTEMPTS = [
    pytest.param(folder, attempt, id=f"{folder.name}/{attempt.file}")
    for folder in FIXTURES
    for attempt in load_exercise(folder.parent, folder.name).manifest.attempts
]

pytestmark = [pytest.mark.box]


def explain(verdict) -> str:
    failing = [(case.name, case.got, case.expected) for case in verdict.cases if not case.passed]
    return f"{verdict.outcome}: {verdict.finding} {verdict.mistake} {failing}"


@pytest.mark.parametrize("folder", FIXTURES, ids=lambda folder: folder.name)
def test_the_solution_passes_again_and_again(grade, folder):
    source = (folder / "solution.py").read_text()
    for _ in range(3):
        verdict = grade(folder, source)
        assert verdict.outcome is Outcome.PASSED, explain(verdict)
        assert verdict.cases_passed == verdict.cases_total > 0


@pytest.mark.parametrize("folder", FIXTURES, ids=lambda folder: folder.name)
def test_the_starter_does_not_pass(grade, folder):
    verdict = grade(folder, (folder / "starter.py").read_text())
    assert verdict.outcome not in (Outcome.PASSED, Outcome.GRADER_FAULT), explain(verdict)


@pytest.mark.parametrize(("folder", "attempt"), ATTEMPTS)
def test_an_attempt_gets_its_outcome_and_its_finding(grade, folder: Path, attempt: Attempt):
    verdict = grade(folder, (folder / "attempts" / attempt.file).read_text(), attempt)
    found = verdict.finding.code if verdict.finding else None
    assert (verdict.outcome, found) == (attempt.outcome, attempt.finding), explain(verdict)


@pytest.mark.parametrize("folder", [*FIXTURES, ROOTS[0] / "scalar-engine"], ids=lambda folder: folder.name)
def test_a_cheat_does_not_spoil_the_next_run(grade, folder):
    for attempt in load_exercise(folder.parent, folder.name).manifest.attempts:
        if attempt.cheat and attempt.outcome is not Outcome.TIME_LIMIT:
            grade(folder, (folder / "attempts" / attempt.file).read_text(), attempt)
            assert grade(folder, (folder / "solution.py").read_text()).outcome is Outcome.PASSED


@pytest.mark.parametrize("folder", COURSE, ids=lambda folder: folder.name)
def test_every_exercise_knows_wrong_answers_cheats_and_right_answers_of_other_kinds(folder):
    attempts = load_exercise(folder.parent, folder.name).manifest.attempts
    assert sum(attempt.outcome is Outcome.PASSED for attempt in attempts) >= 4
    assert sum(attempt.outcome is not Outcome.PASSED and not attempt.cheat for attempt in attempts) >= 3
    assert sum(attempt.cheat for attempt in attempts) >= 2
    assert all(attempt.outcome is not Outcome.PASSED for attempt in attempts if attempt.cheat)


@pytest.mark.parametrize("folder", [*COURSE, *FIXTURES], ids=lambda folder: folder.name)
def test_every_finding_of_an_exercise_is_one_that_somebody_can_get(folder):
    manifest = load_exercise(folder.parent, folder.name).manifest
    said = (folder / "cases.py").read_text()
    counted = {TOO_LONG} if manifest.brevity else set()
    own = (
        manifest.findings.keys() - ENGINE_CODES - counted
    )  # the others are the engine's to say, in the exercise's words
    assert [code for code in own if f'"{code}"' not in said] == []
