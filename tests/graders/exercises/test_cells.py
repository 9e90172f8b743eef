"""Free cells in the real box: text as it comes, errors on the line, limits, and a graph where one was asked for."""

import threading
import time

import pytest

from graders.contract.events import EventKind
from graders.contract.jobs import Flavour, RunJob
from graders.contract.limits import Limits
from graders.contract.results import Outcome, RunEnd
from graders.judging.run_job import run_job
from graders.trusted.reference import ReferenceServer

pytestmark = [pytest.mark.box]
SHORT = Limits(cpu_seconds=1.0, wall_seconds=1.5, memory_mib=1024, output_kib=8)


def run(slot, source, on_event=lambda kind, body: None, cancelled=None, **asked) -> RunEnd:
    job = RunJob(source=source, **{"limits": SHORT, "want_trace": False, **asked})
    end = run_job(job, slot, None, ReferenceServer(), on_event, cancelled or threading.Event())
    assert isinstance(end, RunEnd)
    return end


@pytest.mark.parametrize("flavour", Flavour)
def test_a_cell_prints_and_ends(slot, flavour):
    end = run(slot, "import sys\nprint('out')\nprint('err', file=sys.stderr)", flavour=flavour)
    assert (end.outcome, end.stdout, end.stderr, end.mistake) == (Outcome.OK, "out\n", "err\n", None)


def test_text_comes_while_the_cell_still_runs(slot):
    heard = []
    source = "import time\nprint('first')\ntime.sleep(0.4)\nprint('second')"
    run(slot, source, lambda kind, body: heard.append((kind, body.text, time.monotonic())), flavour=Flavour.PLAIN)
    assert [(kind, text) for kind, text, _ in heard] == [
        (EventKind.OUTPUT, "first\n"),
        (EventKind.OUTPUT, "second\n"),
    ]
    assert heard[1][2] - heard[0][2] > 0.3


def test_an_error_is_told_on_its_line(slot):
    end = run(slot, "x = 1\nx.nope\n", flavour=Flavour.PLAIN)
    assert (end.outcome, end.mistake and end.mistake.line) == (Outcome.RUNTIME_ERROR, 2)
    assert end.mistake is not None
    assert "x.nope" in end.mistake.traceback


def test_a_cell_that_cannot_be_read_is_a_syntax_error(slot):
    end = run(slot, "x = (\n", flavour=Flavour.PLAIN)
    assert (end.outcome, end.mistake and end.mistake.line) == (Outcome.SYNTAX_ERROR, 1)


@pytest.mark.parametrize(
    ("source", "outcomes"),
    [
        ("while True: pass", {Outcome.TIME_LIMIT}),
        ("import time\ntime.sleep(60)", {Outcome.TIME_LIMIT}),
        ("while True: print('x' * 1000)", {Outcome.OUTPUT_LIMIT}),
        ("x = bytearray(2 << 30)", {Outcome.MEMORY_LIMIT}),
        ("import ctypes\nctypes.string_at(0)", {Outcome.CRASHED}),
        ("import os\nos._exit(3)", {Outcome.NO_RESULT}),
        ("import os\nos._exit(0)", {Outcome.OK}),
        ("import os\nos.write(3, b'x' * 4_000_000)", {Outcome.PROTOCOL_ERROR}),
        ("import os\nos.write(3, b'{\"ok\": NaN}')\nos._exit(0)", {Outcome.PROTOCOL_ERROR}),
    ],
)
def test_what_goes_wrong_has_a_name(slot, source, outcomes):
    assert run(slot, source, flavour=Flavour.PLAIN).outcome in outcomes
    assert run(slot, "print(1)", flavour=Flavour.PLAIN).stdout == "1\n"


def test_a_cell_can_be_stopped(slot):
    cancelled = threading.Event()
    threading.Timer(0.3, cancelled.set).start()
    began = time.monotonic()
    limits = Limits(cpu_seconds=10.0, wall_seconds=10.0)
    end = run(slot, "import time\ntime.sleep(60)", flavour=Flavour.PLAIN, cancelled=cancelled, limits=limits)
    assert end.outcome is Outcome.CANCELLED
    assert time.monotonic() - began < 3


def test_a_traced_cell_brings_its_graph(slot):
    source = "import torch\nx = torch.ones(3, requires_grad=True)\n(x * 2).sum().backward()\nprint(x.grad)\n"
    limits = Limits(cpu_seconds=10.0, wall_seconds=15.0, memory_mib=1024)
    end = run(slot, source, want_trace=True, limits=limits)
    assert (end.outcome, end.trace_refused) == (Outcome.OK, "")
    assert end.trace is not None
    assert {"MulBackward0", "SumBackward0"} <= set(end.trace.nodes.name)
    assert end.stdout == "tensor([2., 2., 2.])\n"


def test_an_engine_of_the_learners_own_brings_its_graph_where_there_is_no_torch(slot):
    source = """\
class Value:
    def __init__(self, data, _prev=(), _op=""):
        self.data, self.grad, self._prev, self._op = data, 0.0, _prev, _op
    def __mul__(self, other):
        return Value(self.data * other.data, (self, other), "*")
    def backward(self):
        self.grad = 1.0
        one, other = self._prev
        one.grad += other.data * self.grad
        other.grad += one.data * self.grad
x, w = Value(2.0), Value(3.0)
(x * w).backward()
print(x.grad)
"""
    end = run(slot, source, want_trace=True, flavour=Flavour.PLAIN)
    assert (end.outcome, end.stdout, end.trace_refused) == (Outcome.OK, "3.0\n", "")
    assert end.trace is not None
    assert (end.trace.engine, end.trace.nodes.variable) == ("learner", ("x", "w", ""))
    assert end.trace.events.kind == ("record", "backward", "vjp", "accumulate", "accumulate", "end")


def test_an_error_in_a_traced_cell_keeps_what_was_recorded(slot):
    source = "import torch\nx = torch.ones(3, requires_grad=True)\ny = (x * 2).sum()\ny.nope\n"
    end = run(slot, source, want_trace=True, limits=Limits(cpu_seconds=10.0, wall_seconds=15.0, memory_mib=1024))
    assert (end.outcome, end.mistake and end.mistake.line) == (Outcome.RUNTIME_ERROR, 4)
    assert end.trace is not None
    assert "MulBackward0" in end.trace.nodes.name
    assert "tracer" not in (end.mistake.traceback if end.mistake else "")
