"""What the tape says of one backward pass after another: values, sums, frees, errors, regions."""

import pytest

torch = pytest.importorskip("torch")

from tracer_parts import read_program, run, trace  # noqa: E402

from graders.contract.trace import Trace  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


def list_events(found: Trace, *kinds: str) -> list[tuple[str, str]]:
    """(kind, forward name or variable) of the events of these kinds."""
    events, nodes = found.events, found.nodes
    return [
        (kind, "" if node is None else nodes.variable[node] or nodes.forward[node])
        for kind, node in zip(events.kind, events.node, strict=True)
        if kind in kinds
    ]


def test_a_diamond_sums_where_its_edges_meet() -> None:
    source = """\
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
a = x * 3
y = (a + a.exp() * 0).sum()
y.backward()
"""
    found = trace(source)
    events = found.events
    ran = {
        found.nodes.variable[n]: at for at, n in enumerate(events.node) if events.kind[at] == "vjp" and n is not None
    }
    assert events.incoming[ran["a"]] == "(2,) [1.0, 1.0]"
    assert events.outgoing[ran["a"]] == "(2,) [3.0, 3.0]; ·"
    last = events.kind.index("accumulate")
    assert (events.before[last], events.incoming[last], events.outgoing[last]) == (
        "None",
        "(2,) [3.0, 3.0]",
        "(2,) [3.0, 3.0]",
    )
    assert events.norm[last] == pytest.approx(18**0.5)


def test_a_second_backward_adds_to_grad() -> None:
    found = trace("import torch\nx = torch.tensor(2.0, requires_grad=True)\n(x * x).backward()\n(x * 5).backward()\n")
    steps = [at for at, kind in enumerate(found.events.kind) if kind == "accumulate"]
    assert [(found.events.before[at], found.events.incoming[at], found.events.outgoing[at]) for at in steps] == [
        ("None", "() 4.0", "() 4.0"),
        ("() 4.0", "() 5.0", "() 9.0"),
    ]
    assert [found.events.call[at] for at in steps] == [0, 1]


def test_nodes_are_recorded_forward_and_unwound_backward() -> None:
    source = "import torch\nx = torch.ones(3, requires_grad=True)\ny = x.exp().sin().sum()\ny.backward()\n"
    assert list_events(trace(source), "record", "backward", "vjp", "accumulate", "end") == [
        ("record", "exp"),
        ("record", "sin"),
        ("record", "y"),
        ("backward", "y"),
        ("vjp", "y"),
        ("vjp", "sin"),
        ("vjp", "exp"),
        ("accumulate", "x"),
        ("end", ""),
    ]


def test_saved_bytes_rise_with_each_storage_and_fall_after_the_node_that_held_it_ran() -> None:
    source = "import torch\nx = torch.ones(100, requires_grad=True)\ny = x.exp().sin().sum()\ny.backward()\n"
    found = trace(source)
    steps = list(zip(found.events.kind, found.events.bytes, strict=True))
    assert steps == [
        ("record", 400),
        ("record", 400),  # sin saves what exp saved: one storage
        ("record", 400),
        ("backward", 400),
        ("vjp", 400),
        ("vjp", 400),
        ("free", 400),
        ("vjp", 400),
        ("free", 0),
        ("accumulate", 0),
        ("end", 0),
    ]
    assert found.nodes.saved_bytes == (0, 400, 0, 0)


def test_a_kept_graph_frees_nothing_until_it_is_let_go() -> None:
    source = """\
import torch
x = torch.ones(4, requires_grad=True)
y = x.exp().sum()
y.backward(retain_graph=True)
del y
z = x.sin().sum()
"""
    found = trace(source)
    at = found.events.kind.index("free")
    assert at > found.events.kind.index("end")
    assert found.events.text[at] == "the graph was let go"
    assert found.events.bytes[at] == 0


def test_a_parameters_own_memory_is_told_apart_from_what_only_the_graph_holds() -> None:
    source = """\
import torch
from torch import nn
model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
model(torch.ones(3, 4)).sum().backward()
"""
    nodes = trace(source).nodes
    last = max(at for at, name in enumerate(nodes.forward) if name == "linear")
    assert nodes.saved_bytes[last] == 3 * 8 * 4 + 8 * 2 * 4
    assert nodes.leaf_bytes[last] == 8 * 2 * 4
    assert "model.1.weight" in nodes.saved[last]


def test_grad_hands_out_gradients_and_touches_no_leaf() -> None:
    source = """\
import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x ** 2
(dy, dx) = torch.autograd.grad(y.sum(), (y, x))
"""
    found = trace(source)
    assert list_events(found, "capture", "accumulate") == [("capture", "y"), ("capture", "x")]
    steps = [at for at, kind in enumerate(found.events.kind) if kind == "capture"]
    assert [found.events.incoming[at] for at in steps] == ["(2,) [1.0, 1.0]", "(2,) [2.0, 4.0]"]
    assert found.events.text[found.events.kind.index("backward")] == "grad"


def test_a_changed_saved_tensor_is_an_error_at_the_node_that_needed_it() -> None:
    source = """\
import torch
x = torch.ones(2, requires_grad=True)
y = x.exp()
y.add_(1)
z = y.sum()
z.backward()
"""
    ran = run(source, traced=True)
    assert isinstance(ran.error, RuntimeError)
    found = ran.trace
    at = found.events.kind.index("error")
    node = found.events.node[at]
    assert node is not None
    assert found.nodes.forward[node] == "exp"
    assert "modified by an inplace operation" in found.events.text[at]
    assert list_events(found, "vjp") == [("vjp", "z"), ("vjp", "y")]


def test_a_second_unwinding_of_a_freed_graph_is_an_error_at_the_node_that_let_go() -> None:
    found = trace(
        "import torch\nx = torch.ones(2, requires_grad=True)\ny = (x * x).sum()\ny.backward()\ny.backward()\n"
    )
    at = found.events.kind.index("error")
    node = found.events.node[at]
    assert node is not None
    assert found.nodes.forward[node] == "mul"
    assert found.events.call[at] == 1


def test_errors_reach_the_program_unchanged_and_without_the_tracers_frames() -> None:
    source = "import torch\nx = torch.ones(2, requires_grad=True)\ny = (x * x).sum()\ny.backward()\ny.backward()\n"
    plain, traced = run(source, traced=False).error, run(source, traced=True).error
    assert (type(plain), str(plain)) == (type(traced), str(traced))
    assert traced is not None
    assert plain is not None
    assert list_frames(traced) == list_frames(plain)


def list_frames(error: BaseException) -> list[tuple[str, int]]:
    frames, entry = [], error.__traceback__
    while entry is not None:
        frames.append((entry.tb_frame.f_code.co_filename, entry.tb_lineno))
        entry = entry.tb_next
    return frames[1:]  # the first is the test's own


def test_slots_of_a_checkpointed_region_are_empty_until_backward_fills_them() -> None:
    source = """\
import torch
from torch.utils.checkpoint import checkpoint
x = torch.ones(100, requires_grad=True)
y = checkpoint(lambda v: v.exp().sin(), x, use_reentrant=False).sum()
y.backward()
"""
    found = trace(source)
    assert found.regions.kind == ("checkpoint",)
    assert [found.nodes.forward[node] for node in found.regions.nodes[0]] == ["exp", "sin"]
    assert found.regions.span[0] is not None
    assert found.regions.span[0][0] == 4
    steps = [(kind, held) for kind, held in zip(found.events.kind, found.events.bytes, strict=True)]
    assert steps == [
        *[("record", 0)] * 3,
        ("backward", 0),
        ("vjp", 0),
        ("recompute", 0),
        ("save", 400),
        ("save", 400),
        ("vjp", 400),
        ("free", 400),
        ("vjp", 400),
        ("free", 0),
        ("accumulate", 0),
        ("end", 0),
    ]


def test_a_reentrant_checkpoint_unwinds_a_tape_within_the_tape() -> None:
    found = trace(read_program("checkpoint_reentrant"))
    kinds = [kind for kind in found.events.kind if kind in ("recompute", "backward", "end")]
    assert kinds == ["backward", *["recompute", "backward", "end"] * 3, "end"]
    assert len(found.regions.kind) == 3
    assert found.nodes.kind.count("checkpoint") == 3


def test_nodes_of_a_second_derivative_name_the_node_whose_gradient_made_them() -> None:
    source = """\
import torch
x = torch.tensor(2.0, requires_grad=True)
y = x.sin()
(slope,) = torch.autograd.grad(y, x, create_graph=True)
slope.backward()
"""
    found = trace(source)
    made = {found.nodes.forward[at]: by for at, by in enumerate(found.nodes.made_by) if by is not None}
    assert {name: found.nodes.forward[by] for name, by in made.items()} == {"mul": "sin", "cos": "sin"}


def test_a_custom_function_and_an_in_place_write_are_told_apart_from_operations() -> None:
    nodes = trace(read_program("custom_function")).nodes
    assert {name for name, kind in zip(nodes.forward, nodes.kind, strict=True) if kind == "custom"} == {
        "Swish",
        "Split",
    }
    nodes = trace(read_program("in_place")).nodes
    assert {"in-place write", "add_"} <= {
        name for name, kind in zip(nodes.forward, nodes.kind, strict=True) if kind == "inplace"
    }


def test_transforms_are_left_out_with_a_word() -> None:
    found = trace(read_program("transforms"))
    assert any("torch.func" in note for note in found.notes)
    assert "mul" in found.nodes.forward


ON_A_DEVICE = """\
import torch
x = torch.tensor([1.0, 2.0], device="{device}", requires_grad=True)
a = x * 3
y = (a + a.exp() * 0).sum()
y.backward()
"""


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU: a tape of CUDA tensors has not been tried")
def test_a_tape_of_cuda_tensors_reads_as_one_of_the_cpu() -> None:
    """The engine runs the hooks of CUDA's nodes in a thread of its own."""
    there, here = (trace(ON_A_DEVICE.format(device=device)) for device in ("cuda", "cpu"))
    kinds = ("vjp", "accumulate", "free", "end")
    assert list_events(there, *kinds) == list_events(here, *kinds)
    assert there.events.incoming == here.events.incoming
    assert there.events.outgoing == here.events.outgoing
