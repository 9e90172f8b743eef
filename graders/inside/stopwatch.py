"""Inside the box: times a learner's function. Its process is the learner's: figures are shown, never credited."""

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

# Larger than the caches of any processor or card that a run meets, so that each run finds its inputs in memory.
FLUSHED_BYTES = 256 << 20


def measure(work: Callable[[], object], device: str, runs: int, warm_up: int) -> str:
    """JSON {device, runs, median_ms, lowest_ms, highest_ms} of `runs` timed calls of `work`, after `warm_up` others.

    `device` is "cuda" or "cpu". Before each timed call the caches are overwritten, outside the measured time. On a
    card the time is between two events of its stream, so that it counts the card's work and not the queueing.
    """
    torch: Any = sys.modules["torch"]
    on_card = device == "cuda"
    scratch = torch.empty(FLUSHED_BYTES if on_card else FLUSHED_BYTES // 8, dtype=torch.uint8, device=device)
    for _ in range(warm_up):
        work()
    timed = time_on_card if on_card else time_on_processor
    milliseconds = []
    for _ in range(runs):
        scratch.zero_()
        milliseconds.append(timed(work, torch))
    name = torch.cuda.get_device_name() if on_card else "processor"
    return json.dumps(
        {
            "device": name,
            "runs": runs,
            "median_ms": statistics.median(milliseconds),
            "lowest_ms": min(milliseconds),
            "highest_ms": max(milliseconds),
        }
    )


def time_on_card(work: Callable[[], object], torch: Any) -> float:
    """Milliseconds between two events of the current stream."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    begin.record()
    work()
    end.record()
    torch.cuda.synchronize()
    return float(begin.elapsed_time(end))


def time_on_processor(work: Callable[[], object], torch: Any) -> float:
    """Milliseconds by the clock."""
    begin = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - begin)
