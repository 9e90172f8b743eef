"""A case that is asked in numbers: every question is passed on or a breach, and the answer is judged as any other."""

import io
import json
import struct
from dataclasses import dataclass, field

import pytest
from judging_parts import FIXTURES, HEAD, frame

from graders.contract.manifest import Tolerance
from graders.contract.outcome_sentences import find_stumble
from graders.contract.results import Outcome
from graders.trusted import host
from graders.trusted.case import HOST, split_cases
from graders.trusted.exercise import load_exercise
from graders.trusted.faults import CheckStumbled, ExerciseProblem
from graders.trusted.host import MAX_QUESTION_BYTES, judge_hosted

HEADER = json.dumps([["found", "int", []]], separators=(",", ":")).encode()


class Ended(Exception):
    """The scripted channel holds no more bytes."""


@dataclass
class Wire:
    """What the program sends, and what it is told."""

    data: io.BytesIO
    told: list[bytes] = field(default_factory=list)

    def send(self, data: bytes) -> None:
        self.told.append(data)

    def receive(self, count: int) -> bytes:
        if len(piece := self.data.read(count)) < count:
            raise Ended
        return piece


def question(*numbers: float, case: int = 0) -> bytes:
    return frame(b"ASKS", case, b"", struct.pack(f"<{len(numbers)}d", *numbers))


@pytest.fixture
def run(reference):
    with reference.prepare(load_exercise(FIXTURES, "hidden-number"), 7) as run:
        yield run


def judge(run, *sent: bytes, ask=None):
    wire = Wire(io.BytesIO(b"".join(sent)))
    return judge_hosted(0, run.cases[0], Tolerance(), wire, ask or run.ask_host), wire.told


def right_answer(run) -> bytes:
    return frame(b"ANSW", 0, HEADER, run.cases[0].expected.body)


def test_the_host_is_asked_and_the_answer_judged(run):
    (hidden,) = struct.unpack("<q", run.cases[0].expected.body)
    ruling, told = judge(run, question(hidden - 1), question(hidden), right_answer(run))
    assert ruling.outcome is Outcome.PASSED
    assert told == [frame(b"TOLD", 0, b"", struct.pack("<d", larger)) for larger in (1.0, 0.0)]


def test_what_is_hidden_does_not_stand_in_the_question(run):
    assert b"hidden" not in run.cases[0].question.header
    assert run.cases[0].facts.hosted


@pytest.mark.parametrize("numbers", [(), (1.0, 2.0), (float("nan"),) * 3])
def test_a_question_that_cannot_be_answered_is_refused_and_more_may_follow(run, numbers):
    ruling, told = judge(run, question(*numbers), right_answer(run))
    assert ruling.outcome is Outcome.PASSED
    assert told == [HEAD.pack(b"NOPE", 0, 0, 0)]


@pytest.mark.parametrize(
    "sent",
    [
        question(1.0, case=1),
        HEAD.pack(b"ASKS", 0, 1, 8) + bytes(9),
        HEAD.pack(b"ASKS", 0, 0, 7) + bytes(7),
        HEAD.pack(b"ASKS", 0, 0, MAX_QUESTION_BYTES + 8),
        HEAD.pack(b"TOLD", 0, 0, 8) + bytes(8),
    ],
    ids=["another case", "a header", "half a number", "too long", "no question"],
)
def test_what_is_no_question_is_a_breach(run, sent):
    ruling, told = judge(run, sent, right_answer(run))
    assert (ruling.outcome, told) == (Outcome.PROTOCOL_ERROR, [])


def test_questions_without_end_are_ended(run, monkeypatch):
    monkeypatch.setattr(host, "MAX_QUESTIONS", 3)
    ruling, told = judge(run, *[question(1.0)] * 4)
    assert (ruling.outcome, ruling.finding.code, len(told)) == (Outcome.OVER_BUDGET, "too-many-calls", 3)


def test_a_host_that_gives_no_answer_stumbled_over_what_a_submission_asked(run):
    run.close()
    with pytest.raises(
        CheckStumbled, match=r"hidden-number: host\.py, in case 'up to 10' stopped with NoAnswer"
    ) as raised:
        judge(run, question(1.0))
    assert "a question of your code" in find_stumble(raised.value.mistake).long


def test_a_host_stands_beside_no_meter():
    drawn = {"name": "a", "idea": "b", "finding": "c", "public": True, "inputs": {}, HOST: 1}
    with pytest.raises(ExerciseProblem, match="'host' together with"):
        split_cases([{**drawn, "peak": {"unit_bytes": 1 << 20, "most_units": 3.0}}], ["c"])
