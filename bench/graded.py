"""Graded runs per second on every core, compared with a fresh process per submission that imports torch.

A graded run is the whole of `run_job`: cases drawn, expected answers, the box, every case, the verdict. A busy
machine changes the numbers of a run, but hardly the ratios.
"""

import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from graders.box.profiles import probe_profile  # noqa: E402
from graders.box.slot import Slot, open_box  # noqa: E402
from graders.contract.jobs import GradeJob  # noqa: E402
from graders.contract.model import ExerciseName  # noqa: E402
from graders.contract.results import Outcome  # noqa: E402
from graders.judging.run_job import run_job  # noqa: E402
from graders.trusted.reference import ReferenceServer  # noqa: E402

FIXTURES = ROOT / "tests" / "graders" / "fixtures"
TASKS = (
    ("trivial, no torch", ROOT / "tests" / "course" / "exercises", "double"),
    ("small engine, no torch", ROOT / "exercises", "scalar-engine"),
    ("small autograd", ROOT / "graders" / "attacks", "relu-vjp"),
    ("checkpoint lab, metered", FIXTURES, "pull-back"),
)
SECONDS, COLD_RUNS = 6.0, 5
FRESH = """
import importlib.util, random, sys
import torch
def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
folder = sys.argv[1]
cases, solution = load("cases", folder + "/cases.py"), load("solution", folder + "/solution.py")
cases.draw_cases(random.Random(1))
"""


def grade_once(slot: Slot, root: Path, name: str, source: str, reference: ReferenceServer) -> None:
    job = GradeJob(exercise=ExerciseName(name), source=source)
    verdict = run_job(job, slot, root, reference, lambda *_: None, threading.Event())
    if verdict.outcome is not Outcome.PASSED:
        raise SystemExit(f"{name}: {verdict.outcome}")


def count_a_second(slots: list[Slot], work: Callable[[Slot], None]) -> tuple[float, float]:
    """(runs per second of all slots together, the median milliseconds of one)."""
    times: list[float] = []
    deadline = time.perf_counter() + SECONDS

    def drive(slot: Slot) -> None:
        while (started := time.perf_counter()) < deadline:
            work(slot)
            times.append((time.perf_counter() - started) * 1000)

    threads = [threading.Thread(target=drive, args=(slot,)) for slot in slots]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(times) / SECONDS, statistics.median(times)


def time_fresh(folder: Path) -> float:
    """Seconds of a new process that imports torch and the exercise, and judges nothing: a lower bound."""
    times = []
    for _ in range(COLD_RUNS):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", FRESH, str(folder)], check=True)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def main() -> None:
    cores = len(os.sched_getaffinity(0))
    print(f"profile {probe_profile()}, {cores} cores, load {os.getloadavg()[0]:.1f} before the start")
    slots = [open_box(profile=probe_profile()) for _ in range(cores)]
    reference = ReferenceServer()
    reference.warm(with_torch=True)
    try:
        print(f"{'task':24} {'runs/s':>8} {'median ms':>10} {'fresh process, runs/s':>22}   ratio")
        for label, root, name in TASKS:
            source = (root / name / "solution.py").read_text(encoding="utf-8")
            grade_once(slots[0], root, name, source, reference)  # the reference process may still be importing torch
            rate, median = count_a_second(
                slots,
                lambda slot, root=root, name=name, source=source: grade_once(slot, root, name, source, reference),
            )
            fresh = cores / time_fresh(root / name)
            print(f"{label:24} {rate:8.1f} {median:10.1f} {fresh:22.2f}   {rate / fresh:.0f}")
    finally:
        reference.close()
        for slot in slots:
            slot.close()


if __name__ == "__main__":
    main()
