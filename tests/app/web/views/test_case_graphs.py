"""A wrong answer's graph is drawn with its first wrong node marked, in words and as a table too."""

import re

import httpx2
import pytest
from site_parts import FRAGMENT, FakeWorker

from app.pictures import draw_graph, read_graph
from app.pictures.drawing.mark import ROOM, mark_node
from app.web.views.case_graphs import show_case_graph, trace_of
from app.web.views.presenting_results import show_difference
from graders.contract.results import CaseGraph, CaseResult, Difference, GraphNode, Outcome, Verdict
from graders.contract.trace_check import check_trace

GRAPH = CaseGraph(
    nodes=(
        GraphNode(name="x", value="3", got="1", expected="2", right=False),
        GraphNode(name="w", value="<5>", got="3", expected="3", right=True),
        GraphNode(name="y", op="*", operands=(0, 1), value="15"),
        GraphNode(name="z", op="+", operands=(2, 0), value="18"),
    ),
    first_wrong=0,
)


def test_the_first_wrong_node_is_marked_and_said() -> None:
    view = show_case_graph(GRAPH, "case-1")
    assert view

    assert view.words == (
        "From the output back to the leaves, the first node that differs is the leaf x: yours is 1, expected 2."
    )
    assert view.svg.count("mark-frame") == 1
    assert "✗ first wrong" in view.svg
    assert view.rows[0] == ("x", "leaf", "1", "2", False)
    assert view.rows[3] == ("z", "+ of y, x", "", "", None)


def test_the_mark_stands_around_its_node() -> None:
    picture = draw_graph(read_graph(check_trace(trace_of(GRAPH))), id_prefix="p")
    marked = mark_node(picture, 2, "here")
    node = next(each for each in picture.nodes if 2 in each.members)

    frame = re.search(r'<rect x="([\d.-]+)" y="([\d.-]+)" width="([\d.]+)" height="([\d.]+)"[^>]*mark-frame', marked)

    assert frame
    x, y, width, height = map(float, frame.groups())
    assert x < node.x < node.x + node.width < x + width
    assert y < node.y < node.y + node.height < y + height
    assert f'viewBox="0 {-ROOM} ' in marked


def test_a_node_that_is_not_drawn_is_not_marked() -> None:
    picture = draw_graph(read_graph(check_trace(trace_of(GRAPH))), id_prefix="p")

    assert mark_node(picture, 99, "here") == picture.svg


def test_the_graph_is_a_trace_like_any_other() -> None:
    trace = check_trace(trace_of(GRAPH))

    assert trace.roots == (3,)
    assert trace.edges.target == (0, 1, 2, 0)


def test_a_graph_without_a_wrong_node_is_not_shown() -> None:
    assert show_case_graph(GRAPH.model_copy(update={"first_wrong": None}), "case-1") is None


@pytest.mark.parametrize(
    ("difference", "place", "off_by", "others"),
    [
        (Difference(name="g", index=(1, 0), got="2", expected="1", off_by=1.0), "g[1, 0]", "+1", ""),
        (
            Difference(name="g", index=(4,), label="w[1, 1]", got="2", expected="1", off_by=1.0),
            "w[1, 1] in g",
            "+1",
            "",
        ),
        (Difference(name="g", got="a", expected="b", others=1), "g", "", "1 more element differs"),
        (
            Difference(name="g", got="0", expected="1e-9", off_by=-1e-9, others=3),
            "g",
            "-1e-09",
            "3 more elements differ",
        ),
    ],
)
def test_a_difference_is_said_with_its_place(difference: Difference, place: str, off_by: str, others: str) -> None:
    view = show_difference(difference)
    assert view

    assert (view.place, view.off_by, view.others) == (place, off_by, others)


async def test_a_verdict_shows_them_of_a_public_case_alone(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    told = {"difference": Difference(name="g", index=(4,), got="G1", expected="G2"), "graph": GRAPH}
    cases = (
        CaseResult(name="one", idea="seen", passed=False, public=True, **told),
        CaseResult(name="two", idea="unseen", passed=False, public=False, **told),
    )
    worker.end = lambda _: Verdict(outcome=Outcome.WRONG_ANSWER, exercise="double", cases=cases, cases_total=2)
    sent = {"source": "x", "idempotency_key": "0123456789abcdef"}
    accepted = (await browser.post("/api/exercises/double/submissions", json=sent)).json()
    await browser.get(accepted["events"])

    html = (await browser.get(f"/exercises/double/submissions/{accepted['id']}", headers=FRAGMENT)).text

    assert html.count("mark-frame") == 1
    assert html.count("G1") == 1
    assert "First difference: <code>g[4]</code>" in html
    assert "&lt;5&gt;" in html
