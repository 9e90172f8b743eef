"""Reads one answer, frame by frame, and rules on it. It knows beforehand which bytes a right answer has.

Bytes from the box are never parsed to find out what they are: a header is compared with the exact bytes of the
expected one. If it differs, and for a mistake's description, a small capped text is read leniently, only to word the
finding. Nothing read that way can make an answer right.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

from pydantic import TypeAdapter, ValidationError

from graders.contract.manifest import Tolerance
from graders.contract.results import Finding, Measure, Mistake, Outcome, Schedule
from graders.trusted.compare import is_finite_where, matches
from graders.trusted.finding_sentences import Check, find_code
from graders.trusted.reference import PreparedCase
from graders.trusted.text import clean_text
from graders.trusted.wire import (
    ANSWER,
    FAILURE,
    HEAD,
    INPUTS,
    TEXTS,
    Answer,
    Frame,
    Layout,
    byte_length,
    decode_answer,
    read_layout,
)

MAX_MISTAKE_BYTES = 16 * 1024
MAX_FOREIGN_HEADER_BYTES = 4 * 1024
MAX_FOREIGN_BODY_BYTES = 1 << 20
MAX_MESSAGE_LENGTH = 1000
MAX_TRACEBACK_LENGTH = 8000
HIGHEST_LINE = 100_000
NO_MEMORY = ("can't allocate memory", "not enough memory")

LAYOUT: TypeAdapter[list[Layout]] = TypeAdapter(list[Layout])
Receive = Callable[[int], bytes]
"""Reads exactly that many bytes from the box; raises the box's own exception if they do not come."""


@dataclass(frozen=True)
class Metered:
    """What one case cost. `used` and `budget` say it in words, shown in place of the values; "" if they are not."""

    measures: tuple[Measure, ...]
    used: str = ""
    budget: str = ""
    schedule: Schedule | None = None


@dataclass(frozen=True)
class Ruling:
    """The judge's ruling on one answer. PASSED means right; `goes_on` says whether another case can be asked.

    `answer` and `frame` are set if the answer had the expected layout; `dtype` names a differing type; `finding` is
    set if it replaces the case's own finding; `check` says what a mistake has to do with the exercise's own
    check, and `check_line` where in probe.py.
    """

    outcome: Outcome
    goes_on: bool
    answer: Answer | None = None
    frame: Frame | None = None
    mistake: Mistake | None = None
    check: Check | None = None
    check_line: int | None = None
    layout: str = ""
    dtype: str = ""
    finding: Finding | None = None
    metered: Metered | None = None

    def costing(self, metered: Metered) -> "Ruling":
        return replace(self, metered=metered)


BREACH = Ruling(Outcome.PROTOCOL_ERROR, goes_on=False)


def judge_answer(number: int, case: PreparedCase, tolerance: Tolerance, receive: Receive) -> Ruling:
    """Read the answer to case `number` and rule on it."""
    return judge_frame(receive(HEAD.size), number, case, tolerance, receive)


def judge_frame(head: bytes, number: int, case: PreparedCase, tolerance: Tolerance, receive: Receive) -> Ruling:
    """As judge_answer, if the first head has been read already."""
    if not case.untouched or head[:4] == FAILURE:
        return _rule_on_answer(head, number, case, tolerance, receive)
    changed = read_inputs(head, number, case.question, receive)
    if changed is None:
        return BREACH
    ruling = _rule_on_answer(receive(HEAD.size), number, case, tolerance, receive)
    if changed and ruling.outcome in (Outcome.PASSED, Outcome.WRONG_ANSWER):
        finding = find_code("inputs-changed", changed)
        return replace(ruling, outcome=Outcome.WRONG_ANSWER, finding=finding)
    return ruling


def read_inputs(head: bytes, number: int, question: Frame, receive: Receive) -> str | None:
    """The name of an input that came back changed; "" if none is; None for a breach of the protocol."""
    kind, answered, header_length, body_length = HEAD.unpack(head)
    if kind != INPUTS or answered != number:
        return None
    longest_header = max(MAX_FOREIGN_HEADER_BYTES, len(question.header))
    if header_length > longest_header or body_length > max(MAX_FOREIGN_BODY_BYTES, len(question.body)):
        return None
    came = Frame(receive(header_length), receive(body_length))
    return "" if came == question else name_changed(came, question)


def name_changed(came: Frame, question: Frame) -> str:
    """The first input that differs. What came is read leniently: it only words a finding."""
    sent = json.loads(question.header)
    if came.header == question.header:
        start = 0
        for name, dtype, shape in sent["arrays"]:
            end = start + byte_length(dtype, shape)
            if came.body[start:end] != question.body[start:end]:
                return str(name)
            start = end
    try:
        told = json.loads(came.header)
        plain = told.get("plain") if isinstance(told, dict) else None
    except (ValueError, RecursionError):
        plain = None
    if isinstance(plain, dict):
        for name, value in sent["plain"].items():
            if name not in plain or plain[name] != value:
                return str(name)
    return ", ".join([*sent["plain"], *(name for name, *_ in sent["arrays"])])


def _rule_on_answer(head: bytes, number: int, case: PreparedCase, tolerance: Tolerance, receive: Receive) -> Ruling:
    kind, answered, header_length, body_length = HEAD.unpack(head)
    if answered != number:
        return BREACH
    if kind == FAILURE:
        return read_failure(header_length, body_length, receive)
    if kind != ANSWER:
        return BREACH
    expected = case.expected
    if header_length > max(MAX_FOREIGN_HEADER_BYTES, len(expected.header)):
        return BREACH
    header = receive(header_length)
    if header != expected.header:
        return _rule_on_foreign_layout(header, body_length, expected, receive)
    if body_length != len(expected.body):
        return BREACH
    frame = Frame(header, receive(body_length))
    return _rule_on_values(frame, expected, tolerance)


def _rule_on_values(frame: Frame, expected: Frame, tolerance: Tolerance) -> Ruling:
    layout = read_layout(expected.header)
    got, wanted = decode_answer(layout, frame.body), decode_answer(layout, expected.body)
    if not is_finite_where(got, wanted):
        outcome = Outcome.NOT_FINITE
    elif matches(got, wanted, tolerance):
        outcome = Outcome.PASSED
    else:
        outcome = Outcome.WRONG_ANSWER
    return Ruling(outcome, goes_on=True, answer=got, frame=frame)


def _rule_on_foreign_layout(header: bytes, body_length: int, expected: Frame, receive: Receive) -> Ruling:
    """Name what differs. The body is read only to reach the next frame, and only if its length fits the layout."""
    try:
        given = LAYOUT.validate_json(header, strict=False)
    except ValidationError:
        return BREACH
    wanted = read_layout(expected.header)
    if [name for name, *_ in given] != [name for name, *_ in wanted]:
        return BREACH
    if any(min(shape, default=0) < 0 for *_, shape in given):
        return BREACH
    if body_length > MAX_FOREIGN_BODY_BYTES or body_length != sum(byte_length(d, s) for _, d, s in given):
        return BREACH
    receive(body_length)
    differs = [(g, w) for g, w in zip(given, wanted, strict=True) if g != w]
    if not differs:
        return BREACH
    (_, dtype, shape), (_, wanted_dtype, _) = differs[0]
    words = f"{clean_text(dtype, 40)} of shape {list(shape)}" if dtype not in TEXTS else "another text"
    if dtype != wanted_dtype:
        return Ruling(Outcome.WRONG_DTYPE, goes_on=True, layout=words, dtype=dtype)
    outcome = Outcome.WRONG_ANSWER if dtype in TEXTS else Outcome.WRONG_SHAPE
    return Ruling(outcome, goes_on=True, layout=words)


def read_failure(header_length: int, body_length: int, receive: Receive) -> Ruling:
    """Rule on a mistake that the learner's process reports."""
    if header_length or body_length > MAX_MISTAKE_BYTES:
        return BREACH
    try:
        told = json.loads(receive(body_length))
    except (ValueError, RecursionError):
        return BREACH
    if not isinstance(told, dict):
        return BREACH
    mistake, check_line = read_mistake(told), read_line(told.get("check_line"))
    outcome = outcome_of_mistake(mistake, unreadable=told.get("unreadable") is True)
    goes_on = told.get("stage") == "case" and outcome is Outcome.RUNTIME_ERROR
    return Ruling(outcome, goes_on=goes_on, mistake=mistake, check=read_check(told), check_line=check_line)


def read_check(told: dict[str, object]) -> Check | None:
    """What a mistake has to do with the exercise's own check, as the learner's process claims."""
    match told.get("check"):
        case "says":
            return Check.SAYS
        case "misses":
            return Check.MISSES
        case "stumbles":
            return Check.STUMBLES
    return None


def read_mistake(told: dict[str, object]) -> Mistake:
    """What a learner's process claims about its own error, made safe to show."""
    return Mistake(
        type=clean_text(str(told.get("type") or "Error"), 100),
        message=clean_text(str(told.get("message") or ""), MAX_MESSAGE_LENGTH),
        line=read_line(told.get("line")),
        traceback=clean_text(str(told.get("traceback") or ""), MAX_TRACEBACK_LENGTH),
    )


def read_line(line: object) -> int | None:
    return line if isinstance(line, int) and not isinstance(line, bool) and 1 <= line <= HIGHEST_LINE else None


def outcome_of_mistake(mistake: Mistake, *, unreadable: bool) -> Outcome:
    """SYNTAX_ERROR for a file that Python cannot compile, MEMORY_LIMIT if memory ran out, else RUNTIME_ERROR."""
    if unreadable:
        return Outcome.SYNTAX_ERROR
    if mistake.type in ("MemoryError", "OutOfMemoryError") or any(words in mistake.message for words in NO_MEMORY):
        return Outcome.MEMORY_LIMIT
    return Outcome.RUNTIME_ERROR
