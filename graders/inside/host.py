"""Inside the box: cases a part of which runs with the judge, where no learner can read it, and is asked in numbers.
Nothing that is said here is trusted.
"""

import struct
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import answers  # type: ignore[import-not-found]

NUMBER_BYTES = 8

Ask = Callable[[Sequence[float]], list[float]]


class HostError(Exception):
    """What runs with the judge could not do what it was asked."""


def run(payload: bytes, incoming: int, outgoing: int) -> None:
    """As answers.run; the probe finds in `case["ask"]` whom to ask."""

    def answer(submission: ModuleType, probe: Any, case: int, inputs: dict[str, Any]) -> bytes:
        ask = make_ask(case, incoming, outgoing)
        return bytes(answers.answer_with_values(submission, probe, case, {**inputs, "ask": ask}))

    answers.serve(payload, incoming, outgoing, answer)


def make_ask(case: int, incoming: int, outgoing: int) -> Ask:
    def ask(numbers: Sequence[float]) -> list[float]:
        body = struct.pack(f"<{len(numbers)}d", *numbers)
        answers.write_all(outgoing, answers.HEAD.pack(b"ASKS", case, 0, len(body)) + body)
        head = answers.read_exactly(incoming, answers.HEAD.size)
        if len(head) < answers.HEAD.size:
            raise SystemExit  # nobody listens any more
        kind, _, _, length = answers.HEAD.unpack(head)
        told = answers.read_exactly(incoming, length)
        if kind != b"TOLD":
            raise HostError("this cannot be computed; look at what was handed over, and how often")
        return list(struct.unpack(f"<{length // NUMBER_BYTES}d", told))

    return ask
