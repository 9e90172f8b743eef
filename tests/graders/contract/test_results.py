"""A run's result carries its trace as text, and reads those that an earlier version wrote as an object."""

import json

import pytest

from graders.contract.results import RESULT, Outcome, RunEnd
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
