"""The same submission gets the same verdict whatever is drawn: nobody passes by luck, and nobody fails by it."""

from pathlib import Path

import pytest

from graders.contract.manifest import Attempt
from graders.contract.results import Outcome
from graders.trusted.exercise import load_exercise

EXERCISES = Path(__file__).resolve().parents[3] / "exercises"
TIMES = 20
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
        ends.add((verdict.outcome, verdict.finding.code if verdict.finding else None))
    (end,) = ends
    assert end[0] is not Outcome.GRADER_FAULT
    assert (end[0] is Outcome.PASSED) is (attempt.outcome is Outcome.PASSED if attempt else file == "solution.py")
