"""Tries on a machine with a card all that could not be tried without one, and prints a table for docs/operating.md.

Exit status: 0 if every line held, 1 if not, 2 without a card. The settings are the grader's: UNWIND_CARD chooses one.
"""

import platform
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from graders.box.card import Card, NoCard, find_card
from graders.box.interface import BoxFault
from graders.box.profiles import probe_profile
from graders.box.self_test import run_self_test
from graders.box.slot import Slot, open_boxes
from graders.contract.jobs import Device, Flavour, GradeJob, RunJob
from graders.contract.limits import Limits
from graders.contract.model import ExerciseName
from graders.contract.results import CARD_MEMORY, MEDIAN_TIME, Outcome, RunEnd, Verdict
from graders.contract.settings import GraderSettings
from graders.judging.run_job import run_cell, run_job
from graders.trusted.reference import ReferenceServer
from graders.worker.card_health import CardUnfit, examine_card
from graders.worker.card_meter import CardMeter, watch_card

HELD, NOT_HELD, NO_CARD = 0, 1, 2
EXERCISES = Path(__file__).resolve().parents[1] / "exercises"
LAB = ExerciseName("a-norm-for-every-sample")
LIMITS = Limits(cpu_seconds=10.0, wall_seconds=20.0, memory_mib=1024, card_mib=2048)

GIBIBYTE = "import torch, time\nx = torch.zeros(1 << 28, device='cuda')\ntorch.cuda.synchronize()\ntime.sleep(1)\n"
TOO_MUCH = "import torch\nx = [torch.zeros(1 << 28, device='cuda') for _ in range(4)]\n"
AROUND = (
    "import torch, time\ntorch.cuda.set_per_process_memory_fraction(1.0)\n"
    "x = [torch.zeros(1 << 28, device='cuda') for _ in range(6)]\ntime.sleep(5)\n"
)
POISON = "import torch\ntorch.zeros(1, device='cuda')[torch.tensor([1 << 40], device='cuda')].item()\n"
ENDLESS = "import torch\nx = torch.ones(4096, 4096, device='cuda')\nwhile True:\n    x = x @ x * 1e-4\n"
LEAVE = "import torch\ntorch.full((1 << 28,), 7.0, device='cuda')\ntorch.cuda.synchronize()\n"
NOT_ASKED = (
    "import errno, os\ntry:\n    os.open('/dev/nvidiactl', os.O_RDWR)\nexcept OSError as error:\n"
    "    print(errno.errorcode[error.errno])\n"
)


@dataclass(frozen=True)
class Line:
    """One line of the table: what was tried, what was seen, and whether it was what it must be."""

    tried: str
    seen: str
    held: bool


class Bench:
    """A box with the card, and the ways in which a line uses it."""

    def __init__(self, box: Slot, card: Card, reference: ReferenceServer) -> None:
        self.box, self.reference, self.meter = box, reference, CardMeter(card.bus)

    def run(self, source: str, device: Device = Device.GPU) -> RunEnd:
        """A cell, watched as the worker watches it."""
        job = RunJob(source=source, device=device, want_trace=False, limits=LIMITS)

        def judge(job: GradeJob | RunJob, on_event: object, kill: threading.Event) -> RunEnd:
            assert isinstance(job, RunJob)
            return run_cell(job, self.box, lambda kind, body: None, kill)

        end = watch_card(judge, self.meter, lambda job: LIMITS)(job, lambda kind, body: None, threading.Event())
        assert isinstance(end, RunEnd)
        return end

    def grade(self, source: str) -> Verdict:
        job = GradeJob(exercise=LAB, source=source, benchmark=True)
        verdict = run_job(job, self.box, EXERCISES, self.reference, lambda kind, body: None, threading.Event())
        assert isinstance(verdict, Verdict)
        return verdict


def expect(tried: str, bench: Bench, source: str, outcome: Outcome) -> Line:
    end = bench.run(source)
    said = end.mistake.type if end.mistake else end.finding.code if end.finding else "no finding"
    return Line(tried, f"{end.outcome.value} ({said})", end.outcome is outcome)


def try_health(bench: Bench) -> Line:
    try:
        facts = examine_card(bench.box)
    except CardUnfit as unfit:
        return Line("CUDA starts in the jailed process, computes rightly, sees one card", str(unfit), held=False)
    seen = f"{facts.name}, {facts.memory_mib} MiB"
    return Line("CUDA starts in the jailed process, computes rightly, sees one card", seen, held=True)


def try_self_test(bench: Bench) -> Line:
    report = run_self_test([bench.box])
    failed = [boundary.name for boundary in report.boundaries if not boundary.held]
    count = f"{report.profile}: {len(report.boundaries) - len(failed)} of {len(report.boundaries)}"
    return Line("self-test in a box with the card", "; ".join([count, *failed]), not failed)


def try_not_asked(bench: Bench) -> Line:
    seen = bench.run(NOT_ASKED, Device.CPU).stdout.strip()
    return Line("a run that did not ask opens the card", seen or "opened it", seen == "EACCES")


def try_start(bench: Bench) -> Line:
    def time_runs(device: Device) -> float:
        seconds = []
        for _ in range(5):
            begin = time.monotonic()
            bench.run("pass", device)
            seconds.append(time.monotonic() - begin)
        return statistics.median(seconds)

    without, with_card = time_runs(Device.CPU), time_runs(Device.GPU)
    return Line("an empty run, without and with the card", f"{without:.2f} s and {with_card:.2f} s", held=True)


def try_meter(bench: Bench) -> Line:
    peak = next((one.value for one in bench.run(GIBIBYTE).measures if one.name == CARD_MEMORY), 0.0)
    return Line(
        "nvidia-smi sees a tensor of 1,024 MiB, with CUDA's own memory", f"{peak:.0f} MiB", 1024 <= peak <= 2048
    )


def try_poison(bench: Bench) -> Line:
    poisoned, after = bench.run(POISON), bench.run("import torch\nprint(torch.ones(2, device='cuda').sum().item())")
    seen = f"{poisoned.outcome.value}, then {after.outcome.value} {after.stdout.strip()}"
    held = poisoned.outcome is not Outcome.OK and after.stdout.strip() == "2.0"
    return Line("the run after one that broke its context", seen, held)


def try_leftovers(bench: Bench) -> Line:
    bench.run(LEAVE)
    try:
        examine_card(bench.box)
    except CardUnfit as unfit:
        return Line("new memory after a run that filled 1 GiB", str(unfit), held=False)
    return Line("new memory after a run that filled 1 GiB", "empty", held=True)


def try_lab(bench: Bench) -> Line:
    verdict = bench.grade((EXERCISES / LAB / "solution.py").read_text())
    median = next((one.value for one in verdict.measures if one.name == MEDIAN_TIME), None)
    seen = f"{verdict.outcome.value}, " + ("not timed" if median is None else f"median {median:.3f} ms")
    return Line(f"the lab {LAB} on the card", seen, verdict.outcome is Outcome.PASSED and median is not None)


TRIES: tuple[Callable[[Bench], Line], ...] = (
    try_health,
    try_self_test,
    try_not_asked,
    try_start,
    try_meter,
    lambda bench: expect("3 GiB more than `card_mib`, by torch's allocator", bench, TOO_MUCH, Outcome.MEMORY_LIMIT),
    lambda bench: expect("the same past torch's own limit", bench, AROUND, Outcome.MEMORY_LIMIT),
    try_poison,
    lambda bench: expect("kernels without end", bench, ENDLESS, Outcome.TIME_LIMIT),
    try_leftovers,
    try_lab,
)


def main() -> int:
    settings = GraderSettings()
    try:
        card = find_card(settings.card)
    except NoCard as missing:
        sys.stderr.write(f"nothing was tried: {missing}\n")
        return NO_CARD
    with open_bench(card) as bench:
        lines = [try_one(one, bench) for one in TRIES]
    sys.stdout.write(write_table(lines, describe_machine()) + "\n")
    return HELD if all(line.held for line in lines) else NOT_HELD


@contextmanager
def open_bench(card: Card) -> Iterator[Bench]:
    with closing(ReferenceServer()) as reference:
        [box] = open_boxes(1, tuple(Flavour), probe_profile(), card)
        with closing(box):
            yield Bench(box, card, reference)


def try_one(one: Callable[[Bench], Line], bench: Bench) -> Line:
    """A line that fails in an unforeseen way is a line that did not hold."""
    try:
        return one(bench)
    except (BoxFault, OSError, AssertionError) as error:
        return Line(getattr(one, "__name__", "a line"), f"{type(error).__name__}: {error}", held=False)


def describe_machine() -> str:
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        driver = subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip()
    except OSError as error:
        driver = f"nvidia-smi does not start ({error.strerror})"
    return f"{time.strftime('%Y-%m-%d')}, Linux {platform.release()}, {driver.replace(chr(10), '; ')}"


def write_table(lines: list[Line], machine: str) -> str:
    """Markdown."""
    rows = [f"| {line.tried} | {line.seen} | {'held' if line.held else '**not held**'} |" for line in lines]
    return "\n".join([machine, "", "| tried | seen | |", "|---|---|---|", *rows])


if __name__ == "__main__":
    sys.exit(main())
