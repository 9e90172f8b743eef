"""Peak memory as the kernel counts it: how well ten runs agree, and the curve that checkpointing draws.

Sixteen blocks, without checkpoints and with segments of 1 to 16 blocks, each a program in the real box. What the
box costs by itself (a program that only imports torch) is shown separately. Needs a memory cgroup.
"""

import json
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from graders.box.interface import BoxRequest, Driver  # noqa: E402
from graders.box.slot import Slot, open_box  # noqa: E402
from graders.contract.jobs import Flavour  # noqa: E402
from graders.contract.limits import Limits  # noqa: E402

LIMITS = Limits(cpu_seconds=20, wall_seconds=40, memory_mib=1024)
SEGMENTS = (1, 2, 4, 8, 16)
REPEATS = 10
CELL_CAPS = {"document_bytes": 65536}
EMPTY = "import torch"
BLOCKS = """
import torch
from torch.utils.checkpoint import checkpoint
torch.manual_seed(0)
width, rows, size = 64, 24576, {size}
def make_block():
    narrow = width // 2
    return torch.nn.Sequential(torch.nn.Linear(width, narrow), torch.nn.Tanh(), torch.nn.Linear(narrow, width))
blocks = [make_block() for _ in range(16)]
def run_segment(start, x):
    for block in blocks[start:start + size]:
        x = block(x) + x
    return x
x = torch.randn(rows, width, requires_grad=True)
for start in range(0, 16, size or 16):
    if size:
        x = checkpoint(run_segment, start, x, use_reentrant=False)
    else:
        size = 16
        x = run_segment(0, x)
x.square().mean().backward()
"""


def measure_peak_mib(box: Slot, source: str) -> float:
    payload = json.dumps({"source": source, "setup": "", "want_trace": False, "caps": CELL_CAPS}).encode()
    run = box.start(BoxRequest(Flavour.TORCH, Driver.CELL, payload, LIMITS))
    document = json.loads(run.receive_at_most(CELL_CAPS["document_bytes"]))
    exit_ = run.wait()
    if not document["ok"]:
        raise SystemExit(document["mistake"]["traceback"])
    if exit_.peak_memory_bytes is None:
        raise SystemExit("this machine has no memory cgroup: nothing to measure")
    return exit_.peak_memory_bytes / 2**20


def main() -> None:
    box = open_box((Flavour.TORCH,))
    try:
        own = statistics.median(measure_peak_mib(box, EMPTY) for _ in range(3))
        print(f"profile {box.profile}; a program that does nothing: {own:.1f} MiB")
        # The very first run may be charged for pages of torch's files that were not read before.
        first = measure_peak_mib(box, BLOCKS.format(size=4))
        peaks = [measure_peak_mib(box, BLOCKS.format(size=4)) for _ in range(REPEATS)]
        print(f"the first run: {first:.2f} MiB")
        spread = (max(peaks) - min(peaks)) / statistics.median(peaks)
        print(f"{REPEATS} runs of one program: {min(peaks):.2f} to {max(peaks):.2f} MiB, a spread of {spread:.2%}")
        print("blocks a segment   peak, MiB")
        for size in (0, *SEGMENTS):
            peak = statistics.median(measure_peak_mib(box, BLOCKS.format(size=size)) for _ in range(3))
            print(f"{size or 'no checkpoints':>16} {peak:11.1f}")
    finally:
        box.close()


if __name__ == "__main__":
    main()
