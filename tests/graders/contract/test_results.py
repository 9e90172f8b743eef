"""A run's result carries its trace as text, and a verdict's share of the bounds is what a judge measured."""

import json

import pytest

from graders.contract.chart import HELD
from graders.contract.model import ExerciseName
from graders.contract.results import RESULT, CaseResult, Measure, MeasuredBy, Outcome, RunEnd, Verdict
from graders.contract.trace import Trace

TRACE = Trace(torch="2.13.0", notes=("Some steps are left out.",))
END = RunEnd(outcome=Outcome.OK, trace_json=TRACE.model_dump_json(), stdout="4.0\n")


def test_a_result_comes_back_with_its_trace_unread() -> None:
    back = RESULT.validate_json(END.model_dump_json())

    assert isinstance(back, RunEnd)
    assert (back, back.trace_json, back.trace) == (END, TRACE.model_dump_json(), TRACE)


def test_text_that_is_no_trace_is_found_out_by_whoever_reads_it() -> None:
    end = RunEnd(outcome=Outcome.OK, trace_json="no trace")

    assert RESULT.validate_json(end.model_dump_json()) == end
    with pytest.raises(ValueError, match="Invalid JSON"):
        _ = end.trace


def test_a_result_that_an_earlier_version_stored_is_read() -> None:
    older = json.loads(END.model_dump_json(exclude={"trace_json"})) | {"trace": json.loads(TRACE.model_dump_json())}

    back = RESULT.validate_json(json.dumps(older))

    assert isinstance(back, RunEnd)
    assert (back.trace, back.stdout) == (TRACE, "4.0\n")


def test_a_run_without_a_trace_has_none() -> None:
    assert RunEnd(outcome=Outcome.OK).trace is None
    assert RESULT.validate_json('{"kind": "run_end", "outcome": "ok", "trace": null}') == RunEnd(outcome=Outcome.OK)


def held(
    value: float, most: float | None = 100, by: MeasuredBy = MeasuredBy.JUDGE, *, public: bool = True
) -> CaseResult:
    """A case in which a program held so much at once."""
    measure = Measure(name=HELD, value=value, unit="units", measured_by=by, most=most)
    return CaseResult(name="a chain", idea="", passed=True, public=public, measures=(measure,))


@pytest.mark.parametrize(
    ("outcome", "cases", "share"),
    [
        (Outcome.PASSED, (held(90), held(45, 50)), 0.9),
        (Outcome.PASSED, (held(80), held(10, None), held(10, public=False)), 0.8),
        (Outcome.PASSED, (held(10, by=MeasuredBy.LEARNER_PROCESS),), None),
        (Outcome.PASSED, (), None),
        (Outcome.OVER_BUDGET, (held(90),), None),
        (Outcome.OK, (held(90),), None),
    ],
    ids=["average", "public bounds alone", "what a program says of itself", "no bound", "over it", "public checks"],
)
def test_the_share_held_of_the_bounds_counts_for_a_pass_alone(outcome, cases, share) -> None:
    assert Verdict(outcome=outcome, exercise=ExerciseName("lab"), cases=cases).held_share == share
