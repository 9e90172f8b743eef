"""A bug hunt weighs the diagnosis as well as the fix."""

import json

import pytest
from judging_parts import (
    HUNT,
    JOB,
    ScriptedBox,
    end_meeting,
    end_too_early,
    hunt,
    judge,
)

from graders.contract.jobs import Diagnosed, GradeJob
from graders.contract.results import Outcome


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
