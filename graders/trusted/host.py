"""Judges a case whose host runs in the reference process: the program sends it numbers and gets numbers back.

So a learner's program can query the hidden part as often as it likes, up to a cap, but can read it nowhere.
"""

from collections.abc import Callable
from typing import Final, Protocol

from graders.contract.manifest import Tolerance
from graders.contract.results import Outcome
from graders.trusted.answers import BREACH, Ruling, judge_frame
from graders.trusted.finding_sentences import find_budget
from graders.trusted.reference import PreparedCase
from graders.trusted.wire import HEAD

ASKS, TOLD, REFUSED = b"ASKS", b"TOLD", b"NOPE"
NUMBER_BYTES: Final = 8
MAX_QUESTION_BYTES: Final = 64 << 10
MAX_QUESTIONS: Final = 20_000

Ask = Callable[[int, bytes], bytes | None]
"""(case number, question) -> answer; both are float64 values as bytes, and None means no answer."""


class Program(Protocol):
    """The part of a run that is needed here."""

    def send(self, data: bytes) -> None: ...
    def receive(self, count: int) -> bytes: ...


def judge_hosted(number: int, case: PreparedCase, tolerance: Tolerance, program: Program, ask: Ask) -> Ruling:
    """Pass questions to the host until the program answers the case; then rule on that answer as on any other."""
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
