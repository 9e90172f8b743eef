"""A submission from start to end, with scripted bytes in place of the box and the real reference process."""

import json
import shutil

import pytest
from judging_parts import (
    FIXTURES,
    JOB,
    ScriptedBox,
    answer_rightly,
    judge,
    scaled_answer,
)

from graders.contract.events import EventKind, Output
from graders.contract.exercise_files import NEEDED_FILES
from graders.contract.jobs import GradeJob
from graders.contract.outcome_sentences import find_other_version
from graders.contract.results import MeasuredBy, Outcome
from graders.trusted.exercise import read_digest


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


def test_a_hidden_case_tells_what_it_checks_and_no_value(reference):
    verdict = judge(ScriptedBox(lambda case, inputs: scaled_answer(case, inputs["numbers"])), reference)
    shown, hidden = verdict.cases[0], verdict.cases[2]
    assert all([shown.input, shown.got, shown.expected])
    assert (hidden.public, hidden.input, hidden.got, hidden.expected) == (False, "", "", "")
    assert hidden.idea


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
