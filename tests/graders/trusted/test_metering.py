"""A program before a metered machine, as bytes: every request is served, counted, or a breach."""

import contextlib
import io
import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graders.contract.results import MeasuredBy, Outcome
from graders.trusted.case import MachineOrder
from graders.trusted.machine import Machine
from graders.trusted.metering import MOST_CALLS, judge_schedule

HEAD = struct.Struct("<4sIII")
ONE_LAYER = b"".join(
    [HEAD.pack(b"FWRD", 0, 0, 0), HEAD.pack(b"LOSS", 0, 0, 1), HEAD.pack(b"PULL", 0, 0, 0), struct.pack("<I", 2)]
)


class Ended(Exception):
    """The scripted channel holds no more bytes."""


class Wire:
    """What the program sends, and what it is told."""

    def __init__(self, data: bytes) -> None:
        self.data = io.BytesIO(data)
        self.told: list[bytes] = []
        self.largest = 0

    def receive(self, count: int) -> bytes:
        self.largest = max(self.largest, count)
        piece = self.data.read(count)
        if len(piece) < count:
            raise Ended
        return piece


def judge(data: bytes, number: int = 0, **order: object):
    wire = Wire(data)
    machine = Machine(MachineOrder(layers=1, **order), np.random.default_rng(0))
    return judge_schedule(number, machine, wire.told.append, wire.receive), wire


def done(handle: int) -> bytes:
    return HEAD.pack(b"DONE", 0, 0, handle)


def test_the_gradient_within_the_budget_passes_and_every_request_is_answered():
    ruling, wire = judge(ONE_LAYER + done(3), most_forwards=1, most_held=4)
    assert ruling.outcome is Outcome.PASSED
    assert wire.told == [struct.pack("<4sI", b"GAVE", number) for number in (1, 2, 3)]
    assert [(m.name, m.value, m.measured_by) for m in ruling.metered.measures] == [
        ("forward steps", 1, MeasuredBy.JUDGE),
        ("most held at once", 4, MeasuredBy.JUDGE),
    ]


@pytest.mark.parametrize(
    ("budget", "code"),
    [({"most_held": 3}, "too-much-held"), ({"most_forwards": 1}, "too-many-forwards")],
)
def test_a_right_gradient_beyond_the_budget_is_told_so_with_both_numbers(budget, code):
    ruling, _ = judge(
        HEAD.pack(b"FWRD", 0, 0, 0) + HEAD.pack(b"FREE", 0, 0, 1) + shift(ONE_LAYER) + done(4), **budget
    )
    assert (ruling.outcome, ruling.finding.code, ruling.goes_on) == (Outcome.OVER_BUDGET, code, True)
    used, limit = {"too-much-held": (4, 3), "too-many-forwards": (2, 1)}[code]
    assert f"{used} " in ruling.finding.short
    assert f"{limit} are allowed" in ruling.finding.short


def shift(data: bytes) -> bytes:
    """The same requests after one more state was made."""
    return b"".join(
        [HEAD.pack(b"FWRD", 0, 0, 0), HEAD.pack(b"LOSS", 0, 0, 2), HEAD.pack(b"PULL", 0, 0, 0), struct.pack("<I", 3)]
    )


@pytest.mark.parametrize("handle", [0, 1, 2, 77, 2**32 - 1])
def test_any_other_number_is_a_wrong_answer(handle):
    ruling, _ = judge(ONE_LAYER + done(handle))
    assert (ruling.outcome, ruling.goes_on) == (Outcome.WRONG_ANSWER, True)


def test_no_gradient_is_nothing_returned():
    ruling, _ = judge(HEAD.pack(b"NONE", 0, 0, 0))
    assert (ruling.outcome, ruling.dtype) == (Outcome.WRONG_DTYPE, "NoneType")


def test_a_refusal_is_told_and_the_program_may_go_on():
    ruling, wire = judge(HEAD.pack(b"FWRD", 0, 9, 0) + ONE_LAYER + done(3))
    assert wire.told[0] == struct.pack("<4sI", b"NOPE", 2)
    assert ruling.outcome is Outcome.PASSED


def test_an_error_of_the_program_is_its_mistake():
    body = json.dumps({"type": "E", "message": "m", "line": 3, "stage": "case"}).encode()
    ruling, _ = judge(HEAD.pack(b"FAIL", 0, 0, len(body)) + body)
    assert (ruling.outcome, ruling.mistake.line, ruling.goes_on) == (Outcome.RUNTIME_ERROR, 3, True)


@pytest.mark.parametrize(
    "data",
    [
        HEAD.pack(b"DONE", 1, 0, 0),
        HEAD.pack(b"ANSW", 0, 0, 0),
        HEAD.pack(b"PASS", 0, 0, 0),
        HEAD.pack(b"FAIL", 0, 0, 2**32 - 1),
        HEAD.pack(b"FAIL", 0, 9, 0),
        bytes(16),
    ],
)
def test_anything_else_is_a_breach(data):
    ruling, _ = judge(data)
    assert (ruling.outcome, ruling.goes_on) == (Outcome.PROTOCOL_ERROR, False)


def test_a_program_that_never_ends_is_ended():
    ruling, _ = judge(HEAD.pack(b"FREE", 0, 0, 0) + HEAD.pack(b"LOSS", 0, 0, 0) * (MOST_CALLS + 1))
    assert (ruling.outcome, ruling.goes_on) == (Outcome.OVER_BUDGET, False)
    assert ruling.finding.code == "too-many-calls"


REQUEST = st.builds(
    HEAD.pack,
    st.sampled_from([b"FWRD", b"LOSS", b"PULL", b"FREE", b"DONE", b"NONE", b"FAIL"]),
    st.just(0),
    *[st.integers(0, 6) | st.integers(0, 2**32 - 1)] * 2,
)


@given(st.lists(REQUEST | st.binary(max_size=20), max_size=30))
def test_any_requests_are_served_ruled_on_or_end_and_nothing_long_is_read(pieces):
    wire = Wire(b"".join(pieces))
    machine = Machine(MachineOrder(layers=1), np.random.default_rng(0))
    with contextlib.suppress(Ended):
        judge_schedule(0, machine, wire.told.append, wire.receive)
    assert wire.largest <= 16 * 1024
