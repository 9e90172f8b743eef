"""A learner's own engine: its graph, its lines, each change of `.grad` as a tape; the program runs as it would."""

import builtins
import traceback

import pytest
from engine_parts import CLOSURES, ENGINES, INIT, LOOP, PROGRAM, RECURSION, import_alone, run_plainly, trace_engine

from graders.inside.tracer import Caps

ADDING = [name for name in ENGINES if name not in ("a loop that sums first", "recursion")]


@pytest.mark.parametrize("name", ENGINES)
def test_every_style_of_engine_shows_its_graph(name: str) -> None:
    trace = trace_engine(ENGINES[name] + PROGRAM).trace
    assert trace.engine == "learner"
    assert list(zip(trace.nodes.forward, trace.nodes.variable, trace.nodes.values, strict=True)) == [
        ("leaf", "x", "0.5"),
        ("leaf", "w", "-1.25"),
        ("*", "", "-0.625"),
        ("+", "y", "-0.125"),
    ]
    assert sorted(zip(trace.edges.source, trace.edges.target, strict=True)) == [(2, 0), (2, 1), (3, 0), (3, 2)]
    assert trace.roots == (3,)


@pytest.mark.parametrize("name", ENGINES)
def test_the_program_computes_what_it_computes_alone(name: str) -> None:
    source = ENGINES[name] + PROGRAM + "(x * x * w).backward()\nkept = sorted(getattr(x, '__dict__', ()))\n"
    ran, alone = trace_engine(source), run_plainly(source)
    assert [(ran.namespace[at].data, ran.namespace[at].grad) for at in "xwy"] == [
        (alone[at].data, alone[at].grad) for at in "xwy"
    ]
    assert ran.namespace["kept"] == alone["kept"]


@pytest.mark.parametrize("name", ADDING)
def test_an_engine_that_adds_part_by_part_shows_each_part_on_its_edge(name: str) -> None:
    ran = trace_engine(ENGINES[name] + PROGRAM)
    assert [step for step in ran.told() if step[0] == "vjp"] == [
        ("vjp", "y", "() 1.0", "() 1.0; () 1.0"),
        ("vjp", "*", "() 1.0", "() -1.25; () 0.5"),
    ]
    added = sorted(step for step in ran.told() if step[0] == "accumulate")
    assert added == [
        ("accumulate", "w", "() 0.5", "() 0.5"),
        ("accumulate", "x", "() -1.25", "() -0.25"),
        ("accumulate", "x", "() 1.0", "() 1.0"),
    ]


def test_an_engine_that_sums_first_shows_no_part_that_nobody_saw() -> None:
    assert trace_engine(ENGINES["a loop that sums first"] + PROGRAM).told() == [
        ("vjp", "y", "() 1.0", "() 1.0; ?"),
        ("vjp", "*", "() 1.0", "?; () 0.5"),
        ("accumulate", "w", "() 0.5", "() 0.5"),
        ("accumulate", "x", "() -0.25", "() -0.25"),
    ]


def test_an_engine_that_walks_each_path_shows_each_walk() -> None:
    assert trace_engine(ENGINES["recursion"] + PROGRAM).told() == [
        ("vjp", "y", "() 1.0", "() 1.0; ·"),
        ("vjp", "*", "() 1.0", "() -1.25; () 0.5"),
        ("accumulate", "x", "() -1.25", "() -1.25"),
        ("accumulate", "w", "() 0.5", "() 0.5"),
        ("vjp", "y", "() 1.0", "·; () 1.0"),
        ("accumulate", "x", "() 1.0", "() -0.25"),
    ]


def test_rules_that_run_too_early_send_the_zeros_that_they_sent() -> None:
    wrong = ENGINES["closures"].replace("reversed(order)", "order")
    told = trace_engine(wrong + PROGRAM).told()
    assert told[0] == ("vjp", "*", "() 0.0", "() 0.0; () 0.0")


def test_a_value_that_is_used_twice_by_one_operation_gets_both_parts() -> None:
    ran = trace_engine(ENGINES["closures"] + "x = Value(3.0)\ny = x * x\ny.backward()\n")
    assert ran.told()[0] == ("vjp", "y", "() 1.0", "() 3.0; () 3.0")


def test_an_engine_that_empties_every_grad_first_begins_with_its_seed() -> None:
    emptying = ENGINES["closures"].replace(
        "        self.grad = 1.0", "        for node in order:\n            node.grad = 0.0\n        self.grad = 1.0"
    )
    ran = trace_engine(emptying + PROGRAM + "y.backward()\n")
    steps = ran.told()
    assert steps[: len(steps) // 2] == steps[len(steps) // 2 :]
    assert ran.trace.events.before[-2] == ran.trace.events.before[-2 - len(steps) // 2 - 2]


def test_each_operation_has_the_learners_sub_expression_not_the_engines_line() -> None:
    assert trace_engine(ENGINES["closures"] + PROGRAM).expressions() == ["x * w", "x * w + x"]
    source = (
        ENGINES["closures"] + "def f(a):\n    return a * a\nclass Net:\n    def go(self, a):\n        return f(a)\n"
    )
    assert trace_engine(source + "y = Net().go(Value(2.0))\n").expressions() == ["a * a"]


def test_an_engine_in_the_hidden_setup_is_watched_too() -> None:
    ran = trace_engine(PROGRAM, setup=ENGINES["closures"])
    assert ran.expressions() == ["x * w", "x * w + x"]
    assert len(ran.told()) == 5


def test_names_reach_into_the_learners_objects_and_functions() -> None:
    source = ENGINES["closures"] + (
        "class Net:\n    def __init__(self):\n        self.w = [Value(1.0), Value(2.0)]\n"
        "net = Net()\ndef step():\n    loss = net.w[0] * net.w[1]\n    loss.backward()\nstep()\n"
    )
    assert trace_engine(source).trace.nodes.variable == ("net.w[0]", "net.w[1]", "loss")


def test_an_error_in_backward_keeps_the_tape_and_its_own_traceback() -> None:
    wrong = ENGINES["closures"].replace("self.grad += other.data * out.grad", "self.grad += other.nope")
    ran = trace_engine(wrong + PROGRAM)
    assert isinstance(ran.error, AttributeError)
    text = "".join(traceback.format_exception(ran.error))
    assert "inside/tracer" not in text
    assert text.count('File "cell.py"') == 3
    events = ran.trace.events
    assert events.kind[-3:] == ("accumulate", "error", "end")
    assert events.text[-2] == "AttributeError: 'Value' object has no attribute 'nope'"


def test_nothing_stays_wrapped_after_a_recording() -> None:
    build = builtins.__build_class__
    ran = trace_engine(ENGINES["closures"] + PROGRAM + "1 / 0\n")
    kind = ran.namespace["Value"]
    assert builtins.__build_class__ is build
    assert "grad" not in vars(kind)
    assert {vars(kind)[name].__code__.co_filename for name in ("__init__", "backward")} == {"cell.py"}


def test_a_backward_that_calls_itself_reaches_as_deep_as_alone() -> None:
    chain = "import sys\ny = Value(1.0)\nfor _ in range({0}):\n    y = y + Value(0.0)\ny.backward()\n"
    engine = LOOP.format(head=INIT, more=", arrived=1.0", body=RECURSION)
    depth = 850  # the limit is 1000 frames, and the tests' own stand on the same stack
    assert trace_engine(engine + chain.format(depth)).error is None
    assert isinstance(trace_engine(engine + chain.format(1100)).error, RecursionError)


def test_a_grad_that_is_the_learners_own_code_leaves_a_still_picture_and_says_so() -> None:
    own = ENGINES["closures"].replace(
        "    def __add__",
        "    @property\n    def grad(self):\n        return self.kept\n"
        "    @grad.setter\n    def grad(self, new):\n        self.kept = new\n    def __add__",
        1,
    )
    ran = trace_engine(own + PROGRAM)
    assert ran.trace.nodes.forward == ("leaf", "leaf", "*", "+")
    assert ran.told() == []
    assert ran.trace.notes == ("How .grad changes is not shown: Value computes it by code of its own.",)


def test_a_grad_that_goes_past_attributes_is_said_to_be_unseen() -> None:
    past = ENGINES["closures"].replace("self.grad = 1.0", "self.__dict__['grad'] = 1.0").replace(
        "self.grad +=", "vars(self)['grad'] +="
    ).replace("other.grad +=", "vars(other)['grad'] +=")  # fmt: skip
    assert trace_engine(past + PROGRAM).trace.notes == (
        "How .grad changed was not seen: it is not set as an attribute.",
    )


def test_a_circle_of_operands_is_cut_and_told() -> None:
    ran = trace_engine(ENGINES["closures"] + "x = Value(1.0)\ny = x + x\ny._prev = (x, y)\nz = y * y\n")
    assert ran.trace.nodes.forward == ("leaf", "+", "*")
    assert "closes the circle" in ran.trace.notes[0]


def test_past_the_cap_no_more_values_are_kept_and_the_program_goes_on() -> None:
    ran = trace_engine(ENGINES["closures"] + PROGRAM, Caps(max_nodes=3))
    assert ran.error is None
    assert ran.namespace["x"].grad == -0.25
    assert ran.trace.truncated


def test_other_classes_of_the_program_are_left_alone() -> None:
    source = "class Plain:\n    def __init__(self):\n        self.grad = 1\np = Plain()\np.grad += 1\n"
    ran = trace_engine(source)
    assert ran.namespace["p"].grad == 2
    assert ran.trace.nodes.name == ()


def test_hostile_attributes_run_no_code_of_the_learners() -> None:
    source = """\
ran = []
class Sly:
    def __getattr__(self, name):
        ran.append(name)
        raise AttributeError(name)
    @property
    def _prev(self):
        ran.append("_prev")
        return ()
    @property
    def __class__(self):
        ran.append("class")
        return int
sly = [Sly(), Sly()]
"""
    ran = trace_engine(source)
    assert ran.namespace["ran"] == []


def test_gradients_of_lists_are_shown_by_shape_and_values() -> None:
    source = """\
class Value:
    def __init__(self, data, _prev=(), _op=""):
        self.data, self.grad, self._prev, self._op = data, [0.0, 0.0], _prev, _op
    def double(self):
        return Value([2 * each for each in self.data], (self,), "double")
    def backward(self):
        self.grad = [1.0, 1.0]
        (operand,) = self._prev
        operand.grad = [old + 2 * new for old, new in zip(operand.grad, self.grad)]
x = Value([1.0, 2.0])
y = x.double()
y.backward()
"""
    ran = trace_engine(source)
    assert ran.trace.nodes.shape == ((2,), (2,))
    assert ran.told() == [
        ("vjp", "y", "(2,) [1.0, 1.0]", "(2,) [2.0, 2.0]"),
        ("accumulate", "x", "(2,) [2.0, 2.0]", "(2,) [2.0, 2.0]"),
    ]


ARRAY_ENGINE = """\
import numpy as np
class Array:
    def __init__(self, data, _prev=(), _op=""):
        self.data, self.grad, self._prev, self._op = data, {grad}, _prev, _op
        self._rule = lambda: None
    def __mul__(self, other):
        out = Array(self.data * other.data, (self, other), "*")
        def rule():
            {add_one}
            {add_other}
        out._rule = rule
        return out
    def backward(self):
        self.grad = np.ones(2)
        self._rule()
x, w = Array(np.array([1.0, 2.0])), Array(np.array([3.0, 4.0]))
for _ in range(2):
    y = x * w
    y.backward()
"""
IN_PLACE = {"add_one": "self.grad += other.data * out.grad", "add_other": "other.grad += self.data * out.grad"}
BY_NAME = {
    "add_one": "self.grad = self.grad + other.data * out.grad",
    "add_other": "other.grad = other.grad + self.data * out.grad",
}


@pytest.mark.parametrize("adds", [IN_PLACE, BY_NAME], ids=["in place", "by name"])
@pytest.mark.parametrize("grad", ["np.zeros(2)", "0.0"])
def test_an_engine_of_arrays_shows_what_each_rule_added(adds: dict[str, str], grad: str) -> None:
    ran = trace_engine(ARRAY_ENGINE.format(grad=grad, **adds))
    assert ran.trace.nodes.shape[:2] == ((2,), (2,))
    assert ran.told()[:3] == [
        ("vjp", "y", "(2,) [1.0, 1.0]", "(2,) [3.0, 4.0]; (2,) [1.0, 2.0]"),
        ("accumulate", "x", "(2,) [3.0, 4.0]", "(2,) [3.0, 4.0]"),
        ("accumulate", "w", "(2,) [1.0, 2.0]", "(2,) [1.0, 2.0]"),
    ]
    assert ran.told()[4] == ("accumulate", "x", "(2,) [3.0, 4.0]", "(2,) [6.0, 8.0]")


def test_gradients_that_were_emptied_in_place_between_two_walks_begin_again() -> None:
    source = ARRAY_ENGINE.format(grad="np.zeros(2)", **IN_PLACE) + "    x.grad[:] = 0.0\n"
    assert trace_engine(source).told()[4] == ("accumulate", "x", "(2,) [3.0, 4.0]", "(2,) [3.0, 4.0]")


def test_of_a_large_array_the_shape_is_shown_and_no_number() -> None:
    source = ARRAY_ENGINE.format(grad="0.0", **BY_NAME).replace("np.array([1.0, 2.0])", "np.zeros((30000, 2))")
    ran = trace_engine(source)
    assert (ran.trace.nodes.shape[0], ran.trace.nodes.values[0]) == ((30000, 2), "")


def test_the_tracer_of_engines_needs_no_torch() -> None:
    assert import_alone("graders.inside.tracer.learner") == "imported"


def test_a_value_that_is_added_to_what_was_made_of_it_runs_once() -> None:
    source = (
        CLOSURES.format(prev="set(_children)")
        + "a, b = Value(3.0), Value(1.0)\nd = a + b\nd = d + (d + b)\nd.backward()\n"
    )
    told = trace_engine(source).told()
    assert [step for step in told if step[0] == "vjp"] == [
        ("vjp", "d", "() 1.0", "() 1.0; () 1.0"),
        ("vjp", "+", "() 1.0", "() 1.0; () 1.0"),
        ("vjp", "+", "() 2.0", "() 2.0; () 2.0"),
    ]


DEEP = """\
class Neuron:
    def __init__(self):
        self.w = [Value(2.0), Value(3.0)]
class Layer:
    def __init__(self):
        self.neurons = [Neuron()]
class Net:
    def __init__(self):
        self.layers = [Layer()]
net = Net()
for p in net.layers[0].neurons[0].w:
    p.grad = 0.0
y = net.layers[0].neurons[0].w[0] * net.layers[0].neurons[0].w[1]
y.backward()
"""


def test_a_weight_deep_inside_a_network_has_its_path_for_a_name_and_not_a_loop_variable() -> None:
    nodes = trace_engine(CLOSURES.format(prev="tuple(_children)") + DEEP).trace.nodes
    assert nodes.variable == ("net.layers[0].neurons[0].w[0]", "net.layers[0].neurons[0].w[1]", "y")
