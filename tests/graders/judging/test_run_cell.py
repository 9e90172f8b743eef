"""A cell from start to end, with scripted bytes in place of the box."""

import json
from dataclasses import replace

import pytest
from judging_parts import (
    EXITED,
    ScriptedBox,
    run_cell,
)

from graders.box.interface import Cause
from graders.contract.jobs import Flavour
from graders.contract.results import Outcome


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
