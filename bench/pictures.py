"""How long a picture takes, from the trace to SVG, and which part of it the check and the folding take.

Run: python bench/pictures.py [--quick]. The programs run under the tracer in a thread with a big stack, as the
worker runs them; the two long chains are written by hand, because their pictures, not their tapes, are measured.
"""

import argparse
import json
import linecache
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "graders" / "inside")]

from app.pictures import draw_graph, read_graph  # noqa: E402
from app.pictures.graph.fold import fold_graph  # noqa: E402
from app.pictures.layout.attach import set_scene  # noqa: E402
from app.pictures.layout.layered import Block, Link, place_blocks  # noqa: E402
from app.pictures.layout.view import choose_view  # noqa: E402
from graders.contract.trace import Edges, Nodes, Trace  # noqa: E402
from graders.contract.trace_check import check_trace  # noqa: E402

HEAD = "import torch\nfrom torch import nn\ntorch.manual_seed(0)\n"
MLP = """
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
x = torch.randn(16, 32)
"""
RESNET = """
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, padding=1), nn.BatchNorm2d(width)
    def forward(self, x):
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(x + self.bn2(self.conv2(y)))
model = nn.Sequential(nn.Conv2d(3, 8, 3), *[Block(8) for _ in range(44)], nn.Flatten(), nn.Linear(288, 10))
x = torch.randn(2, 3, 8, 8)
"""
TRANSFORMER = """
class Block(nn.Module):
    def __init__(self, width, heads=4):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
    def split(self, x):
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)
    def forward(self, x):
        h = self.ln1(x)
        q, k, v = self.split(self.q(h)), self.split(self.k(h)), self.split(self.v(h))
        a = torch.softmax(q @ k.transpose(-1, -2) / 2, dim=-1) @ v
        x = x + self.out(a.transpose(1, 2).reshape(x.shape))
        return x + self.mlp(self.ln2(x))
model = nn.Sequential(*[Block(32) for _ in range(12)], nn.Linear(32, 50))
x = torch.randn(2, 8, 32)
"""
FORWARD = "loss = model(x).logsumexp(-1).mean()\n"
RNN = """
W = torch.randn(4, 4, requires_grad=True)
U = torch.randn(4, 4, requires_grad=True)
h = torch.zeros(4)
for step in range(2500):
    h = torch.tanh(W @ h + U @ torch.ones(4))
"""


def record_trace(source: str) -> Trace:
    from tracer import Caps, record

    linecache.cache["cell.py"] = (len(source), None, source.splitlines(True), "cell.py")
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with record(source, filename="cell.py", namespace=namespace, caps=Caps(max_nodes=200_000)) as tape:
        exec(compile(source, "cell.py", "exec"), namespace)
    return Trace.model_validate_json(json.dumps(tape.document()))


def write_chain(length: int) -> Trace:
    """A chain of one operation, of the given length."""
    empty = {name: ("",) * length for name in ("dtype", "variable", "values", "saved", "module")}
    zeros = {name: (0,) * length for name in ("saved_bytes", "leaf_bytes", "backward")}
    nodes = Nodes(
        name=("MulBackward0",) * length,
        forward=("mul",) * length,
        kind=("op",) * length,
        span=((5, 4, 5, 15),) * length,
        shape=((),) * length,
        sequence=tuple(range(length)),
        made_by=(None,) * length,
        **empty,
        **zeros,
    )
    count = length - 1
    edges = Edges(source=tuple(range(1, length)), target=tuple(range(count)), slot=(0,) * count, output=(0,) * count)
    return Trace(nodes=nodes, edges=edges, roots=(length - 1,))


def take_time(work: Callable[[], Any], rounds: int) -> float:
    """The minimum of several times, in milliseconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1000)
    return min(times)


def report(name: str, trace: Trace, rounds: int) -> None:
    checked = check_trace(trace)
    picture = draw_graph(read_graph(checked), id_prefix="g")
    whole = take_time(lambda: draw_graph(read_graph(check_trace(trace)), id_prefix="g"), rounds)
    check = take_time(lambda: check_trace(trace), rounds)
    graph = read_graph(checked)
    fold = take_time(lambda: set_scene(graph, choose_view(graph, fold_graph(graph))), rounds)
    print(
        f"{name:12} {len(trace.nodes.name):7,} nodes -> {len(picture.nodes):3} boxes: {whole:8.1f} ms in all "
        f"(check {check:.1f}, fold {fold:.1f}), svg {len(picture.svg) / 1000:.0f} kB"
    )


def report_layout(length: int) -> None:
    """Times only the layout, with nothing folded."""
    blocks = [Block(180.0, 70.0)] * length
    links = [Link(at, at + 1, 90.0, 90.0) for at in range(length - 1)]
    links += [Link(at, at + 3, 90.0, 90.0) for at in range(0, length - 3, 5)]
    print(f"layout alone, {length:,} boxes unfolded: {take_time(lambda: place_blocks(blocks, links), 1):,.0f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave out the 100,000-node chain")
    quick = parser.parse_args().quick
    models = (("MLP", MLP + FORWARD), ("ResNet-like", RESNET + FORWARD), ("transformer", TRANSFORMER + FORWARD))
    for name, source in (*models, ("RNN", RNN)):
        report(name, record_trace(HEAD + source), 3)
    report_layout(10_000)
    if not quick:
        report("100k chain", write_chain(100_000), 1)
        report_layout(100_000)


if __name__ == "__main__":
    threading.stack_size(512 * 1024 * 1024)
    sys.setrecursionlimit(100_000)
    runner = threading.Thread(target=main)
    runner.start()
    runner.join()
