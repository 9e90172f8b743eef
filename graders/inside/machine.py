"""Inside the box: a learner's program uses a metered machine, whose layers and states are kept by the judge. Nothing
reported here is trusted: this side has only numbers that stand for states, and the wire.
"""

import struct
from types import ModuleType
from typing import Any

import answers  # type: ignore[import-not-found]

NUMBER = struct.Struct("<I")
REPLY = struct.Struct("<4sI")
REFUSALS = {
    1: "this state or gradient was freed, or never made",
    2: "the machine has no such layer",
    3: "more is held than any budget allows",
}


class MachineError(Exception):
    """The machine did not do what it was asked."""


class Handle:
    """Refers to a state or a gradient that the machine holds. Its value is never sent here."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __repr__(self) -> str:
        return f"<handle {self.number}>"


class Machine:
    """A chain of layers, 0 to layers - 1. It holds every state and gradient it makes until that is freed."""

    def __init__(self, case: int, spec: dict[str, Any], incoming: int, outgoing: int) -> None:
        self.layers: int = spec["layers"]
        self.units: list[int] = spec["units"] or [1] * (self.layers + 1)
        self.costs: list[int] = spec["costs"] or [1] * self.layers
        self.most_forwards: int | None = spec["most_forwards"]
        self.most_held: int | None = spec["most_held"]
        self.start = Handle(0)
        self._case, self._incoming, self._outgoing = case, incoming, outgoing

    def forward(self, layer: int, state: Handle) -> Handle:
        """The state after `layer`, from the state before it. Costs the forward steps in costs[layer]."""
        return Handle(self._ask("forward", b"FWRD", layer, state))

    def loss(self, state: Handle) -> Handle:
        """The gradient of the loss with respect to the last state."""
        return Handle(self._ask("loss", b"LOSS", 0, state))

    def vjp(self, layer: int, state: Handle, gradient: Handle) -> Handle:
        """The gradient before `layer`, from the gradient after it and from `state`, the state before it."""
        return Handle(self._ask("vjp", b"PULL", layer, state, gradient))

    def free(self, *handles: Handle) -> None:
        """Release states and gradients."""
        for handle in handles:
            self._ask("free", b"FREE", 0, handle)

    def _ask(self, name: str, kind: bytes, layer: int, *handles: Handle) -> int:
        for handle in handles:
            if not isinstance(handle, Handle):
                raise TypeError(f"{name}() needs what the machine has made, not {type(handle).__name__}")
        if not isinstance(layer, int) or not 0 <= layer < 2**32:
            raise MachineError(f"{name}(): {REFUSALS[2]}: {layer!r}")
        request = answers.HEAD.pack(kind, self._case, layer, handles[0].number)
        request += b"".join(NUMBER.pack(handle.number) for handle in handles[1:])
        answers.write_all(self._outgoing, request)
        said = answers.read_exactly(self._incoming, REPLY.size)
        if len(said) < REPLY.size:
            raise SystemExit  # the judge is gone
        kind, number = REPLY.unpack(said)
        if kind != b"GAVE":
            raise MachineError(f"{name}(): {REFUSALS.get(number, 'refused')}")
        return int(number)


def run(payload: bytes, incoming: int, outgoing: int) -> None:
    """Like answers.run, but each case has a machine, and the answer is a gradient that the machine made."""

    def answer_on_machine(submission: ModuleType, probe: Any, case: int, inputs: dict[str, Any]) -> bytes:
        machine = Machine(case, inputs["machine"], incoming, outgoing)
        return name_gradient(case, probe(submission, {**inputs, "machine": machine}))

    answers.serve(payload, incoming, outgoing, answer_on_machine)


def name_gradient(case: int, gradient: object) -> bytes:
    """The frame that ends a case."""
    if gradient is None:
        return bytes(answers.HEAD.pack(b"NONE", case, 0, 0))
    if not isinstance(gradient, Handle):
        raise TypeError(f"the answer is a {type(gradient).__name__}; return the handle of the gradient")
    return bytes(answers.HEAD.pack(b"DONE", case, 0, gradient.number))
