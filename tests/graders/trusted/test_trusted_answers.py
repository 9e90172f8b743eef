"""One answer and what the judge says of it: the exact bytes, or a name for what differs."""

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judging_parts import HEAD, failure, frame

from graders.contract.manifest import Tolerance
from graders.contract.results import Outcome
from graders.trusted.answers import MAX_FOREIGN_BODY_BYTES, MAX_MISTAKE_BYTES, judge_answer
from graders.trusted.case import CaseFacts
from graders.trusted.finding_sentences import find_code
from graders.trusted.reference import PreparedCase
from graders.trusted.wire import Frame, encode_answer, encode_case

EXACT = Tolerance(absolute=1e-6, relative=0.0)
FACTS = CaseFacts(name="one", idea="it", finding="off", public=True)
EXPECTED = encode_answer({"g": np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), "n": 3, "s": "abc"})


class Ended(Exception):
    """The scripted channel holds no more bytes."""


class Channel:
    """Bytes to be read, and how many were asked for at once."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.largest = 0

    def receive(self, count: int) -> bytes:
        self.largest = max(self.largest, count)
        if len(self.data) < count:
            raise Ended
        piece, self.data = self.data[:count], self.data[count:]
        return piece


def rule(data: bytes, case: int = 0, expected: Frame = EXPECTED):
    prepared = PreparedCase(FACTS, Frame(b"{}", b""), expected)
    return judge_answer(case, prepared, EXACT, Channel(data).receive)


def answer(case: int = 0, **changes: object) -> bytes:
    values = {"g": np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), "n": 3, "s": "abc", **changes}
    encoded = encode_answer(values)
    return frame(b"ANSW", case, encoded.header, encoded.body)


def header_of(layout: object) -> bytes:
    return json.dumps(layout, separators=(",", ":")).encode()


def test_the_expected_bytes_pass():
    assert rule(answer()).outcome is Outcome.PASSED


def test_values_within_the_tolerance_pass_and_beyond_it_do_not():
    near = np.array([[1.0, 2.0], [3.0, 4.0 + 5e-7]], np.float64).astype(np.float32)
    far = np.array([[1.0, 2.0], [3.0, 4.001]], np.float32)
    assert rule(answer(g=near)).outcome is Outcome.PASSED
    assert rule(answer(g=far)).outcome is Outcome.WRONG_ANSWER


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_never_passes(value):
    assert rule(answer(g=np.array([[1.0, 2.0], [3.0, value]], np.float32))).outcome is Outcome.NOT_FINITE


@pytest.mark.parametrize("expected", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("got", [np.inf, -np.inf, np.nan, -1e300, 1e300, 0.0])
def test_an_expected_infinity_or_nan_is_matched_by_itself_alone(got, expected):
    frames = [encode_answer({"g": np.array([1.0, value])}) for value in (got, expected)]
    outcome = rule(frame(b"ANSW", 0, frames[0].header, frames[0].body), expected=frames[1]).outcome
    same = got == expected or (np.isnan(got) and np.isnan(expected))
    assert outcome is (Outcome.PASSED if same else Outcome.WRONG_ANSWER)


def test_nan_in_place_of_a_number_is_not_finite_beside_an_expected_infinity_too():
    frames = [encode_answer({"g": np.array([value, np.inf])}) for value in (np.nan, 1.0)]
    assert rule(frame(b"ANSW", 0, frames[0].header, frames[0].body), expected=frames[1]).outcome is Outcome.NOT_FINITE


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({"n": 4}, Outcome.WRONG_ANSWER),
        ({"s": "abd"}, Outcome.WRONG_ANSWER),
        ({"s": "abcd"}, Outcome.WRONG_ANSWER),
        ({"n": 3.0}, Outcome.WRONG_DTYPE),
        ({"n": True}, Outcome.WRONG_DTYPE),
        ({"g": np.ones((2, 2), np.float64)}, Outcome.WRONG_DTYPE),
        ({"g": np.ones((2, 3), np.float32)}, Outcome.WRONG_SHAPE),
        ({"g": np.array(1.0, np.float32)}, Outcome.WRONG_SHAPE),
        ({"g": [1.0, 2.0]}, Outcome.WRONG_DTYPE),
    ],
)
def test_what_differs_has_a_name_and_the_next_case_can_be_asked(changes, outcome):
    ruling = rule(answer(**changes))
    assert (ruling.outcome, ruling.goes_on) == (outcome, True)


def test_a_value_without_bytes_is_named_by_its_type():
    header = header_of([["g", "NoneType", []], ["n", "int", []], ["s", "str", [3]]])
    ruling = rule(frame(b"ANSW", 0, header, struct.pack("<q", 3) + b"abc"))
    assert (ruling.outcome, ruling.dtype) == (Outcome.WRONG_DTYPE, "NoneType")


@pytest.mark.parametrize(
    "data",
    [
        frame(b"PASS", 0, EXPECTED.header, EXPECTED.body),
        frame(b"ANSW", 1, EXPECTED.header, EXPECTED.body),
        frame(b"ANSW", 0, EXPECTED.header, EXPECTED.body + b"\0"),
        frame(b"ANSW", 0, EXPECTED.header, EXPECTED.body[:-1]),
        frame(b"ANSW", 0, b"not json", b""),
        frame(b"ANSW", 0, b"[" * 4000, b""),
        frame(b"ANSW", 0, header_of([["g", "float32", [2, 2]]]), bytes(16)),
        frame(b"ANSW", 0, header_of([["g", "float32", [-2, 2]], ["n", "int", []], ["s", "str", [3]]]), b""),
        frame(b"ANSW", 0, json.dumps(json.loads(EXPECTED.header)).encode(), EXPECTED.body),
        HEAD.pack(b"ANSW", 0, 0xFFFF_FFFF, 0),
        HEAD.pack(b"ANSW", 0, len(EXPECTED.header), 0xFFFF_FFFF) + EXPECTED.header,
        HEAD.pack(b"FAIL", 0, 0, MAX_MISTAKE_BYTES + 1),
        HEAD.pack(b"FAIL", 0, 4, 0) + b"    ",
        frame(b"FAIL", 0, b"", b"[" * 10_000),
        frame(b"FAIL", 0, b"", b'{"line": ' + b"9" * 5000 + b"}"),
        frame(b"FAIL", 0, b"", b"[1]"),
    ],
)
def test_anything_else_is_a_breach_and_ends_the_session(data):
    ruling = rule(data)
    assert (ruling.outcome, ruling.goes_on) == (Outcome.PROTOCOL_ERROR, False)


def test_a_foreign_layout_with_a_huge_body_is_not_read():
    header = header_of([["g", "float32", [1 << 20, 1 << 20]], ["n", "int", []], ["s", "str", [3]]])
    channel = Channel(HEAD.pack(b"ANSW", 0, len(header), 0xFFFF_FFF0) + header)
    prepared = PreparedCase(FACTS, Frame(b"{}", b""), EXPECTED)
    assert judge_answer(0, prepared, EXACT, channel.receive).outcome is Outcome.PROTOCOL_ERROR
    assert channel.largest < 1000


def test_a_mistakes_text_is_cut_and_cleaned():
    mistake = rule(failure(0, type="E\x1b", message="a\u202eb" * 1000, line=-5, traceback=17, stage="case")).mistake
    assert mistake is not None
    assert (mistake.type, mistake.line, mistake.traceback) == ("E", None, "17")
    assert "\u202e" not in mistake.message
    assert len(mistake.message) < 1010


INPUTS = {"steps": [1, 2.5], "x": np.array([1.0, 2.0]), "y": np.array([3.0])}


def rule_with_inputs(came: bytes, data: bytes):
    prepared = PreparedCase(FACTS, encode_case(INPUTS), EXPECTED, untouched=True)
    return judge_answer(0, prepared, EXACT, Channel(came + data).receive)


def back(**changes: object) -> bytes:
    return encode_case(INPUTS | changes).numbered(b"INPT", 0)


def test_inputs_that_come_back_as_they_went_leave_the_ruling_to_the_answer():
    assert rule_with_inputs(back(), answer()).outcome is Outcome.PASSED
    wrong = rule_with_inputs(back(), answer(n=4))
    assert (wrong.outcome, wrong.finding) == (Outcome.WRONG_ANSWER, None)


@pytest.mark.parametrize(
    ("came", "name"),
    [
        (back(x=np.array([1.0, 2.0 + 1e-15])), "x"),
        (back(y=np.array([-3.0])), "y"),
        (back(steps=[1, 2.5, 3]), "steps"),
        (back(x=np.array([1.0, 2.0, 3.0])), "steps, x, y"),
        (HEAD.pack(b"INPT", 0, 0, 0), "steps, x, y"),
        (frame(b"INPT", 0, b"[" * 4000, b""), "steps, x, y"),
        (frame(b"INPT", 0, b'{"plain": 1}', b""), "steps, x, y"),
    ],
)
@pytest.mark.parametrize("values", [{}, {"n": 4}], ids=["a right answer", "a wrong answer"])
def test_an_input_that_changed_is_named_and_no_answer_makes_up_for_it(came, name, values):
    ruling = rule_with_inputs(came, answer(**values))
    assert (ruling.outcome, ruling.goes_on, ruling.finding) == (
        Outcome.WRONG_ANSWER,
        True,
        find_code("inputs-changed", name),
    )


def test_what_says_more_than_a_changed_input_is_said_first():
    changed = back(x=np.zeros(2))
    assert rule_with_inputs(changed, answer(g=np.ones((2, 3), np.float32))).outcome is Outcome.WRONG_SHAPE
    assert rule_with_inputs(b"", failure(0, type="KeyError", stage="case")).outcome is Outcome.RUNTIME_ERROR


@pytest.mark.parametrize(
    "came",
    [
        b"",
        encode_case(INPUTS).numbered(b"INPT", 1),
        HEAD.pack(b"INPT", 0, 0xFFFF_FFFF, 0),
        HEAD.pack(b"INPT", 0, 0, 0xFFFF_FFFF),
        encode_case(INPUTS).numbered(b"CASE", 0),
    ],
)
def test_an_answer_without_its_inputs_is_a_breach(came):
    ruling = rule_with_inputs(came, answer())
    assert (ruling.outcome, ruling.goes_on) == (Outcome.PROTOCOL_ERROR, False)


@given(st.binary(max_size=400) | st.builds(lambda tail: answer()[:20] + tail, st.binary(max_size=200)))
def test_no_bytes_but_the_right_ones_pass_and_nothing_is_raised_but_the_end(data):
    channel = Channel(data)
    try:
        ruling = judge_answer(0, PreparedCase(FACTS, Frame(b"{}", b""), EXPECTED), EXACT, channel.receive)
    except Ended:
        pass
    else:
        assert ruling.outcome is not Outcome.PASSED or data.startswith(answer())
    assert channel.largest <= max(MAX_FOREIGN_BODY_BYTES, MAX_MISTAKE_BYTES)


@given(st.binary(max_size=600))
def test_any_claim_of_a_mistake_is_told_or_is_a_breach(body):
    assert rule(frame(b"FAIL", 0, b"", body)).outcome is not Outcome.PASSED
