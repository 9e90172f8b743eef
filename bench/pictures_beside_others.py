"""What a picture of a model adds to its forward pass: ours and torchviz's, torchview's and torchlens's.

Run: python bench/pictures_beside_others.py. The others are not dependencies: they are measured if they and Graphviz's
dot are installed, for instance by `pip install --no-deps --target FOLDER torchviz torchview torchlens graphviz
safetensors tqdm` and PYTHONPATH=FOLDER. All draw the same model to SVG.

Ours: `picture`, from a trace to SVG; `graph`, a traced forward pass, the JSON that a worker sends, and the picture;
`tape`, the same for a forward and a backward pass with every step and value, compared with both passes untraced.
"""

import shutil
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "graders" / "inside")]

from pictures import HEAD, MLP, RESNET, TRANSFORMER, take_time  # noqa: E402

from app.pictures import Graph, draw_graph, read_graph, tape_rows  # noqa: E402
from graders.contract.trace_check import read_trace  # noqa: E402

TINY = """
class Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(3))
    def forward(self, x):
        y = x * self.w
        return (y * x + y.exp()).sum()
model, x = Tiny(), torch.randn(3)
"""
PROGRAMS = {"tiny": TINY, "MLP": MLP, "ResNet-like": RESNET, "transformer": TRANSFORMER}

FORWARD = "y = model(x).sum()\n"
BOTH = FORWARD + "y.backward()\n"

Work = Callable[[], Any]


class Program:
    """A model and its input, and its passes as a worker runs them: untraced, or under the tracer."""

    def __init__(self, setup: str) -> None:
        self.namespace: dict[str, Any] = {"__name__": "__main__"}
        exec(compile(HEAD + setup, "setup.py", "exec"), self.namespace)

    def run_forward(self) -> None:
        exec(compile(FORWARD, "cell.py", "exec"), self.namespace)

    def run_both(self) -> None:
        exec(compile(BOTH, "cell.py", "exec"), self.namespace)

    def record_forward(self) -> Graph:
        return self._record(FORWARD)

    def draw(self) -> None:
        """The graph, with nothing but the forward pass recorded."""
        draw_graph(self._record(FORWARD), id_prefix="g")

    def draw_and_tell(self) -> None:
        graph = self._record(BOTH)
        draw_graph(graph, id_prefix="g", step=len(graph.trace.events.kind))
        tape_rows(graph)

    def _record(self, source: str) -> Graph:
        import json

        from tracer import Caps, record

        with record(
            source, "cell.py", self.namespace, Caps(max_document_bytes=2**26, max_packed_bytes=2**26)
        ) as tape:
            exec(compile(source, "cell.py", "exec"), self.namespace)
        return read_graph(read_trace(json.dumps(tape.document()), most_bytes=2**26), source)


def draw_with_torchviz(program: Program) -> Work:
    from torchviz import make_dot

    model, x = program.namespace["model"], program.namespace["x"]
    return lambda: make_dot(model(x).sum(), params=dict(model.named_parameters())).pipe(format="svg")


def draw_with_torchview(program: Program) -> Work:
    from torchview import draw_graph as draw

    model, x = program.namespace["model"], program.namespace["x"]

    def work() -> None:
        draw(model, input_data=x, mode="train", depth=20).visual_graph.pipe(format="svg")

    return work


def draw_with_torchlens(program: Program) -> Work:
    import torchlens

    model, x = program.namespace["model"], program.namespace["x"]
    folder = tempfile.mkdtemp()

    def work() -> None:
        trace = torchlens.trace(model, x)
        trace.draw(vis_outpath=f"{folder}/graph", vis_fileformat="svg", vis_save_only=True)

    return work


OTHERS = {"torchviz": draw_with_torchviz, "torchview": draw_with_torchview, "torchlens": draw_with_torchlens}


def measure_other(name: str, program: Program, plain: float, rounds: int) -> float | str:
    """Milliseconds added to a plain forward, or why there is no number."""
    try:
        work = OTHERS[name](program)
    except ImportError:
        return "skipped, not installed"
    try:
        return take_time(work, rounds) - plain
    except Exception as problem:  # noqa: BLE001 - another project's failure is a result here
        return f"failed: {type(problem).__name__}"


def report(name: str, setup: str) -> None:
    program = Program(setup)
    plain = take_time(program.run_forward, 7)
    both = take_time(program.run_both, 7)
    graph = program.record_forward()
    ours = {
        "picture": take_time(lambda: draw_graph(graph, id_prefix="g"), 7),
        "graph": take_time(program.draw, 7) - plain,
        "tape": take_time(program.draw_and_tell, 5) - both,
    }
    told = ", ".join(f"{part} + {added:.1f} ms" for part, added in ours.items())
    print(f"{name}: {len(graph.trace.nodes.name)} nodes, forward {plain:.2f} ms; ours: {told}")
    for other in OTHERS:
        found = measure_other(other, program, plain, 3)
        if isinstance(found, str):
            print(f"  {other:10} {found}")
        else:
            times = ", ".join(f"{found / added:.1f} times our {part}" for part, added in ours.items())
            print(f"  {other:10} + {found:,.0f} ms: {times}")


def main() -> None:
    import torch

    torch.set_num_threads(1)  # as in the box
    warnings.simplefilter("ignore")
    if shutil.which("dot") is None:
        print("Graphviz's dot is not installed: the others are skipped")
        OTHERS.clear()
    for name, setup in PROGRAMS.items():
        report(name, setup)


if __name__ == "__main__":
    threading.stack_size(512 * 1024 * 1024)
    runner = threading.Thread(target=main)
    runner.start()
    runner.join()
