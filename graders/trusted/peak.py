"""Judges a case by its answer and by the memory that its program took, as the kernel counted it.

The learner's file is sent only after the baseline has been read, so it cannot raise the baseline. Costs that the
process reports itself are shown as its own claim and read leniently: no credit depends on them.
"""

import json
import math
from dataclasses import dataclass
from typing import Final, Protocol

from graders.contract.chart import FORWARDS, HELD
from graders.contract.manifest import Tolerance
from graders.contract.results import Measure, MeasuredBy, Outcome
from graders.trusted.answers import BREACH, Metered, Ruling, judge_frame
from graders.trusted.case import PeakSpec
from graders.trusted.faults import GraderFault
from graders.trusted.finding_sentences import find_budget
from graders.trusted.reference import PreparedCase
from graders.trusted.text import clean_text
from graders.trusted.wire import CASE, HEAD, Frame

HERE, CODE, SAID = b"HERE", b"CODE", b"SAID"
MAX_REPORT_LENGTH: Final = 4096
MAX_REPORTED: Final = 4
MAX_NAME_LENGTH: Final = 40
UNITS: Final = {FORWARDS: "steps"}


class Reading(Protocol):
    """The memory that the kernel has charged to a program: now, and the most since it began."""

    @property
    def now_bytes(self) -> int: ...
    @property
    def peak_bytes(self) -> int: ...


class Program(Protocol):
    """The part of a run that is needed here."""

    def send(self, data: bytes) -> None: ...
    def receive(self, count: int) -> bytes: ...
    def read_memory(self) -> Reading | None: ...


def read_baseline(number: int, case: PreparedCase, program: Program) -> int:
    """Have the case prepared; returns the bytes that the process then takes. Raises GraderFault if that fails."""
    program.send(case.question.numbered(CASE, number))
    head = program.receive(HEAD.size)
    if head != HEAD.pack(HERE, number, 0, 0):
        raise GraderFault(f"the case {case.facts.name!r} was not prepared; look at probe.py")
    return _read(case, program).now_bytes


@dataclass(frozen=True)
class Submitted:
    """The learner's file, the bytes that the process took before it got the file, and the answer's tolerance."""

    source: str
    baseline_bytes: int
    tolerance: Tolerance


def judge_peak(number: int, case: PreparedCase, submitted: Submitted, program: Program) -> Ruling:
    """Send the learner's file, and rule first on the answer, then on its cost."""
    program.send(Frame(b"", json.dumps({"source": submitted.source}).encode()).numbered(CODE, number))
    head = program.receive(HEAD.size)
    kind, answered, header_length, body_length = HEAD.unpack(head)
    reported: tuple[Measure, ...] = ()
    if kind == SAID:
        if answered != number or header_length or body_length > MAX_REPORT_LENGTH:
            return BREACH
        reported = read_report(program.receive(body_length))
        head = program.receive(HEAD.size)
    ruling = judge_frame(head, number, case, submitted.tolerance, program.receive)
    # The kernel's peak never falls, so read after the answer it includes all memory that the answer took.
    taken_bytes = _read(case, program).peak_bytes - submitted.baseline_bytes
    assert case.facts.peak is not None
    return weigh(ruling, case.facts.peak, taken_bytes, reported)


def weigh(ruling: Ruling, order: PeakSpec, taken_bytes: int, reported: tuple[Measure, ...]) -> Ruling:
    """The ruling with its measures added; OVER_BUDGET for a right answer that took more than the budget."""
    units, most = round(max(0, taken_bytes) / order.unit_bytes, 2), order.most_units
    held = Measure(name=HELD, value=units, unit="units", measured_by=MeasuredBy.KERNEL, most=most)
    measures = (*reported, held)
    if ruling.outcome is not Outcome.PASSED:
        return ruling.costing(Metered(measures))
    used = f"units held: at most {units:.1f}, of {order.unit_bytes / 2**20:g} MiB each"
    metered = Metered(measures, used, f"units held: at most {most:g}")
    if units <= most:
        return ruling.costing(metered)
    finding = find_budget("too-much-held", used=f"{units:.1f}", limit=f"{most:g}")
    return Ruling(Outcome.OVER_BUDGET, goes_on=True, finding=finding, metered=metered)


def read_report(raw: bytes) -> tuple[Measure, ...]:
    """The counts that the learner's process claims, by name; anything else in its report is ignored."""
    try:
        told = json.loads(raw)
    except (ValueError, RecursionError):
        return ()
    pairs = told.items() if isinstance(told, dict) else ()
    counts = [(name, value) for name, value in pairs if _is_count(value) and name != HELD]
    said_by = MeasuredBy.LEARNER_PROCESS
    return tuple(
        Measure(name=clean_text(name, MAX_NAME_LENGTH), value=value, unit=UNITS.get(name, ""), measured_by=said_by)
        for name, value in counts[:MAX_REPORTED]
    )


def _is_count(value: object) -> bool:
    return (
        isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e9 and math.isfinite(value)
    )


def _read(case: PreparedCase, program: Program) -> Reading:
    reading = program.read_memory()
    if reading is None:
        raise GraderFault(
            f"the case {case.facts.name!r} is judged by its peak, which the kernel does not measure here: give the "
            "worker a memory control group that it may write to (graders/README.md, Profiles)"
        )
    return reading
