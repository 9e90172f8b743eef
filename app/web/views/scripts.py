"""An exercise's file run as a program, without a verdict: the job, and the losses that it printed or left."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.course.checking.hidden_setup import drop_lines, read_lines
from app.course.model import Exercise
from app.pictures.drawing.chart import draw_chart
from app.web.edge.frame import Link
from app.web.views.presenting_results import show_code
from app.web.views.result_views import LossesView, RunView
from graders.contract.jobs import Device, RunJob
from graders.contract.limits import MAX_SOURCE_BYTES
from graders.contract.results import RunEnd
from graders.ledger import Submission

LOSSES_LINE = "__losses__ "
MAX_POINTS = 400
FEWEST_POINTS = 2
SETUP = f"""
def print_losses(names):
    import json
    try:
        losses = [float(loss) for loss in names.get("losses", ())]
    except Exception:
        return
    every = max(1, -(-len(losses) // {MAX_POINTS}))
    if losses:
        print("{LOSSES_LINE.strip()}", json.dumps([[step, losses[step]] for step in range(0, len(losses), every)]))
"""
CALL = "\n\nprint_losses(globals())"

MAIN_PART = re.compile(r"^if __name__ == ['\"]__main__['\"]:", re.MULTILINE)
PRINTED = re.compile(r"\bloss(?:es)?\b\s*[:=]?\s*([-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|nan|inf))", re.IGNORECASE)

Point = tuple[int, float]


def has_script(exercise: Exercise) -> bool:
    """Whether its file does something when it runs: its starter has a main part. Cards are for submissions alone."""
    return exercise.manifest.device is Device.CPU and MAIN_PART.search(exercise.starter) is not None


def make_job(exercise: Exercise, source: str) -> RunJob:
    """The learner's file as `__main__`, followed by a line that prints the list `losses`, if it left one."""
    called = source + CALL
    fits = len(called.encode()) <= MAX_SOURCE_BYTES
    return RunJob(
        source=called if fits else source,
        setup=SETUP,
        flavour=exercise.manifest.flavour,
        want_trace=False,
    )


def show_script(view: RunView, run: Submission, exercise: Exercise) -> RunView:
    """The run of an exercise's file: the learner's own lines, what these printed, and the losses."""
    mistake = run.result.mistake if isinstance(run.result, RunEnd) else None
    return replace(
        view,
        back=Link(f"/exercises/{exercise.name}#your-answer", exercise.manifest.title),
        code=show_code(run.job.source.removesuffix(CALL), mistake),
        stdout=show_output(view.stdout),
        losses=show_losses(view.stdout),
    )


def show_output(stdout: str) -> str:
    """What the learner's own code printed."""
    return drop_lines(stdout, LOSSES_LINE)


def show_losses(stdout: str) -> LossesView | None:
    """The list that the file left, else the numbers after "loss" in what it printed; None if there are too few."""
    left = _read_left(stdout)
    printed = [(place, float(found[1])) for place, found in enumerate(PRINTED.finditer(show_output(stdout)))]
    points = left or printed[:MAX_POINTS]
    if len(points) < FEWEST_POINTS:
        return None
    across = "step" if left else "printed loss"
    numbers = [number if math.isfinite(number) else None for _, number in points]
    figure = draw_chart("line", across, ["loss"], {across: [place for place, _ in points], "loss": numbers}, [])
    return LossesView(
        figure=json.dumps(figure),
        alt=f"The loss goes from {_write(points[0])} to {_write(points[-1])} over {len(points)} points.",
        source="the list `losses` that it left" if left else "the numbers after “loss” in what it printed",
        across=across,
        rows=tuple((place, _write((place, number))) for place, number in points),
    )


def _read_left(stdout: str) -> Sequence[Point]:
    """Whatever stands in that line is the learner's claim, so its form is checked."""
    points: Any = next(iter(read_lines(stdout, LOSSES_LINE)), [])
    try:
        return [(int(step), float(loss)) for step, loss in points[:MAX_POINTS]]
    except (TypeError, ValueError, OverflowError, KeyError):
        return []


def _write(point: Point) -> str:
    return f"{point[1]:.4g}"
