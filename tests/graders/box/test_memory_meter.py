"""Peak memory as the kernel counts it: the same program reads the same, and checkpointing draws its curve."""

import statistics
from typing import Any

import pytest

from graders.box.slot import Slot
from graders.contract.jobs import Flavour
from graders.contract.limits import Limits

pytestmark = [pytest.mark.box, pytest.mark.slow]

LIMITS = Limits(cpu_seconds=20, wall_seconds=40, memory_mib=1024)
MAX_SPREAD = 0.01
# The kernel charges a group 256 KiB at a time on every core: below 100 MiB that alone is more than a hundredth.
# Each block saves one and a half times what it hands on, so that segments of 4 of the 16 are the cheapest.
BLOCKS = """
import torch
from torch.utils.checkpoint import checkpoint
width, rows, size = 64, {rows}, {size}
def make_block():
    narrow = width // 2
    return torch.nn.Sequential(torch.nn.Linear(width, narrow), torch.nn.Tanh(), torch.nn.Linear(narrow, width))
blocks = [make_block() for _ in range(16)]
def run_segment(start, x):
    for block in blocks[start:start + size]:
        x = block(x) + x
    return x
x = torch.randn(rows, width, requires_grad=True)
for start in range(0, 16, size):
    x = checkpoint(run_segment, start, x, use_reentrant=False) if {checkpointed} else run_segment(start, x)
x.square().mean().backward()
"""


@pytest.fixture
def peak_bytes(box: Slot, run_cell: Any) -> Any:
    if not box.memory_cgroup:
        pytest.skip("this machine gives us no memory cgroup: nobody measures peak memory here")

    def measure(size: int, rows: int = 8192, *, checkpointed: bool = True) -> int:
        ending = run_cell(BLOCKS.format(size=size, rows=rows, checkpointed=checkpointed), Flavour.TORCH, LIMITS)
        assert ending.outcome == "ok", ending
        assert ending.exit.peak_memory_bytes is not None
        return int(ending.exit.peak_memory_bytes)

    # The very first run may be charged for pages of torch's files that were not read before.
    measure(4)
    return measure


@pytest.mark.nightly  # tests/graders/exercises/test_peak_budgets.py asks the same of a judged program each time
def test_ten_runs_of_one_program_agree_within_a_hundredth(peak_bytes: Any) -> None:
    peaks = [peak_bytes(4, rows=32768) for _ in range(10)]
    assert max(peaks) - min(peaks) <= MAX_SPREAD * statistics.median(peaks), peaks


def test_checkpointing_draws_its_curve(peak_bytes: Any) -> None:
    none = peak_bytes(16, checkpointed=False)
    one, two, four, eight, sixteen = (peak_bytes(size) for size in (1, 2, 4, 8, 16))
    assert none > one > two > four < eight < sixteen


def test_what_the_learners_process_says_of_its_memory_changes_nothing(box: Slot, run_cell: Any) -> None:
    if not box.memory_cgroup:
        pytest.skip("this machine gives us no memory cgroup: nobody measures peak memory here")
    lying = "import resource\nresource.getrusage = lambda who: 0\nheld = bytearray(b'1') * (200 << 20)\n"
    peak = run_cell(lying, Flavour.PLAIN).exit.peak_memory_bytes
    assert 200 << 20 <= peak <= 210 << 20
