"""How much the tracer costs: one step of forward and backward, plain, with the graph traced, with the full tape.

Run `python bench/tracing.py [rounds]`. Each round measures them in turn, so compare the ratios: `lines` is
source positions and module paths; `graph` adds a walk with names and saved bytes; `tape` adds every event with its
values. Goals on models of 600+ nodes: lines <= 1.3, and tape <= 2.5, or 3 for the RNN, whose nodes compute least.
"""

import gc
import gzip
import json
import statistics
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from graders.inside.tracer import Caps, record  # noqa: E402

FILENAME = "cell.py"
STACK_BYTES = 512 * 2**20
LINES_ALONE = Caps(max_nodes=0, max_events=0, valued_steps=0)
GRAPH_ALONE = Caps(max_events=0, valued_steps=0)
TAPE = Caps()
WHOLE = Caps(max_document_bytes=2**26, max_packed_bytes=2**26)

HEAD = """\
import torch
import torch.nn.functional as F
from torch import nn
torch.manual_seed(0)
"""

TINY = """\
x = torch.tensor([1.0, 2.0], requires_grad=True)
def step():
    y = x * 2 + 1
    z = (y * x + x.exp()).sum()
    z.backward()
"""

MLP = """\
model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
inputs, labels = torch.randn(64, 256), torch.randint(0, 10, (64,))
def step():
    loss = F.cross_entropy(model(inputs), labels)
    loss.backward()
"""

RESNET_LIKE = """\
class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.norm2 = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
    def forward(self, x):
        h = F.relu(self.norm1(self.conv1(x)))
        return F.relu(self.norm2(self.conv2(h)) + x)
model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), *[Block(16) for _ in range(51)])
head = nn.Linear(16, 10)
images, labels = torch.randn(4, 3, 16, 16), torch.randint(0, 10, (4,))
def step():
    loss = F.cross_entropy(head(model(images).mean((2, 3))), labels)
    loss.backward()
"""

TRANSFORMER = """\
class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2, self.heads = nn.LayerNorm(width), nn.LayerNorm(width), heads
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.drop = nn.Dropout(0.1)
    def attend(self, x):
        batch, length, width = x.shape
        q, k, v = (part(x).view(batch, length, self.heads, -1).transpose(1, 2) for part in (self.q, self.k, self.v))
        scores = (q @ k.transpose(-2, -1)) / (width / self.heads) ** 0.5
        mixed = self.drop(scores.softmax(-1)) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))
    def forward(self, x):
        x = x + self.drop(self.attend(self.norm1(x)))
        return x + self.drop(self.down(F.gelu(self.up(self.norm2(x)))))
class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Embedding(1000, 128), nn.Embedding(64, 128)
        self.layers = nn.ModuleList([Layer(128, 4) for _ in range(12)])
        self.norm, self.head = nn.LayerNorm(128), nn.Linear(128, 1000, bias=False)
    def forward(self, tokens):
        x = self.embed(tokens) + self.place(torch.arange(tokens.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))
model = Transformer()
tokens = torch.randint(0, 1000, (4, 64))
def step():
    loss = F.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    loss.backward()
"""

RNN = """\
cell = nn.RNNCell(32, 64)
inputs = torch.randn(1250, 8, 32)
def step():
    state = torch.zeros(8, 64)
    for x in inputs:
        state = cell(x, state)
    state.pow(2).mean().backward()
"""

MODELS = {
    "tiny": (TINY, 200),
    "MLP": (MLP, 20),
    "ResNet-like": (RESNET_LIKE, 1),
    "transformer": (TRANSFORMER, 1),
    "10k-node RNN": (RNN, 1),
}


def build(source: str) -> dict[str, Any]:
    """The program's names, with its `step` compiled under the name that the tracer looks for."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(HEAD + source, FILENAME, "exec"), namespace)
    return namespace


def time_step(namespace: dict[str, Any], source: str, caps: Caps | None) -> float:
    """Processor seconds of one step, unaffected by a busy machine; the document is written afterwards."""
    started = time.thread_time()
    if caps is None:
        namespace["step"]()
    else:
        with record(HEAD + source, FILENAME, namespace, caps):
            namespace["step"]()
    return time.thread_time() - started


def divide(times: list[float], plain: list[float]) -> float:
    return statistics.median(one / other for one, other in zip(times, plain, strict=True))


def measure(source: str, rounds: int, repeats: int) -> dict[str, Any]:
    namespace = build(source)
    kinds: dict[str, Caps | None] = {"plain": None, "lines": LINES_ALONE, "graph": GRAPH_ALONE, "tape": TAPE}
    times: dict[str, list[float]] = {kind: [] for kind in kinds}
    for round_number in range(rounds + 1):
        for kind, caps in kinds.items():
            gc.collect()
            seconds = min(time_step(namespace, source, caps) for _ in range(repeats))
            if round_number > 0:
                times[kind].append(seconds)
    plain = times["plain"]
    tape = record(HEAD + source, FILENAME, namespace, WHOLE)
    with tape:
        namespace["step"]()
    started = time.thread_time()
    document = tape.document()
    written = time.thread_time() - started
    text = json.dumps(document, separators=(",", ":")).encode()
    return {
        "nodes": len(document["nodes"]["name"]),
        "plain_ms": statistics.median(plain) * 1000,
        **{kind: divide(times[kind], plain) for kind in ("lines", "graph", "tape")},
        "document_ms": written * 1000,
        "kilobytes": len(text) / 1000,
        "gzipped": len(gzip.compress(text)) / 1000,
    }


def run_on_big_stack(work: Callable[[], None]) -> None:
    threading.stack_size(STACK_BYTES)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def main(rounds: int) -> None:
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, {rounds} rounds; ratios to the plain step, median of rounds")
    columns = ("nodes", "plain ms", "lines", "graph", "tape", "document ms", "kB", "gzip kB")
    print(f"{'model':<14}" + "".join(f"{column:>12}" for column in columns))
    for name, (source, repeats) in MODELS.items():
        row = measure(source, rounds, repeats)
        cells = (
            f"{row['nodes']:,}",
            f"{row['plain_ms']:.2f}",
            *(f"{row[kind]:.2f}" for kind in ("lines", "graph", "tape")),
            f"{row['document_ms']:.1f}",
            f"{row['kilobytes']:.0f}",
            f"{row['gzipped']:.0f}",
        )
        print(f"{name:<14}" + "".join(f"{cell:>12}" for cell in cells), flush=True)


if __name__ == "__main__":
    run_on_big_stack(lambda: main(int(sys.argv[1]) if len(sys.argv) > 1 else 7))
