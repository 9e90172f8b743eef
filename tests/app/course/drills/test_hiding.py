"""Before the answer, a drill's picture shows no more than the question leaves open."""

import pytest
from test_observing import make_trace

from app.course.drills.hiding import hide_answers
from graders.contract.trace import Trace


def test_a_variable_that_answers_hides_the_values_that_it_could_be_read_from() -> None:
    shown = Trace.model_validate_json(hide_answers(make_trace().model_dump_json(), "value step"))
    assert shown.nodes.values == ("", "", "")
    assert shown.nodes.variable == ("x", "y", "z")


@pytest.mark.parametrize("what", ["gradient x", "backward-ends"])
def test_other_questions_leave_the_values_and_hide_what_backward_did(what: str) -> None:
    shown = Trace.model_validate_json(hide_answers(make_trace().model_dump_json(), what))
    assert shown.nodes.values == ("2.0", "4.0", "6.0")
    assert (shown.nodes.saved_bytes, shown.events.kind) == ((0, 0, 0), ())
