"""The same submission gets the same verdict whatever is drawn: nobody passes by luck, and nobody fails by it."""

from pathlib import Path

import pytest

from graders.contract.manifest import Attempt
from graders.contract.results import Outcome
from graders.trusted.exercise import load_exercise

EXERCISES = Path(__file__).resolve().parents[3] / "exercises"
TIMES = 20
GUESSES = "cheat_guesses.py"
"""Such a submission draws at random itself, so what is said of it varies; what becomes of it does not."""
SUBMISSIONS = [
    pytest.param(folder, file, attempt, id=f"{folder.name}/{file}")
    for folder in sorted(found.parent for found in EXERCISES.glob("*/exercise.toml"))
    for file, attempt in (
        ("solution.py", None),
        ("starter.py", None),
        *(
            (f"attempts/{attempt.file}", attempt)
            for attempt in load_exercise(EXERCISES, folder.name).manifest.attempts
        ),
    )
]

pytestmark = [pytest.mark.box, pytest.mark.nightly]


@pytest.mark.parametrize(("folder", "file", "attempt"), SUBMISSIONS)
def test_a_submission_judged_twenty_times_gets_one_verdict(grade, folder: Path, file: str, attempt: Attempt | None):
    source = (folder / file).read_text()
    ends = set()
    for _ in range(TIMES):
        verdict = grade(folder, source, attempt)
        said = None if file.endswith(GUESSES) or verdict.finding is None else verdict.finding.code
        ends.add((verdict.outcome, said))
    (end,) = ends
    assert end[0] is not Outcome.GRADER_FAULT
    assert (end[0] is Outcome.PASSED) is (attempt.outcome is Outcome.PASSED if attempt else file == "solution.py")
