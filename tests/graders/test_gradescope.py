"""A verdict in the shape that Gradescope reads: its fields, their types, and nothing that a learner may not see."""

import pytest

from graders.contract.results import CaseResult, Finding, Measure, MeasuredBy, Mistake, Outcome, Verdict
from graders.gradescope import write_results

HIDDEN = CaseResult(
    name="any",
    idea="Any number is doubled.",
    passed=False,
    public=False,
    finding=Finding(code="f", short="It is not."),
)
PUBLIC = CaseResult(
    name="two", idea="Two is doubled.", passed=True, public=True, input="double(2)", got="4.0", expected="4.0"
)

VERDICT = Verdict(
    outcome=Outcome.WRONG_ANSWER,
    exercise="double",
    finding=Finding(code="f", short="It is not.", long="Multiply by two."),
    cases=(PUBLIC, HIDDEN),
    cases_total=3,
    stdout="what the learner printed",
    measures=(Measure(name="wall", value=0.25, unit="s", measured_by=MeasuredBy.KERNEL),),
    profile="P1",
)


def test_a_verdict_has_the_shape_that_gradescope_documents() -> None:
    assert write_results(VERDICT) == {
        "output": "1 of 3 cases held: wrong answer\nIt is not.\nMultiply by two.",
        "output_format": "text",
        "test_output_format": "text",
        "stdout_visibility": "hidden",
        "execution_time": 0.25,
        "tests": [
            {
                "number": "1",
                "name": "Two is doubled.",
                "score": 1.0,
                "max_score": 1.0,
                "status": "passed",
                "visibility": "visible",
                "output": "input: double(2)\nyours: 4.0\nexpected: 4.0",
            },
            {
                "number": "2",
                "name": "Any number is doubled.",
                "score": 0.0,
                "max_score": 1.0,
                "status": "failed",
                "visibility": "visible",
                "output": "It is not.",
            },
            {
                "number": "3",
                "name": "case 3",
                "score": 0.0,
                "max_score": 1.0,
                "status": "failed",
                "visibility": "visible",
                "output": "The run ended before this case.",
            },
        ],
        "extra_data": {"exercise": "double", "outcome": "wrong_answer", "profile": "P1"},
    }


def test_a_file_that_does_not_run_at_all_scores_nothing() -> None:
    mistake = Mistake(type="SyntaxError", message="invalid syntax")
    results = write_results(Verdict(outcome=Outcome.SYNTAX_ERROR, exercise="double", mistake=mistake))

    assert results is not None
    assert (results["score"], results["tests"]) == (0.0, [])
    assert "SyntaxError: invalid syntax" in results["output"]


@pytest.mark.parametrize("outcome", [Outcome.GRADER_FAULT, Outcome.CANCELLED, Outcome.SUPERSEDED])
def test_what_is_not_the_learners_doing_gets_no_score(outcome: Outcome) -> None:
    assert write_results(Verdict(outcome=outcome, exercise="double")) is None


@pytest.mark.parametrize(("right", "score"), [(True, 1.0), (False, 0.0)])
def test_the_word_on_a_bug_hunts_fault_is_worth_a_point(right: bool, score: float) -> None:
    held = VERDICT.model_copy(update={"cases": (PUBLIC,), "cases_total": 1, "diagnosis_right": right})
    document = write_results(held)
    assert document is not None
    assert [(test["number"], test["score"]) for test in document["tests"]] == [("1", 1.0), ("2", score)]


def test_a_look_at_the_public_checks_has_no_score() -> None:
    assert write_results(VERDICT.model_copy(update={"public_only": True})) is None
