"""The benchmark of a lab: one more run after the cases, whose times are the learner's process's own claim."""

import json
import math
from typing import Final

from graders.contract.jobs import Flavour, RunJob
from graders.contract.manifest import Benchmark, Manifest
from graders.contract.results import MEDIAN_TIME, Measure, MeasuredBy, RunEnd

FIGURES: Final = ((MEDIAN_TIME, "median_ms"), ("shortest time", "lowest_ms"), ("longest time", "highest_ms"))
# `prepare` gets the names of the learner's file; what it returns is timed.
HARNESS: Final = """

import stopwatch as _stopwatch, torch as _torch, types as _types
_device = "cuda" if _torch.cuda.is_available() else "cpu"
_work = prepare(_types.SimpleNamespace(**globals()), _device)
print("\\n" + _stopwatch.measure(_work, _device, {runs}, {warm_up}))
"""


def make_benchmark_job(source: str, program: str, benchmark: Benchmark, manifest: Manifest) -> RunJob:
    """The learner's file first, then the lab's program on its names, then the stopwatch."""
    harness = HARNESS.format(runs=benchmark.runs, warm_up=benchmark.warm_up)
    return RunJob(
        source=program + harness,
        setup=source,
        flavour=Flavour.TORCH,
        device=manifest.device,
        want_trace=False,
        limits=manifest.limits,
    )


def read_benchmark(end: RunEnd) -> tuple[Measure, ...]:
    """The figures of the last line that it printed; none where the run failed or printed something else."""
    last = end.stdout.rstrip().rpartition("\n")[2]
    try:
        said = json.loads(last)
        figures = [(name, float(said[key])) for name, key in FIGURES]
    except (ValueError, TypeError, KeyError):
        return ()
    if not all(math.isfinite(value) and value >= 0 for _, value in figures):
        return ()
    return tuple(
        Measure(name=name, value=value, unit="ms", measured_by=MeasuredBy.LEARNER_PROCESS) for name, value in figures
    )


def explain_untimed(end: RunEnd) -> str:
    """A sentence for the learner."""
    if end.mistake:
        return f"It was not timed, because the timed run raised {end.mistake.type}: {end.mistake.message}"
    return f"It was not timed: {end.finding.short}" if end.finding else "It was not timed: the run printed no times."
