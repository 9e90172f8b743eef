"""A drawn program may be asked about only if its run confirms the answer and the question is fair."""

from typing import Any

import pytest
from drill_parts import print_drawn, sums
from test_observing import SOURCE, make_trace

from app.course.drills.keeping import keep_drawn
from app.course.drills.proving import DrillCheck, judge_drill
from app.course.problems import Report
from graders.contract.results import Outcome, RunEnd
from graders.contract.trace import Edges, Nodes, Trace

VALUES: dict[str, Any] = {"code": SOURCE, "observe": "gradient x", "leaf": "x", "answer": 5.0, "half": 4.0}


def three_operations() -> str:
    """The small trace with a third operation, which nothing uses."""
    plain = make_trace()
    more = {name: (*column, column[-1]) for name, column in plain.nodes.model_dump().items()}
    edges = plain.edges.model_dump()
    return Trace(**(plain.model_dump() | {"nodes": Nodes(**more), "edges": Edges(**edges)})).model_dump_json()


def keep(
    values: dict[str, Any],
    trace: str | None = None,
    failed: str = "",
    known: tuple[str, ...] = (),
    number: float | None = None,
) -> Any:
    trace = three_operations() if trace is None else trace
    return keep_drawn(sums(), print_drawn(7, VALUES | values, trace, failed, number), known)


def test_a_program_whose_run_agrees_is_kept_with_its_trace() -> None:
    (graph,) = keep({}).graphs
    assert (graph.seed, graph.level, graph.source, graph.nodes) == (7, 1, SOURCE, 3)
    assert graph.trace_json == three_operations()


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"answer": 6.0}, "its run does not give the generator's answer"),
        ({"observe": "gradient w"}, "0 leaves of the graph are called 'w'"),
        ({"half": 5.0}, "the wrong answer {{half}} is the truth"),
        ({"half": "many"}, "the wrong answer {{half}} is not a number"),
    ],
)
def test_an_unfair_or_unconfirmed_program_is_refused(values: dict[str, Any], why: str) -> None:
    found = keep(values)
    assert (found.graphs, list(found.refused)) == ([], [why])


def test_a_variable_confirms_the_answer_when_the_draw_asks_for_it() -> None:
    assert len(keep({"observe": "value y"}, number=5.0).graphs) == 1
    assert list(keep({"observe": "value y"}, number=6.0).refused) == ["its run does not give the generator's answer"]
    assert list(keep({"observe": "value y"}).refused) == ["'y' holds no finite number when the program ends"]


def test_a_failed_run_a_small_graph_and_a_broken_trace_are_refused() -> None:
    assert list(keep({}, failed="RuntimeError: no").refused) == ["its run failed: RuntimeError: no"]
    assert list(keep({}, make_trace().model_dump_json()).refused) == ["its graph has fewer than 3 operations"]
    (why,) = keep({}, "{}{").refused
    assert why.startswith("its run failed: its trace cannot be read")


def test_a_trace_that_unpacks_into_more_than_allowed_is_refused() -> None:
    (why,) = keep({}, " " * 10_000_000).refused
    assert "more than 65536 bytes" in why


def test_a_program_that_there_is_already_is_not_kept_again() -> None:
    assert list(keep({}, known=(SOURCE,)).refused) == ["its program was drawn before"]


def test_too_few_fair_draws_are_a_mistake_that_names_the_most_frequent_reason() -> None:
    report = Report("drills/sums.md")
    judge_drill(DrillCheck(sums()), RunEnd(outcome=Outcome.OK, stdout=print_drawn(0, VALUES, "{}")), report)
    (told,) = report.problems
    assert "0 of 1 draws of 'sums' can be asked, but 200 are wanted" in told.message
    assert "1 were refused because its graph has fewer than 3 operations" in told.remedy
