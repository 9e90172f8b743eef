"""The metered machine: what it computes, counts and refuses, and a program that talks to it in bytes."""

import contextlib
import io
import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graders.contract.results import MAX_SCHEDULE_STEPS, MeasuredBy, Outcome
from graders.trusted.case import MachineSpec
from graders.trusted.machine import MAX_CALLS, START, Machine, Refusal, Refused, judge_schedule

HEAD = struct.Struct("<4sIII")
ONE_LAYER = b"".join(
    [HEAD.pack(b"FWRD", 0, 0, 0), HEAD.pack(b"LOSS", 0, 0, 1), HEAD.pack(b"PULL", 0, 0, 0), struct.pack("<I", 2)]
)
ONE_STATE_LATER = b"".join(
    [HEAD.pack(b"FWRD", 0, 0, 0), HEAD.pack(b"LOSS", 0, 0, 2), HEAD.pack(b"PULL", 0, 0, 0), struct.pack("<I", 3)]
)
"""The same requests after one more state was made."""


def build(layers: int = 16, **spec: object) -> Machine:
    return Machine(MachineSpec(layers=layers, **spec), np.random.default_rng(1))


def run_forward(machine: Machine) -> list[int]:
    states = [START]
    for layer in range(machine.spec.layers):
        states.append(machine.forward(layer, states[-1]))
    return states


def keep_all(machine: Machine) -> int:
    states = run_forward(machine)
    gradient = machine.loss(states[-1])
    for layer in reversed(range(machine.spec.layers)):
        before = machine.vjp(layer, states[layer], gradient)
        machine.free(gradient)
        gradient = before
    return gradient


def keep_every_fourth(machine: Machine) -> int:
    kept, state = {0: START}, START
    for layer in range(machine.spec.layers):
        after = machine.forward(layer, state)
        if layer % 4:
            machine.free(state)
        kept, state = ({**kept, layer: state} if layer % 4 == 0 else kept), after
    gradient = machine.loss(state)
    machine.free(state)
    for first in (12, 8, 4, 0):
        states = [kept[first]]
        for layer in range(first, first + 3):
            states.append(machine.forward(layer, states[-1]))
        for layer in range(first + 3, first - 1, -1):
            before = machine.vjp(layer, states[-1], gradient)
            machine.free(gradient)
            machine.free(states.pop())
            gradient = before
    return gradient


@pytest.mark.parametrize(
    ("schedule", "forwards", "held"), [(keep_all, 16, 19), (keep_every_fourth, 28, 9)], ids=["all", "every fourth"]
)
def test_a_schedule_costs_what_it_costs_on_paper(schedule, forwards, held):
    machine = build()
    assert machine.is_gradient(schedule(machine))
    assert (machine.forwards, machine.peak_held) == (forwards, held)


def test_the_gradient_is_the_one_of_finite_differences():
    machine = build(layers=5)
    answer = machine._read(keep_all(machine))
    start = machine._read(START)

    def loss(state):
        for layer in range(5):
            state = machine._step(layer, state)
        return np.sum((state - machine._target) ** 2) / 2

    steps = np.eye(len(start)) * 1e-6
    differences = [(loss(start + step) - loss(start - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(answer, differences, rtol=1e-6, atol=1e-8)


def test_two_layers_in_the_other_order_are_another_gradient():
    machine = build(layers=2)
    states = run_forward(machine)
    gradient = machine.loss(states[2])
    other = machine.vjp(1, states[1], machine.vjp(0, states[0], gradient))
    assert not machine.is_gradient(other)


@pytest.mark.parametrize("layers", [1, 16, 256])
def test_no_gradient_vanishes_and_no_state_is_one(layers):
    machine = build(layers=layers)
    states = run_forward(machine)
    assert not any(machine.is_gradient(number) for number in [*states, machine.loss(states[-1])])


@pytest.mark.parametrize(
    ("ask", "refusal"),
    [
        (lambda machine: machine.forward(0, 7), Refusal.NOT_ALIVE),
        (lambda machine: machine.forward(16, START), Refusal.NO_SUCH_LAYER),
        (lambda machine: machine.vjp(0, START, 9), Refusal.NOT_ALIVE),
        (lambda machine: (machine.free(START), machine.free(START)), Refusal.NOT_ALIVE),
        (lambda machine: [machine.loss(START) for _ in range(30_000)], Refusal.TOO_MANY_ALIVE),
    ],
)
def test_what_cannot_be_done_is_refused_and_costs_no_step(ask, refusal):
    machine = build()
    with pytest.raises(Refused) as refused:
        ask(machine)
    assert (refused.value.refusal, machine.forwards) == (refusal, 0)


def test_states_weigh_what_the_exercise_says_and_a_gradient_as_much_as_its_state():
    machine = build(layers=2, units=[1, 10, 100])
    states = run_forward(machine)
    assert machine.held == 111
    machine.vjp(1, states[1], machine.loss(states[2]))
    assert machine.held == 111 + 100 + 10


def test_a_layer_counts_as_the_forward_steps_that_the_exercise_says_and_a_vjp_as_none():
    machine = build(layers=3, costs=[5, 1, 20])
    states = run_forward(machine)
    machine.forward(0, START)
    machine.vjp(2, states[2], machine.loss(states[3]))
    assert machine.forwards == 5 + 1 + 20 + 5


@pytest.mark.parametrize(
    ("field", "problem"),
    [("units", "write one per state, 4 in all"), ("costs", "write one per layer, 3 in all")],
)
def test_a_list_of_another_length_than_the_chain_is_refused(field, problem):
    with pytest.raises(ValueError, match=problem):
        MachineSpec(layers=3, **{field: [1, 1]})


def test_a_freed_gradient_is_no_answer():
    machine = build()
    gradient = keep_all(machine)
    machine.free(gradient)
    assert not machine.is_gradient(gradient)


def test_the_schedule_is_told_step_by_step_and_capped():
    machine = build(layers=1)
    after = machine.forward(0, START)
    machine.vjp(0, START, machine.loss(after))
    machine.free(after)
    told = machine.describe()
    assert (told.kind, told.layer) == (("forward", "loss", "vjp", "free"), (0, -1, 0, -1))
    assert (told.takes, told.makes, told.held) == (((0,), (1,), (0, 2), (1,)), (1, 2, 3, -1), (2, 3, 4, 3))
    for _ in range(MAX_SCHEDULE_STEPS):
        machine.loss(START)
    assert (len(machine.describe().kind), machine.describe().calls) == (MAX_SCHEDULE_STEPS, MAX_SCHEDULE_STEPS + 4)


CALL = st.tuples(st.sampled_from(["forward", "loss", "vjp", "free"]), *[st.integers(0, 12)] * 3)


@given(st.lists(CALL, max_size=40))
def test_whatever_is_asked_the_count_is_of_what_is_alive(calls):
    machine = build(layers=3)
    alive = 1
    for kind, layer, state, gradient in calls:
        arguments = {"forward": (layer, state), "loss": (state,), "vjp": (layer, state, gradient), "free": (state,)}
        try:
            getattr(machine, kind)(*arguments[kind])
        except Refused:
            continue
        alive += -1 if kind == "free" else 1
        assert machine.held == alive <= machine.peak_held


class Ended(Exception):
    """The scripted channel holds no more bytes."""


class Wire:
    """What the program sends, and what it is told."""

    def __init__(self, data: bytes) -> None:
        self.data = io.BytesIO(data)
        self.told: list[bytes] = []
        self.largest = 0

    def receive(self, count: int) -> bytes:
        self.largest = max(self.largest, count)
        piece = self.data.read(count)
        if len(piece) < count:
            raise Ended
        return piece


def judge(data: bytes, number: int = 0, **spec: object):
    wire = Wire(data)
    machine = Machine(MachineSpec(layers=1, **spec), np.random.default_rng(0))
    return judge_schedule(number, machine, wire.told.append, wire.receive), wire


def done(handle: int) -> bytes:
    return HEAD.pack(b"DONE", 0, 0, handle)


def test_the_gradient_within_the_budget_passes_and_every_request_is_answered():
    ruling, wire = judge(ONE_LAYER + done(3), most_forwards=1, most_held=4)
    assert ruling.outcome is Outcome.PASSED
    assert wire.told == [struct.pack("<4sI", b"GAVE", number) for number in (1, 2, 3)]
    assert [(m.name, m.value, m.measured_by) for m in ruling.metered.measures] == [
        ("forward steps", 1, MeasuredBy.JUDGE),
        ("most held at once", 4, MeasuredBy.JUDGE),
    ]


@pytest.mark.parametrize(
    ("budget", "code"),
    [({"most_held": 3}, "too-much-held"), ({"most_forwards": 1}, "too-many-forwards")],
)
def test_a_right_gradient_beyond_the_budget_is_told_so_with_both_numbers(budget, code):
    ruling, _ = judge(HEAD.pack(b"FWRD", 0, 0, 0) + HEAD.pack(b"FREE", 0, 0, 1) + ONE_STATE_LATER + done(4), **budget)
    assert (ruling.outcome, ruling.finding.code, ruling.goes_on) == (Outcome.OVER_BUDGET, code, True)
    used, limit = {"too-much-held": (4, 3), "too-many-forwards": (2, 1)}[code]
    assert f"{used} " in ruling.finding.short
    assert f"{limit} are allowed" in ruling.finding.short


@pytest.mark.parametrize("handle", [0, 1, 2, 77, 2**32 - 1])
def test_any_other_number_is_a_wrong_answer(handle):
    ruling, _ = judge(ONE_LAYER + done(handle))
    assert (ruling.outcome, ruling.goes_on) == (Outcome.WRONG_ANSWER, True)


def test_no_gradient_is_nothing_returned():
    ruling, _ = judge(HEAD.pack(b"NONE", 0, 0, 0))
    assert (ruling.outcome, ruling.dtype) == (Outcome.WRONG_DTYPE, "NoneType")


def test_a_refusal_is_told_and_the_program_may_go_on():
    ruling, wire = judge(HEAD.pack(b"FWRD", 0, 9, 0) + ONE_LAYER + done(3))
    assert wire.told[0] == struct.pack("<4sI", b"NOPE", 2)
    assert ruling.outcome is Outcome.PASSED


def test_an_error_of_the_program_is_its_mistake():
    body = json.dumps({"type": "E", "message": "m", "line": 3, "stage": "case"}).encode()
    ruling, _ = judge(HEAD.pack(b"FAIL", 0, 0, len(body)) + body)
    assert (ruling.outcome, ruling.mistake.line, ruling.goes_on) == (Outcome.RUNTIME_ERROR, 3, True)


@pytest.mark.parametrize(
    "data",
    [
        HEAD.pack(b"DONE", 1, 0, 0),
        HEAD.pack(b"ANSW", 0, 0, 0),
        HEAD.pack(b"PASS", 0, 0, 0),
        HEAD.pack(b"FAIL", 0, 0, 2**32 - 1),
        HEAD.pack(b"FAIL", 0, 9, 0),
        bytes(16),
    ],
)
def test_anything_else_is_a_breach(data):
    ruling, _ = judge(data)
    assert (ruling.outcome, ruling.goes_on) == (Outcome.PROTOCOL_ERROR, False)


def test_a_program_that_never_ends_is_ended():
    ruling, _ = judge(HEAD.pack(b"FREE", 0, 0, 0) + HEAD.pack(b"LOSS", 0, 0, 0) * (MAX_CALLS + 1))
    assert (ruling.outcome, ruling.goes_on) == (Outcome.OVER_BUDGET, False)
    assert ruling.finding.code == "too-many-calls"


REQUEST = st.builds(
    HEAD.pack,
    st.sampled_from([b"FWRD", b"LOSS", b"PULL", b"FREE", b"DONE", b"NONE", b"FAIL"]),
    st.just(0),
    *[st.integers(0, 6) | st.integers(0, 2**32 - 1)] * 2,
)


@given(st.lists(REQUEST | st.binary(max_size=20), max_size=30))
def test_any_requests_are_served_ruled_on_or_end_and_nothing_long_is_read(pieces):
    wire = Wire(b"".join(pieces))
    machine = Machine(MachineSpec(layers=1), np.random.default_rng(0))
    with contextlib.suppress(Ended):
        judge_schedule(0, machine, wire.told.append, wire.receive)
    assert wire.largest <= 16 * 1024
