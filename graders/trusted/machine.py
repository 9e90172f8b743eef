"""A metered machine: layers and states stay with the judge; a learner's program holds numbers, and every use counts.

A forward step cannot be done, and a state cannot be held, without this side knowing: counts need no trust.
"""

from enum import IntEnum
from typing import Any, Final, TypeAlias

import numpy as np

from graders.contract.results import MAX_SCHEDULE_STEPS, Schedule
from graders.trusted.case import MachineOrder

WIDTH: Final = 6
MOST_ALIVE: Final = 20_000
NEAR: Final = 1e-9
START: Final = 0
NOBODY: Final = -1

Vector: TypeAlias = "np.ndarray[Any, Any]"


class Refusal(IntEnum):
    """Why the machine did not do what it was asked; the learner's program raises an error in these words."""

    NOT_ALIVE = 1
    NO_SUCH_LAYER = 2
    TOO_MANY_ALIVE = 3


class Refused(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.name)
        self.refusal = refusal


class Machine:
    """`layers` steps h -> R (h + sin(h) / 2), each with a rotation R of its own, and half a squared distance as loss.

    The Jacobians do not commute, and stretch by 1/2 to 3/2: no wrong order is right, and no gradient vanishes.
    Every method raises Refused.
    """

    def __init__(self, order: MachineOrder, random: np.random.Generator) -> None:
        self.order = order
        self.forwards = self.held = self.peak_held = self.calls = 0
        self._units = order.units or [1] * (order.layers + 1)
        self._rotations = [np.linalg.qr(random.normal(size=(WIDTH, WIDTH)))[0] for _ in range(order.layers)]
        self._target = random.normal(size=WIDTH)
        self._alive: dict[int, tuple[Vector, int]] = {}
        self._rows: list[tuple[str, int, tuple[int, ...], int, int]] = []
        self._made = 0
        first = random.normal(size=WIDTH)
        self._gradient = self._differentiate(first)
        self._keep(first, self._units[0])

    def forward(self, layer: int, state: int) -> int:
        """The state after `layer`."""
        value = self._read(state)
        made = self._keep(self._step(self._check(layer), value), self._units[layer + 1])
        self.forwards += 1
        return self._note("forward", layer, (state,), made)

    def loss(self, state: int) -> int:
        """The gradient of the loss with respect to the last state."""
        made = self._keep(self._read(state) - self._target, self._units[-1])
        return self._note("loss", NOBODY, (state,), made)

    def vjp(self, layer: int, state: int, gradient: int) -> int:
        """The gradient before `layer`, of the one behind it, at the state before it."""
        value, behind = self._read(state), self._read(gradient)
        made = self._keep(self._pull_back(self._check(layer), value, behind), self._units[layer])
        return self._note("vjp", layer, (state, gradient), made)

    def free(self, number: int) -> int:
        """Lets go of it, and makes nothing: 0."""
        self._read(number)
        self.held -= self._alive.pop(number)[1]
        self._note("free", NOBODY, (number,), NOBODY)
        return 0

    def is_gradient(self, number: int) -> bool:
        """Is this the gradient of the loss with respect to the state that the machine began with?"""
        value, _ = self._alive.get(number, (np.full(WIDTH, np.nan), 0))
        # Asked as "is near", never as "is not far": a NaN is neither.
        return bool(np.linalg.norm(value - self._gradient) <= NEAR * np.linalg.norm(self._gradient))

    def describe(self) -> Schedule:
        columns = list(zip(*self._rows, strict=True)) or [()] * 5
        names = ("kind", "layer", "takes", "makes", "held")
        rows = dict(zip(names, columns, strict=True))
        return Schedule.model_validate({"layers": self.order.layers, "calls": self.calls, **rows})

    def _differentiate(self, state: Vector) -> Vector:
        states = [state]
        for layer in range(self.order.layers):
            states.append(self._step(layer, states[-1]))
        gradient = states[-1] - self._target
        for layer in reversed(range(self.order.layers)):
            gradient = self._pull_back(layer, states[layer], gradient)
        return gradient

    def _step(self, layer: int, state: Vector) -> Vector:
        return np.asarray(self._rotations[layer] @ (state + np.sin(state) / 2))

    def _pull_back(self, layer: int, state: Vector, gradient: Vector) -> Vector:
        return np.asarray((1 + np.cos(state) / 2) * (self._rotations[layer].T @ gradient))

    def _check(self, layer: int) -> int:
        if not 0 <= layer < self.order.layers:
            raise Refused(Refusal.NO_SUCH_LAYER)
        return layer

    def _read(self, number: int) -> Vector:
        if number not in self._alive:
            raise Refused(Refusal.NOT_ALIVE)
        return self._alive[number][0]

    def _keep(self, value: Vector, units: int) -> int:
        if len(self._alive) >= MOST_ALIVE:
            raise Refused(Refusal.TOO_MANY_ALIVE)
        number, self._made = self._made, self._made + 1
        self._alive[number] = (value, units)
        self.held += units
        self.peak_held = max(self.peak_held, self.held)
        return number

    def _note(self, kind: str, layer: int, takes: tuple[int, ...], makes: int) -> int:
        self.calls += 1
        if self.calls <= MAX_SCHEDULE_STEPS:
            self._rows.append((kind, layer, takes, makes, self.held))
        return makes
