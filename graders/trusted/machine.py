"""A metered machine: layers and states stay with the judge, and a learner's program refers to them by numbers.

The judge itself does every forward step and holds every state, so its counts need no trust in the program. Requests
have a fixed length and contain only numbers; graders/inside/machine.py writes them.
"""

import struct
from collections.abc import Callable
from enum import IntEnum
from typing import Any, Final, TypeAlias

import numpy as np

from graders.contract.chart import FORWARDS, HELD
from graders.contract.results import MAX_SCHEDULE_STEPS, Measure, MeasuredBy, Outcome, Schedule
from graders.trusted.answers import BREACH, Metered, Receive, Ruling, read_failure
from graders.trusted.case import MachineSpec
from graders.trusted.finding_sentences import find_budget
from graders.trusted.wire import FAILURE, HEAD

WIDTH: Final = 6
MAX_ALIVE: Final = 20_000
NEAR: Final = 1e-9
START: Final = 0
NOBODY: Final = -1
MAX_CALLS: Final = 100_000

DONE, NOTHING = b"DONE", b"NONE"
GAVE, REFUSED = b"GAVE", b"NOPE"
NUMBER: Final = struct.Struct("<I")
REPLY: Final = struct.Struct("<4sI")

Send = Callable[[bytes], None]
Vector: TypeAlias = "np.ndarray[Any, Any]"


class Refusal(IntEnum):
    """Why the machine refused a request; graders/inside/machine.py raises it as an error in the learner's program."""

    NOT_ALIVE = 1
    NO_SUCH_LAYER = 2
    TOO_MANY_ALIVE = 3


class Refused(Exception):
    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.name)
        self.refusal = refusal


class Machine:
    """`layers` steps h -> R (h + sin(h) / 2), each with its own rotation R; the loss is |h - target|^2 / 2.

    The Jacobians do not commute, so a wrong order gives a wrong gradient; they stretch by 1/2 to 3/2, so that no
    gradient vanishes. forward, loss, vjp and free take and return numbers of vectors, and raise Refused.
    """

    def __init__(self, spec: MachineSpec, random: np.random.Generator) -> None:
        self.spec = spec
        self.forwards = self.held = self.peak_held = self.calls = 0
        self._units = spec.units or [1] * (spec.layers + 1)
        self._costs = spec.costs or [1] * spec.layers
        self._rotations = [np.linalg.qr(random.normal(size=(WIDTH, WIDTH)))[0] for _ in range(spec.layers)]
        self._target = random.normal(size=WIDTH)
        self._alive: dict[int, tuple[Vector, int]] = {}
        self._rows: list[tuple[str, int, tuple[int, ...], int, int]] = []
        self._made = 0
        first = random.normal(size=WIDTH)
        self._gradient = self._differentiate(first)
        self._keep(first, self._units[0])

    def forward(self, layer: int, state: int) -> int:
        """Makes the state after `layer` from the state before it."""
        value = self._read(state)
        made = self._keep(self._step(self._check(layer), value), self._units[layer + 1])
        self.forwards += self._costs[layer]
        return self._note("forward", layer, (state,), made)

    def loss(self, state: int) -> int:
        """Makes the gradient of the loss with respect to the last state."""
        made = self._keep(self._read(state) - self._target, self._units[-1])
        return self._note("loss", NOBODY, (state,), made)

    def vjp(self, layer: int, state: int, gradient: int) -> int:
        """Makes the gradient w.r.t. `state`, which is before `layer`, from the one w.r.t. the state after it."""
        value, behind = self._read(state), self._read(gradient)
        made = self._keep(self._pull_back(self._check(layer), value, behind), self._units[layer])
        return self._note("vjp", layer, (state, gradient), made)

    def free(self, number: int) -> int:
        """Releases it. Makes nothing, and returns 0."""
        self._read(number)
        self.held -= self._alive.pop(number)[1]
        self._note("free", NOBODY, (number,), NOBODY)
        return 0

    def is_gradient(self, number: int) -> bool:
        """Whether this is the gradient of the loss with respect to the state that the machine began with."""
        value, _ = self._alive.get(number, (np.full(WIDTH, np.nan), 0))
        # "Is near" and not "is not far": NaN is neither, and must not pass.
        return bool(np.linalg.norm(value - self._gradient) <= NEAR * np.linalg.norm(self._gradient))

    def describe(self) -> Schedule:
        columns = list(zip(*self._rows, strict=True)) or [()] * 5
        names = ("kind", "layer", "takes", "makes", "held")
        rows = dict(zip(names, columns, strict=True))
        return Schedule.model_validate({"layers": self.spec.layers, "calls": self.calls, **rows})

    def _differentiate(self, state: Vector) -> Vector:
        states = [state]
        for layer in range(self.spec.layers):
            states.append(self._step(layer, states[-1]))
        gradient = states[-1] - self._target
        for layer in reversed(range(self.spec.layers)):
            gradient = self._pull_back(layer, states[layer], gradient)
        return gradient

    def _step(self, layer: int, state: Vector) -> Vector:
        return np.asarray(self._rotations[layer] @ (state + np.sin(state) / 2))

    def _pull_back(self, layer: int, state: Vector, gradient: Vector) -> Vector:
        return np.asarray((1 + np.cos(state) / 2) * (self._rotations[layer].T @ gradient))

    def _check(self, layer: int) -> int:
        if not 0 <= layer < self.spec.layers:
            raise Refused(Refusal.NO_SUCH_LAYER)
        return layer

    def _read(self, number: int) -> Vector:
        if number not in self._alive:
            raise Refused(Refusal.NOT_ALIVE)
        return self._alive[number][0]

    def _keep(self, value: Vector, units: int) -> int:
        if len(self._alive) >= MAX_ALIVE:
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


def judge_schedule(number: int, machine: Machine, send: Send, receive: Receive) -> Ruling:
    """Serve the program until it names its gradient, fails, or breaks the protocol; then rule on what it did."""
    for _ in range(MAX_CALLS):
        kind, asked, one, other = HEAD.unpack(receive(HEAD.size))
        if asked != number:
            return BREACH
        if kind == FAILURE:
            return read_failure(one, other, receive)
        if kind in (DONE, NOTHING):
            return rule(machine, other if kind == DONE else None)
        reply = serve(machine, kind, one, other, receive)
        if reply is None:
            return BREACH
        send(reply)
    finding = find_budget("too-many-calls", used=MAX_CALLS, limit=MAX_CALLS)
    return Ruling(Outcome.OVER_BUDGET, goes_on=False, finding=finding, metered=meter(machine))


def serve(machine: Machine, kind: bytes, one: int, other: int, receive: Receive) -> bytes | None:
    """The reply to a request; None if it is not a request. The reply to `free` has the number 0."""
    try:
        match kind:
            case b"FWRD":
                made = machine.forward(one, other)
            case b"LOSS":
                made = machine.loss(other)
            case b"PULL":
                (gradient,) = NUMBER.unpack(receive(NUMBER.size))
                made = machine.vjp(one, other, gradient)
            case b"FREE":
                made = machine.free(other)
            case _:
                return None
    except Refused as refused:
        return REPLY.pack(REFUSED, refused.refusal)
    return REPLY.pack(GAVE, made)


def rule(machine: Machine, answer: int | None) -> Ruling:
    """Rule first on whether there is a gradient and it is right, then on what it cost."""
    metered = meter(machine)
    if answer is None:
        return Ruling(Outcome.WRONG_DTYPE, goes_on=True, dtype="NoneType", metered=metered)
    if not machine.is_gradient(answer):
        return Ruling(Outcome.WRONG_ANSWER, goes_on=True, metered=metered)
    spec = machine.spec
    costs = (
        ("too-many-forwards", machine.forwards, spec.most_forwards),
        ("too-much-held", machine.peak_held, spec.most_held),
    )
    for code, used, limit in costs:
        if limit is not None and used > limit:
            finding = find_budget(code, used=used, limit=limit)
            return Ruling(Outcome.OVER_BUDGET, goes_on=True, finding=finding, metered=metered)
    return Ruling(Outcome.PASSED, goes_on=True, metered=metered)


def meter(machine: Machine) -> Metered:
    spec = machine.spec
    counts = (
        (FORWARDS, machine.forwards, "steps", spec.most_forwards),
        (HELD, machine.peak_held, "units", spec.most_held),
    )
    measures = (Measure(name=n, value=v, unit=u, measured_by=MeasuredBy.JUDGE, most=m) for n, v, u, m in counts)
    budgets = ((spec.most_forwards, "forward steps: at most {}"), (spec.most_held, "units held: at most {}"))
    budget = "; ".join(words.format(most) for most, words in budgets if most is not None)
    used = f"forward steps: {machine.forwards}; units held: at most {machine.peak_held}"
    return Metered(tuple(measures), used, budget or "the gradient, at any cost", machine.describe())
