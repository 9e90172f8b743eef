"""A learner's wait for the first line, compared with a fresh process that imports torch; runs per second; memory.

Prints medians and ratios of one run on this machine. A busy machine changes the numbers, but hardly the ratios.
"""

import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from graders.box.interface import BoxRequest, Driver, Profile  # noqa: E402
from graders.box.profiles import probe_profile  # noqa: E402
from graders.box.slot import Slot, open_boxes  # noqa: E402
from graders.contract.jobs import Flavour  # noqa: E402
from graders.contract.limits import CELL_LIMITS  # noqa: E402

TRIVIAL = "print(1)"
SMALL_AUTOGRAD = """
import torch
print(1)
w = torch.randn(32, 32, requires_grad=True)
for _ in range(10):
    (torch.randn(8, 32) @ w).relu().pow(2).sum().backward()
"""
CHECKPOINTS = """
import torch
from torch.utils.checkpoint import checkpoint
print(1)
layers = torch.nn.ModuleList(torch.nn.Linear(128, 128) for _ in range(16))
x = torch.randn(64, 128, requires_grad=True)
for layer in layers:
    x = checkpoint(lambda v, layer=layer: layer(v).relu(), x, use_reentrant=False)
x.sum().backward()
"""
COLD_RUNS, WARM_RUNS, LOAD_SECONDS = 5, 60, 6.0
SLOT_COUNTS, SETTLE_SECONDS = (1, 2, 4, 8), 0.3
CELL_CAPS = {"document_bytes": 65536}


def run_cell(box: Slot, flavour: Flavour, source: str) -> tuple[float, float]:
    """(milliseconds to the first line, milliseconds to the end)."""
    payload = json.dumps({"source": source, "setup": "", "want_trace": False, "caps": CELL_CAPS}).encode()
    first: list[float] = []
    started = time.perf_counter()
    request = BoxRequest(flavour, Driver.CELL, payload, CELL_LIMITS, lambda *_: first.append(time.perf_counter()))
    run = box.start(request)
    document = json.loads(run.receive_at_most(CELL_CAPS["document_bytes"]))
    run.wait()
    if not document["ok"]:
        raise SystemExit(document["mistake"]["traceback"])
    return (first[0] - started) * 1000, (time.perf_counter() - started) * 1000


def time_cold(code: str) -> float:
    times = []
    for _ in range(COLD_RUNS):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def describe_first_lines(box: Slot, flavour: Flavour, cold_ms: float) -> str:
    times = [run_cell(box, flavour, TRIVIAL) for _ in range(WARM_RUNS)]
    first = [time_ms for time_ms, _ in times]
    median, p95 = statistics.median(first), statistics.quantiles(first, n=20)[-1]
    whole = statistics.median(end for _, end in times)
    return f"{flavour.value:6} {median:8.1f} {p95:8.1f} {min(first):8.1f} {whole:8.1f}   1/{cold_ms / median:.0f}"


def count_runs_a_second(boxes: list[Slot], work: Callable[[Slot], object]) -> float:
    """Runs each slot as fast as possible from its own thread."""
    counts = [0] * len(boxes)
    deadline = time.perf_counter() + LOAD_SECONDS

    def drive(at: int) -> None:
        while time.perf_counter() < deadline:
            work(boxes[at])
            counts[at] += 1

    threads = [threading.Thread(target=drive, args=(at,)) for at in range(len(boxes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / LOAD_SECONDS


def list_family(pid: int) -> list[int]:
    """A process and all its descendants."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(one for child in children for one in list_family(int(child)))]


def read_memory_mib(pid: int) -> tuple[float, float]:
    """(its share of what it holds, what it holds alone)."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    kib = {name: int(rest.split()[0]) for name, rest in (line.split(":") for line in lines)}
    return kib["Pss"] / 1024, (kib["Private_Clean"] + kib["Private_Dirty"]) / 1024


def read_cpu_seconds(pid: int) -> float:
    """The CPU seconds of a process and of the children that it has reaped."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def list_processes(boxes: list[Slot]) -> list[int]:
    """The mothers that these slots share, the zygotes of each, and the waiting children."""
    mothers = {box.find_mother(flavour) for box in boxes for flavour in box.flavours}
    zygotes = {box.find_zygote(flavour) for box in boxes for flavour in box.flavours}
    return sorted({pid for head in mothers | zygotes for pid in list_family(head)})


def describe_waiting(count: int, profile: Profile) -> str:
    """What slots take to become ready, and while they wait. A shared page counts by share, so that shares add up."""
    started = time.perf_counter()
    boxes = open_boxes(count, tuple(Flavour), profile)
    ready_seconds = time.perf_counter() - started
    try:
        for box in boxes:  # a child is ready only a moment after it was requested
            for flavour in Flavour:
                run_cell(box, flavour, TRIVIAL)
        time.sleep(SETTLE_SECONDS)
        processes = list_processes(boxes)
        cpu_seconds = sum(read_cpu_seconds(pid) for pid in processes)
        total = sum(read_memory_mib(pid)[0] for pid in processes)
        families = [list_family(box.find_zygote(flavour)) for box in boxes for flavour in box.flavours]
        own = sum(read_memory_mib(pid)[1] for family in families for pid in family) / count
    finally:
        for box in boxes:
            box.close()
    return f"{count:5} {ready_seconds:12.2f} {cpu_seconds:10.2f} {total:14.1f} {own:18.1f}"


def main() -> None:
    wished = os.environ.get("UNWIND_PROFILE")
    profile = probe_profile(Profile(wished) if wished else None)
    cores = len(os.sched_getaffinity(0))
    print(f"profile {profile}, {cores} cores, load {os.getloadavg()[0]:.1f} before the start")
    cold_ms = time_cold("import torch; print(1)")
    print(f"a fresh process that imports torch: {cold_ms:.0f} ms (median of {COLD_RUNS})")
    print("what waits, in MiB: all of it, and what a slot's zygotes and their children share with nobody")
    print("slots   ready in s   CPU in s       all (PSS)   alone, per slot")
    for count in SLOT_COUNTS:
        print(describe_waiting(count, profile))
    boxes = open_boxes(cores, tuple(Flavour), profile)
    try:
        print("request to the learner's first line, in ms")
        print("zygote   median      p95      min    whole   of a fresh process")
        for flavour in Flavour:
            print(describe_first_lines(boxes[0], flavour, cold_ms))
        for name, flavour, source in (
            ("trivial, no torch", Flavour.PLAIN, TRIVIAL),
            ("trivial", Flavour.TORCH, TRIVIAL),
            ("small autograd", Flavour.TORCH, SMALL_AUTOGRAD),
            ("checkpoints", Flavour.TORCH, CHECKPOINTS),
        ):
            rate = count_runs_a_second(boxes, partial(run_cell, flavour=flavour, source=source))
            times = rate * cold_ms / 1000 / cores
            print(f"{name:18} {rate:6.1f} runs per second on {cores} slots, {times:.0f} times as many as fresh ones")
    finally:
        for box in boxes:
            box.close()


if __name__ == "__main__":
    main()
