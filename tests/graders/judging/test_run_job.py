"""A job from start to end, with scripted bytes in place of the box and the real reference process."""

import json
import shutil
import struct
import threading
from dataclasses import replace

import pytest
from judging_parts import (
    EXITED,
    FIXTURES,
    HEAD,
    ScriptedBox,
    ScriptedRun,
    answer_rightly,
    failure,
    frame,
    scaled_answer,
)

from graders.box.interface import BoxClosed, BoxRequest, Cause
from graders.contract.events import EventKind, Output
from graders.contract.exercise_files import NEEDED_FILES
from graders.contract.jobs import Diagnosed, Flavour, GradeJob, RunJob
from graders.contract.outcome_sentences import find_other_version
from graders.contract.results import MeasuredBy, Outcome, RunEnd, Verdict
from graders.judging.run_job import run_job
from graders.trusted.exercise import read_digest

JOB = GradeJob(exercise="scaling", source="irrelevant: the box is scripted")


def judge(box, reference, job=JOB, events=None, cancelled=None, root=FIXTURES) -> Verdict:
    heard = events if events is not None else []
    verdict = run_job(job, box, root, reference, lambda *event: heard.append(event), cancelled or threading.Event())
    assert isinstance(verdict, Verdict)
    return verdict


def run_cell(box, reference, events=None, **asked) -> RunEnd:
    heard = events if events is not None else []
    job = RunJob(source="print(1)", **asked)
    end = run_job(job, box, FIXTURES, reference, lambda *event: heard.append(event), threading.Event())
    assert isinstance(end, RunEnd)
    return end


def test_right_answers_to_every_case_pass(reference):
    verdict = judge(ScriptedBox(), reference)
    assert (verdict.outcome, verdict.finding, verdict.cases_passed, verdict.cases_total) == (
        Outcome.PASSED,
        None,
        3,
        3,
    )
    assert verdict.profile == "P1"


def test_a_host_that_has_only_the_files_that_judge_can_judge(reference, tmp_path):
    (tmp_path / "scaling").mkdir()
    for name in NEEDED_FILES:
        shutil.copy(FIXTURES / "scaling" / name, tmp_path / "scaling" / name)
    assert judge(ScriptedBox(), reference, root=tmp_path).outcome is Outcome.PASSED


def test_a_verdict_names_the_version_that_judged(reference):
    digest = read_digest(FIXTURES, "scaling")
    asked = JOB.model_copy(update={"exercise_digest": digest})
    assert judge(ScriptedBox(), reference, asked).exercise_digest == judge(ScriptedBox(), reference).exercise_digest
    assert judge(ScriptedBox(), reference, asked).exercise_digest == digest


def test_another_version_of_the_exercise_is_not_judged(reference, caplog):
    box = ScriptedBox()
    verdict = judge(box, reference, JOB.model_copy(update={"exercise_digest": "0123456789abcdef"}))
    assert (verdict.outcome, verdict.finding) == (Outcome.GRADER_FAULT, find_other_version("scaling"))
    assert (verdict.exercise_digest, box.runs) == ("", [])
    for words in ("scaling", read_digest(FIXTURES, "scaling"), "0123456789abcdef"):
        assert words in caplog.text


def test_a_case_goes_in_only_when_the_one_before_is_answered(reference):
    box = ScriptedBox()
    judge(box, reference)
    log = [entry for number, entry in enumerate(box.runs[0].log) if entry != box.runs[0].log[number - 1]]
    assert log == ["case 0", "answer", "case 1", "answer", "case 2", "answer"]


def test_inputs_are_new_in_every_run(reference):
    box = ScriptedBox()
    judge(box, reference)
    judge(box, reference)
    assert box.runs[0].cases != box.runs[1].cases


def test_neither_seed_nor_solution_nor_expected_values_go_into_the_box(reference):
    box = ScriptedBox()
    judge(box, reference)
    order = json.loads(box.runs[0].request.payload)
    assert order.keys() == {"probe", "source"}
    assert all(case.keys() == {"numbers", "factor"} for case in box.runs[0].cases)


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


def test_the_first_failing_case_gives_the_finding_and_later_cases_are_still_asked(reference):
    def wrong_once(case, inputs):
        return scaled_answer(case, inputs["numbers"]) if case == 1 else answer_rightly(case, inputs)

    verdict = judge(ScriptedBox(wrong_once), reference)
    assert [case.passed for case in verdict.cases] == [True, False, True]
    assert (verdict.outcome, verdict.finding) == (Outcome.WRONG_ANSWER, verdict.cases[1].finding)
    assert verdict.finding is not None
    assert verdict.finding.code == "unchanged"


@pytest.mark.parametrize(
    ("numbers", "outcome", "code"),
    [([1.0], Outcome.WRONG_SHAPE, "too-few"), ([1.0, float("nan")], Outcome.NOT_FINITE, "not-finite")],
)
def test_a_case_may_have_words_of_its_own_for_an_outcome(reference, numbers, outcome, code):
    verdict = judge(ScriptedBox(lambda case, inputs: scaled_answer(case, numbers)), reference)
    assert (verdict.outcome, verdict.finding and verdict.finding.code) == (outcome, code)


def test_a_diagnosis_that_fails_leaves_the_finding_of_the_case(reference):
    verdict = judge(ScriptedBox(lambda case, inputs: scaled_answer(case, [13.0] + [0.0] * (case + 1))), reference)
    assert verdict.finding is not None
    assert verdict.finding.code == "not-scaled"


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


def test_an_error_in_one_case_is_told_with_its_line_and_the_next_case_is_asked(reference):
    def fail_first(case, inputs):
        told = {"type": "ValueError", "message": "no", "line": 3, "traceback": "...", "stage": "case"}
        return failure(case, **told) if case == 0 else answer_rightly(case, inputs)

    verdict = judge(ScriptedBox(fail_first), reference)
    assert [case.passed for case in verdict.cases] == [False, True, True]
    assert verdict.outcome is Outcome.RUNTIME_ERROR
    assert verdict.mistake is not None
    assert (verdict.mistake.type, verdict.mistake.line) == ("ValueError", 3)
    assert verdict.finding is not None
    assert verdict.finding.long == "It was raised on line 3 of your file."


@pytest.mark.parametrize(
    ("told", "outcome", "code"),
    [
        (
            {"type": "SyntaxError", "message": "x", "line": 1, "unreadable": True},
            Outcome.SYNTAX_ERROR,
            "syntax-error",
        ),
        ({"type": "SyntaxError", "message": "from eval"}, Outcome.RUNTIME_ERROR, "runtime-error"),
        ({"type": "MemoryError", "message": ""}, Outcome.MEMORY_LIMIT, "memory-limit"),
        ({"type": "RuntimeError", "message": "can't allocate memory: 1 TB"}, Outcome.MEMORY_LIMIT, "memory-limit"),
        ({"type": "ModuleNotFoundError", "message": "No module"}, Outcome.RUNTIME_ERROR, "missing-module"),
        (
            {"type": "AttributeError", "message": "module 'submission' has no attribute 'f'", "check": "misses"},
            Outcome.RUNTIME_ERROR,
            "missing-name",
        ),
        ({"type": "TypeError", "message": "f is None", "check": "says"}, Outcome.RUNTIME_ERROR, "not-as-asked"),
        ({"type": "RecursionError", "message": "maximum"}, Outcome.RUNTIME_ERROR, "too-deep"),
        ({"type": "PermissionError", "message": "no"}, Outcome.RUNTIME_ERROR, "refused"),
    ],
)
def test_a_mistake_at_load_is_named_for_what_it_is(reference, told, outcome, code):
    verdict = judge(ScriptedBox(lambda case, inputs: failure(0, stage="load", **told)), reference)
    assert (verdict.outcome, verdict.finding and verdict.finding.code) == (outcome, code)
    assert len(verdict.cases) == 1


STUMBLE = {"type": "AttributeError", "message": "no 'x'", "stage": "case", "check": "stumbles", "check_line": 7}


def test_a_check_that_stumbles_is_our_fault_in_words_that_help_the_learner(reference, caplog):
    verdict = judge(ScriptedBox(lambda case, inputs: failure(case, **STUMBLE)), reference)
    assert (verdict.outcome, verdict.finding and verdict.finding.code) == (Outcome.GRADER_FAULT, "check-stumbled")
    assert "AttributeError: no 'x'" in verdict.finding.long
    assert "scaling: probe.py, line 7, in case '2 numbers' stopped with AttributeError: no 'x'" in caplog.text


def test_a_wrong_answer_before_a_check_that_stumbles_is_what_the_learner_hears_of(reference):
    def wrong_then_stumbling(case, inputs):
        return scaled_answer(case, inputs["numbers"]) if case == 0 else failure(case, **STUMBLE)

    verdict = judge(ScriptedBox(wrong_then_stumbling), reference)
    assert (verdict.outcome, len(verdict.cases), verdict.cases_total) == (Outcome.WRONG_ANSWER, 1, 3)


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


def test_a_hidden_case_tells_what_it_checks_and_no_value(reference):
    verdict = judge(ScriptedBox(lambda case, inputs: scaled_answer(case, inputs["numbers"])), reference)
    shown, hidden = verdict.cases[0], verdict.cases[2]
    assert all([shown.input, shown.got, shown.expected])
    assert (hidden.public, hidden.input, hidden.got, hidden.expected) == (False, "", "", "")
    assert hidden.idea


def test_a_broken_box_is_our_fault_and_costs_no_attempt(reference):
    verdict = judge(ScriptedBox(broken=True), reference)
    assert verdict.outcome is Outcome.GRADER_FAULT
    assert not verdict.outcome.costs_an_attempt


@pytest.mark.parametrize("name", ["no-such", "../fixtures/scaling", "/etc", "Scaling", ""])
def test_an_exercise_that_is_not_there_is_our_fault(reference, name):
    assert judge(ScriptedBox(), reference, GradeJob(exercise=name, source="")).outcome is Outcome.GRADER_FAULT


def test_cases_and_output_are_told_as_they_come(reference):
    events = []
    # An e with an accent, cut in two, an escape sequence, and a lone carriage return.
    pieces = (("stdout", b"caf\xc3"), ("stdout", b"\xa9 \x1b[31m"), ("stderr", b"a\rb\n"))
    judge(ScriptedBox(output=pieces), reference, events=events)
    texts = [body for kind, body in events if kind is EventKind.OUTPUT]
    assert texts == [
        Output(stream="stdout", text="caf"),
        Output(stream="stdout", text="é [31m"),
        Output(stream="stderr", text="a\nb\n"),
    ]
    assert sum(kind is EventKind.CASE for kind, _ in events) == 3


def test_measures_are_the_kernels(reference):
    measures = judge(ScriptedBox(), reference).measures
    assert [(measure.name, measure.unit) for measure in measures] == [
        ("cpu", "s"),
        ("wall", "s"),
        ("peak memory", "MiB"),
    ]
    assert {measure.measured_by for measure in measures} == {MeasuredBy.KERNEL}


def test_a_cell_ends_well_with_its_text(reference):
    box = ScriptedBox(report=b'{"ok":true,"mistake":null,"trace":null}', ending=replace(EXITED, stdout=b"1\n"))
    end = run_cell(box, reference)
    assert (end.outcome, end.stdout, end.finding) == (Outcome.OK, "1\n", None)
    assert json.loads(box.runs[0].request.payload)["want_trace"] is True


@pytest.mark.parametrize(("flavour", "engine"), [(Flavour.TORCH, "torch"), (Flavour.PLAIN, "learner")])
def test_where_there_is_no_torch_the_learners_own_engine_is_traced(reference, flavour, engine):
    box = ScriptedBox(report=b'{"ok":true,"mistake":null,"trace":null}')
    run_cell(box, reference, flavour=flavour)
    payload = json.loads(box.runs[0].request.payload)
    assert (payload["want_trace"], payload["engine"]) == (True, engine)
    assert payload["caps"]["max_document_bytes"] < payload["caps"]["document_bytes"]


def test_an_error_in_a_cell_is_told_with_its_line(reference):
    report = json.dumps({"ok": False, "mistake": {"type": "ValueError", "message": "no", "line": 2}, "trace": None})
    end = run_cell(ScriptedBox(report=report.encode()), reference)
    assert (end.outcome, end.mistake and end.mistake.line) == (Outcome.RUNTIME_ERROR, 2)


def test_a_cell_that_leaves_early_ended_but_has_no_graph(reference):
    end = run_cell(ScriptedBox(), reference)
    assert (end.outcome, end.finding and end.finding.code) == (Outcome.OK, "left-early")


def test_a_cell_that_ran_out_of_time_is_not_ok_whatever_it_reported(reference):
    ending = replace(EXITED, cause=Cause.WALL_LIMIT, exit_code=None, signal=9)
    end = run_cell(ScriptedBox(report=b'{"ok":true,"mistake":null,"trace":null}', ending=ending), reference)
    assert end.outcome is Outcome.TIME_LIMIT


def test_a_report_that_is_none_is_a_breach(reference):
    assert run_cell(ScriptedBox(report=b"\xff\xfe not JSON"), reference).outcome is Outcome.PROTOCOL_ERROR


HUNT = "half-an-hour"


def end_meeting(case, inputs):
    header = b'[["end","int",[]]]'
    return frame(b"ANSW", case, header, struct.pack("<q", inputs["start"] + 60 * inputs["hours"]))


def end_too_early(case, inputs):
    header = b'[["end","int",[]]]'
    return frame(b"ANSW", case, header, struct.pack("<q", inputs["start"] + inputs["hours"]))


def hunt(reference, *, respond=end_meeting, public_only=False, **said) -> Verdict:
    diagnosed = Diagnosed(**said) if said else None
    job = GradeJob(exercise=HUNT, source="", diagnosed=diagnosed, public_only=public_only)
    return judge(ScriptedBox(respond), reference, job)


@pytest.mark.parametrize("line", [4, 5])
def test_a_bug_hunt_passes_with_the_right_kind_of_fault_and_any_guilty_line(reference, line):
    verdict = hunt(reference, category="wrong-unit", line=line)
    assert (verdict.outcome, verdict.finding, verdict.diagnosis_right) == (Outcome.PASSED, None, True)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"category": "rounding", "line": 2}, "wrong-diagnosis"),
        ({"category": "wrong-unit", "line": 3}, "wrong-diagnosis"),
        ({"category": "rounding", "line": 4}, "wrong-diagnosis"),
        ({"category": "no such kind", "line": 4}, "wrong-diagnosis"),
        ({"category": "wrong-unit"}, "no-diagnosis"),
        ({"line": 4}, "no-diagnosis"),
        ({}, "no-diagnosis"),
    ],
)
def test_a_right_fix_with_a_wrong_word_on_the_fault_is_wrong_and_the_line_comes_first(reference, said, code):
    verdict = hunt(reference, **said)
    assert (verdict.outcome, verdict.cases_passed, verdict.diagnosis_right) == (Outcome.WRONG_ANSWER, 3, False)
    assert verdict.finding is not None
    assert (verdict.finding.code, "works" in verdict.finding.short) == (code, True)


def test_an_exercise_has_its_own_words_for_a_wrong_word_on_the_fault(reference):
    verdict = hunt(reference, category="rounding", line=4)
    assert verdict.finding is not None
    assert verdict.finding.short == "It works now; but is it the loop, the rounding, or what the number means?"


def test_code_that_fails_is_what_is_said_whatever_the_word_on_the_fault(reference):
    verdict = hunt(reference, respond=end_too_early, category="wrong-unit", line=4)
    assert verdict.finding is not None
    assert (verdict.finding.code, verdict.diagnosis_right) == ("too-early", None)


def test_an_exercise_that_asks_for_no_diagnosis_weighs_none(reference):
    said = Diagnosed(category="anything", line=1)
    verdict = judge(ScriptedBox(), reference, JOB.model_copy(update={"diagnosed": said}))
    assert (verdict.outcome, verdict.diagnosis_right) == (Outcome.PASSED, None)


def test_what_a_learner_says_of_the_fault_does_not_go_into_the_box(reference):
    box = ScriptedBox(end_meeting)
    judge(box, reference, GradeJob(exercise=HUNT, source="", diagnosed=Diagnosed(category="wrong-unit", line=4)))
    assert json.loads(box.runs[0].request.payload).keys() == {"probe", "source"}


def test_a_look_asks_the_public_cases_alone_in_their_order_and_is_no_pass(reference):
    box = ScriptedBox(end_meeting)
    verdict = judge(box, reference, GradeJob(exercise=HUNT, source="", public_only=True))
    assert [case["hours"] for case in box.runs[0].cases] == [1, 3]
    assert [case.name for case in verdict.cases] == ["meeting 1", "meeting 3"]
    assert (verdict.outcome, verdict.cases_passed, verdict.cases_total) == (Outcome.OK, 2, 2)
    assert (verdict.public_only, verdict.costs_an_attempt, verdict.diagnosis_right) == (True, False, None)


def test_a_look_that_fails_says_what_is_wrong_in_the_exercises_words(reference):
    def end_third_too_early(case, inputs):
        return end_too_early(case, inputs) if inputs["hours"] == 3 else end_meeting(case, inputs)

    verdict = hunt(reference, respond=end_third_too_early, public_only=True, category="rounding", line=2)
    assert [case.passed for case in verdict.cases] == [True, False]
    assert verdict.finding is not None
    assert (verdict.outcome, verdict.finding.code) == (Outcome.WRONG_ANSWER, "too-early")
    assert not verdict.costs_an_attempt


def test_a_wrong_answer_after_a_hidden_case_is_still_recognised_in_a_look(reference):
    def unchanged(case, inputs):
        return scaled_answer(case, inputs["numbers"])

    verdict = judge(ScriptedBox(unchanged), reference, JOB.model_copy(update={"public_only": True}))
    assert [case.finding.code for case in verdict.cases if case.finding] == ["unchanged", "unchanged"]


def test_a_fault_of_ours_during_a_look_is_still_a_look(reference):
    verdict = judge(ScriptedBox(broken=True), reference, JOB.model_copy(update={"public_only": True}))
    assert (verdict.outcome, verdict.public_only) == (Outcome.GRADER_FAULT, True)
