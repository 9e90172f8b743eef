"""A lab that is timed: what is measured, and that a claim about time changes nothing but the figures shown."""

import json
import threading
from pathlib import Path

import pytest

from graders.box.slot import open_box
from graders.contract.jobs import Flavour, GradeJob
from graders.contract.model import ExerciseName
from graders.contract.results import MEDIAN_TIME, Measure, MeasuredBy, Outcome, RunEnd, Verdict
from graders.judging.benchmark import read_benchmark
from graders.judging.run_job import run_job
from graders.trusted.reference import ReferenceServer

pytestmark = pytest.mark.slow

FIGURES = {"device": "processor", "runs": 3, "median_ms": 2.0, "lowest_ms": 1.0, "highest_ms": 4.0}
MANIFEST = """
format = 1
title = "Twice"
summary = "Double a tensor."
kind = "timing lab"
difficulty = "first steps"
minutes = 5
concepts = []
flavour = "torch"
device = "either"
attempts = []
[benchmark]
runs = 3
warm_up = 1
[findings.wrong]
short = "Wrong."
"""
FILES = {
    "exercise.toml": MANIFEST,
    "solution.py": "def twice(x):\n    return 2 * x\n",
    "probe.py": (
        "import torch\n\n\ndef probe(submission, case):\n"
        "    return {'y': submission.twice(torch.tensor(case['x']))}\n"
    ),
    "cases.py": (
        "def draw_cases(rng):\n"
        "    case = {'idea': 'a number', 'finding': 'wrong', 'inputs': {'x': rng.random()}}\n"
        "    return [{**case, 'name': str(n), 'public': n == 0, 'shown': ''} for n in range(2)]\n"
    ),
    "benchmark.py": (
        "import torch\n\n\ndef prepare(learner, device):\n"
        "    x = torch.ones(8, device=device)\n    return lambda: learner.twice(x)\n"
    ),
}
LIES = """
import stopwatch
stopwatch.measure = lambda *asked: '{"median_ms": 0, "lowest_ms": 0, "highest_ms": 0}'
def twice(x):
    return x
"""


@pytest.mark.parametrize(
    ("printed", "values"),
    [
        (f"learner's own\n\n{json.dumps(FIGURES)}\n", [2.0, 1.0, 4.0]),
        ("nothing of the kind", []),
        (json.dumps(FIGURES | {"median_ms": "fast"}), []),
        (json.dumps(FIGURES | {"median_ms": float("nan")}), []),
        (json.dumps(FIGURES | {"lowest_ms": -1.0}), []),
        (json.dumps([1, 2]), []),
        ("", []),
    ],
)
def test_only_three_times_are_taken_from_what_was_printed(printed: str, values: list[float]) -> None:
    measures = read_benchmark(RunEnd(outcome=Outcome.OK, stdout=printed))
    assert [measure.value for measure in measures] == values
    assert {measure.measured_by for measure in measures} <= {MeasuredBy.LEARNER_PROCESS}


@pytest.fixture(scope="module")
def exercises(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("exercises")
    (root / "twice").mkdir()
    for name, text in FILES.items():
        (root / "twice" / name).write_text(text)
    return root


def find_times(verdict: Verdict) -> dict[str, Measure]:
    return {one.name: one for one in verdict.measures if one.measured_by is MeasuredBy.LEARNER_PROCESS}


def test_an_answer_is_timed_after_its_cases_if_that_was_asked(exercises: Path) -> None:
    box, reference = open_box((Flavour.TORCH,)), ReferenceServer()

    def judge(source: str, **more: bool) -> Verdict:
        job = GradeJob(exercise=ExerciseName("twice"), source=source, **more)
        verdict = run_job(job, box, exercises, reference, lambda kind, body: None, threading.Event())
        assert isinstance(verdict, Verdict)
        return verdict

    try:
        right = FILES["solution.py"]
        timed, checked = judge(right, benchmark=True), judge(right, benchmark=True, public_only=True)
        plain, lie = judge(right), judge(LIES, benchmark=True)
        breaks = judge(right + "\nimport sys\nsys.modules['stopwatch'] = None\n", benchmark=True)
    finally:
        box.close()
        reference.close()
    assert (timed.outcome, checked.outcome, plain.outcome) == (Outcome.PASSED, Outcome.OK, Outcome.PASSED)
    assert list(find_times(timed)) == [MEDIAN_TIME, "shortest time", "longest time"]
    assert find_times(checked).keys() == find_times(timed).keys()
    assert find_times(plain) == {}
    assert (lie.outcome, find_times(lie)) == (Outcome.WRONG_ANSWER, {})
    assert (breaks.outcome, find_times(breaks)) == (Outcome.PASSED, {})
    assert "the timed run raised ModuleNotFoundError" in breaks.untimed
    assert (timed.untimed, plain.untimed) == ("", "")
