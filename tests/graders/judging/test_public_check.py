"""A public check asks the public cases alone, and is no pass."""

from judging_parts import (
    HUNT,
    JOB,
    ScriptedBox,
    end_meeting,
    end_too_early,
    hunt,
    judge,
    scaled_answer,
)

from graders.contract.jobs import GradeJob
from graders.contract.results import Outcome


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
