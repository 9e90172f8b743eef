"""Reads the one document that a free cell sends: capped, finite numbers only, its trace checked by the contract."""

import json
import math
import zlib
from dataclasses import dataclass
from typing import NoReturn

from graders.contract.limits import MAX_PACKED_TRACE_BYTES, MAX_TRACE_BYTES
from graders.contract.results import Mistake
from graders.contract.trace_check import CheckedTrace, TraceRefused, build_trace
from graders.trusted.answers import read_mistake
from graders.trusted.text import clean_text

MAX_DOCUMENT_BYTES = MAX_TRACE_BYTES + 32 * 1024
MAX_PACKED_BYTES = MAX_PACKED_TRACE_BYTES + 32 * 1024
MAX_REASON_LENGTH = 200


@dataclass(frozen=True)
class Report:
    """What the cell's process claims about its run. `trace_refused` says why a trace was not accepted; `unreadable`
    means that the cell could not be compiled."""

    ok: bool
    mistake: Mistake | None
    trace: CheckedTrace | None
    trace_refused: str
    unreadable: bool = False


def read_report(raw: bytes) -> Report | None:
    """The report, or None if the bytes are not a report."""
    if not raw or len(raw) > MAX_DOCUMENT_BYTES:
        return None
    is_dense = len(raw) > MAX_PACKED_BYTES and len(zlib.compress(raw, 6)) > MAX_PACKED_BYTES
    try:
        told = json.loads(raw, parse_constant=_refuse_number, parse_float=_finite_float)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict):
        return None
    claim = told.get("mistake") if isinstance(told.get("mistake"), dict) else None
    mistake = read_mistake(claim) if claim else None
    unreadable = claim is not None and claim.get("unreadable") is True
    trace, refused = None, clean_text(str(told.get("trace_refused") or ""), MAX_REASON_LENGTH)
    if is_dense:
        refused = "too large to show"
    elif told.get("trace") is not None:
        try:
            trace = build_trace(told["trace"])
        except TraceRefused as why:
            refused = str(why)
    return Report(told.get("ok") is True and mistake is None, mistake, trace, refused, unreadable)


def _refuse_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a finite number")


def _finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _refuse_number(text)
    return number
