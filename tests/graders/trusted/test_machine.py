"""The metered machine: what it computes, what it counts, and what it refuses."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graders.contract.results import MAX_SCHEDULE_STEPS
from graders.trusted.case import MachineOrder
from graders.trusted.machine import START, Machine, Refusal, Refused


def build(layers: int = 16, **order: object) -> Machine:
    return Machine(MachineOrder(layers=layers, **order), np.random.default_rng(1))


def run_forward(machine: Machine) -> list[int]:
    states = [START]
    for layer in range(machine.order.layers):
        states.append(machine.forward(layer, states[-1]))
    return states


def keep_all(machine: Machine) -> int:
    states = run_forward(machine)
    gradient = machine.loss(states[-1])
    for layer in reversed(range(machine.order.layers)):
        before = machine.vjp(layer, states[layer], gradient)
        machine.free(gradient)
        gradient = before
    return gradient


def keep_every_fourth(machine: Machine) -> int:
    kept, state = {0: START}, START
    for layer in range(machine.order.layers):
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
