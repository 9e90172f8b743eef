"""Serves one case a part of which runs in the reference process: a program asks in numbers, and gets numbers.

So a learner's program can try what the case is about as often as it likes, and can read it nowhere.
"""

from collections.abc import Callable
from typing import Final, Protocol

from graders.contract.manifest import Tolerance
from graders.contract.results import Outcome
from graders.trusted.answers import BREACH, Ruling, judge_frame
from graders.trusted.findings import find_budget
from graders.trusted.reference import PreparedCase
from graders.trusted.wire import HEAD

ASKS, TOLD, REFUSED = b"ASKS", b"TOLD", b"NOPE"
NUMBER_BYTES: Final = 8
MAX_QUESTION_BYTES: Final = 64 << 10
MAX_QUESTIONS: Final = 20_000

Ask = Callable[[int, bytes], bytes | None]
"""Case and question, as numbers of eight bytes; None where there is no answer."""


class Program(Protocol):
    """A run, as far as it is needed here."""

    def send(self, data: bytes) -> None: ...
    def receive(self, count: int) -> bytes: ...


def judge_hosted(number: int, case: PreparedCase, tolerance: Tolerance, program: Program, ask: Ask) -> Ruling:
    """Pass questions on until an answer to the case comes; then rule on that as on any other."""
    for _ in range(MAX_QUESTIONS):
        head = program.receive(HEAD.size)
        kind, asked, header_length, body_length = HEAD.unpack(head)
        if kind != ASKS:
            return judge_frame(head, number, case, tolerance, program.receive)
        if asked != number or header_length or body_length > MAX_QUESTION_BYTES or body_length % NUMBER_BYTES:
            return BREACH
        told = ask(number, program.receive(body_length))
        program.send(HEAD.pack(REFUSED if told is None else TOLD, number, 0, len(told or b"")) + (told or b""))
    finding = find_budget("too-many-calls", used=MAX_QUESTIONS, limit=MAX_QUESTIONS)
    return Ruling(Outcome.OVER_BUDGET, goes_on=False, finding=finding)
