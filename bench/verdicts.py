"""How long a verdict takes for each exercise, and what each is proven by: one row for each folder of exercises/.

Each solution is judged again and again on one warm slot, as a worker does it: cases drawn, expected answers, the box,
every case, the verdict. A busy machine lengthens the times. `python bench/verdicts.py 15 NAME...` judges
15 times, and only these exercises.
"""

import os
import statistics
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from graders.box.profiles import probe_profile  # noqa: E402
from graders.box.slot import Slot, open_box  # noqa: E402
from graders.contract.jobs import GradeJob  # noqa: E402
from graders.contract.model import ExerciseName  # noqa: E402
from graders.contract.results import Outcome, Verdict  # noqa: E402
from graders.judging.run_job import run_job  # noqa: E402
from graders.trusted.exercise import Exercise, load_exercise  # noqa: E402
from graders.trusted.reference import ReferenceServer  # noqa: E402

EXERCISES = ROOT / "exercises"
TIMES = 9
HEAD = ("exercise", "public", "hidden", "wrong", "right", "cheats", "mutants", "findings", "median s", "p95 s")


def judge_once(exercise: Exercise, slot: Slot, reference: ReferenceServer) -> tuple[float, Verdict]:
    """(seconds, verdict) of the solution."""
    source = (EXERCISES / exercise.name / "solution.py").read_text(encoding="utf-8")
    said = exercise.manifest.diagnosed_by(None)
    job = GradeJob(exercise=ExerciseName(exercise.name), source=source, diagnosed=said)
    started = time.perf_counter()
    verdict = run_job(job, slot, EXERCISES, reference, lambda *_: None, threading.Event())
    seconds = time.perf_counter() - started
    if not isinstance(verdict, Verdict) or verdict.outcome is not Outcome.PASSED:
        raise SystemExit(f"the solution of {exercise.name} was judged {verdict}")
    return seconds, verdict


def count_known(exercise: Exercise) -> tuple[int, ...]:
    """(wrong, right, cheats, mutants, findings): right answers are those besides the solution."""
    attempts = exercise.manifest.attempts
    cheats = sum(attempt.cheat for attempt in attempts)
    right = sum(attempt.outcome is Outcome.PASSED for attempt in attempts)
    mutants = len(list((EXERCISES / exercise.name / "mutants").glob("*.py")))
    return len(attempts) - cheats - right, right, cheats, mutants, len(exercise.manifest.findings)


def find_p95(times: list[float]) -> float:
    """Of fewer than 20 times, the longest."""
    return max(times) if len(times) < 20 else statistics.quantiles(times, n=20)[-1]


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else TIMES
    names = sys.argv[2:] or sorted(found.parent.name for found in EXERCISES.glob("*/exercise.toml"))
    print(f"profile {probe_profile()}, {times} verdicts each, load {os.getloadavg()[0]:.1f} before the start")
    print("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD))
    medians: dict[str, float] = {}
    slot, reference = open_box(profile=probe_profile()), ReferenceServer()
    reference.warm(with_torch=True)
    try:
        for name in names:
            exercise = load_exercise(EXERCISES, name)
            _, verdict = judge_once(exercise, slot, reference)  # what it imports is there from now on
            taken = [judge_once(exercise, slot, reference)[0] for _ in range(times)]
            hidden = sum(not case.public for case in verdict.cases)
            medians[name] = statistics.median(taken)
            counts = (len(verdict.cases) - hidden, hidden, *count_known(exercise))
            shown = " | ".join(map(str, counts))
            print(f"| {name} | {shown} | {medians[name]:.2f} | {find_p95(taken):.2f} |", flush=True)
    finally:
        reference.close()
        slot.close()
    slow = [name for name, median in medians.items() if median > 1]
    print(f"{len(medians)} exercises; median of medians {statistics.median(medians.values()):.2f} s")
    print(f"over 1 s: {', '.join(slow) or 'none'}")


if __name__ == "__main__":
    main()
