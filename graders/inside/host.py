"""Inside the box: cases that need a function which runs with the judge, where learner code cannot read it. The
function is called with numbers over the wire. Nothing reported here is trusted.
"""

import struct
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import answers  # type: ignore[import-not-found]

NUMBER_BYTES = 8

Ask = Callable[[Sequence[float]], list[float]]


class HostError(Exception):
    """The function that runs with the judge could not compute the request."""


def run(payload: bytes, incoming: int, outgoing: int) -> None:
    """Like answers.run, but `case["ask"]` is the function that asks the judge."""

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
            raise SystemExit  # the judge is gone
        kind, _, _, length = answers.HEAD.unpack(head)
        told = answers.read_exactly(incoming, length)
        if kind != b"TOLD":
            raise HostError("this cannot be computed; look at what was handed over, and how often")
        return list(struct.unpack(f"<{length // NUMBER_BYTES}d", told))

    return ask
