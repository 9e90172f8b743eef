"""How a run ended, and what the learner hears of it."""

from dataclasses import replace

import pytest
from judging_parts import (
    EXITED,
    HEAD,
    ScriptedBox,
    ScriptedRun,
    answer_rightly,
    failure,
    frame,
    judge,
    run_cell,
    scaled_answer,
)

from graders.box.interface import BoxClosed, BoxRequest, Cause
from graders.contract.results import Outcome


@pytest.mark.parametrize("code", [0, 1])
def test_leaving_before_the_last_answer_is_no_result_whatever_the_exit_code(reference, code):
    def leave_after_two(case, inputs):
        return answer_rightly(case, inputs) if case < 2 else b""

    verdict = judge(ScriptedBox(leave_after_two, replace(EXITED, exit_code=code)), reference)
    assert (verdict.outcome, verdict.cases_passed) == (Outcome.NO_RESULT, 2)
    assert verdict.finding is not None
    assert verdict.finding.code == "no-result"


@pytest.mark.parametrize(
    ("cause", "signal", "outcome", "code"),
    [
        (Cause.CPU_LIMIT, 9, Outcome.TIME_LIMIT, "too-slow"),
        (Cause.WALL_LIMIT, 9, Outcome.TIME_LIMIT, "too-slow"),
        (Cause.MEMORY_LIMIT, 9, Outcome.MEMORY_LIMIT, "memory-limit"),
        (Cause.OUTPUT_LIMIT, 9, Outcome.OUTPUT_LIMIT, "output-limit"),
        (Cause.CANCELLED, 9, Outcome.CANCELLED, "cancelled"),
        (Cause.SIGNALLED, 31, Outcome.FORBIDDEN, "forbidden"),
        (Cause.SIGNALLED, 11, Outcome.CRASHED, "crashed"),
    ],
)
def test_what_the_kernel_says_of_a_silent_run_is_its_outcome(reference, cause, signal, outcome, code):
    ending = replace(EXITED, cause=cause, exit_code=None, signal=signal)
    verdict = judge(ScriptedBox(lambda case, inputs: b"", ending), reference)
    assert (verdict.outcome, verdict.finding and verdict.finding.code) == (outcome, code)


BUSY = replace(EXITED, cause=Cause.WALL_LIMIT, exit_code=None, signal=9, machine_was_busy=True)


def test_a_run_that_waited_for_a_processor_until_its_time_was_over_is_tried_again(reference):
    box = ScriptedBox(lambda case, inputs: b"" if len(box.runs) == 1 else answer_rightly(case, inputs), BUSY)

    assert judge(box, reference).outcome is Outcome.PASSED
    assert len(box.runs) == 2


def test_a_machine_that_is_too_busy_twice_is_our_fault_and_says_so(reference):
    box = ScriptedBox(lambda case, inputs: b"", BUSY)
    verdict = judge(box, reference)

    assert (verdict.outcome, verdict.finding and verdict.finding.code) == (Outcome.GRADER_FAULT, "machine-busy")
    assert not verdict.costs_an_attempt
    assert len(box.runs) == 2
    end = run_cell(ScriptedBox(ending=BUSY), reference)
    assert (end.outcome, end.finding and end.finding.code) == (Outcome.GRADER_FAULT, "machine-busy")


def test_a_wrong_answer_before_a_busy_machine_is_what_the_learner_hears_of(reference):
    def wrong_then_gone(case, inputs):
        return scaled_answer(case, inputs["numbers"]) if case == 0 else b""

    assert judge(ScriptedBox(wrong_then_gone, BUSY), reference).outcome is Outcome.WRONG_ANSWER


def test_a_wrong_answer_before_a_silent_end_is_what_the_learner_hears_of(reference):
    def wrong_then_gone(case, inputs):
        return scaled_answer(case, inputs["numbers"]) if case == 0 else b""

    verdict = judge(ScriptedBox(wrong_then_gone), reference)
    assert (verdict.outcome, len(verdict.cases), verdict.cases_total) == (Outcome.WRONG_ANSWER, 1, 3)


def test_a_breach_of_the_protocol_ends_the_session(reference):
    box = ScriptedBox(lambda case, inputs: frame(b"PASS", case, b"", b""))
    verdict = judge(box, reference)
    assert (verdict.outcome, len(box.runs[0].cases)) == (Outcome.PROTOCOL_ERROR, 1)


def test_an_answer_that_runs_ahead_is_a_breach(reference):
    verdict = judge(ScriptedBox(lambda case, inputs: answer_rightly(case, inputs) + b"\0" * HEAD.size), reference)
    assert verdict.outcome is Outcome.PROTOCOL_ERROR


class GoneRun(ScriptedRun):
    """Its child answered, and ended before the case was written."""

    def send(self, data: bytes) -> None:
        super().send(data)
        raise BoxClosed("the program ended before it read everything")


class GoneBox(ScriptedBox):
    def start(self, request: BoxRequest) -> ScriptedRun:
        return GoneRun(request, self.respond, self.ending)


def test_a_mistake_at_load_is_heard_from_a_child_that_is_gone_already(reference):
    told = {"stage": "load", "type": "ModuleNotFoundError", "message": "No module named 'torch'"}
    verdict = judge(GoneBox(lambda case, inputs: failure(0, **told)), reference)
    assert (verdict.outcome, verdict.finding.code) == (Outcome.RUNTIME_ERROR, "missing-module")


def test_a_child_that_is_gone_without_a_word_gives_no_result(reference):
    assert judge(GoneBox(lambda case, inputs: b""), reference).outcome is Outcome.NO_RESULT


def test_a_broken_box_is_our_fault_and_costs_no_attempt(reference):
    verdict = judge(ScriptedBox(broken=True), reference)
    assert verdict.outcome is Outcome.GRADER_FAULT
    assert not verdict.outcome.costs_an_attempt
