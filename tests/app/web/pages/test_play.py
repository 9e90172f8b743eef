"""The player's own page, a run's tape without script, and what can be taken along."""

import httpx2
import pytest
from site_parts import FakeWorker, read_stream

from app.pictures import MAX_WHOLE_NODES
from graders.contract.jobs import Flavour, RunJob
from graders.contract.results import Outcome, RunEnd
from graders.contract.trace import Edges, Events, Nodes, Trace

RECORDED = Trace(
    nodes=Nodes(
        name=("AccumulateGrad", "MulBackward0"),
        forward=("leaf", "mul"),
        kind=("leaf", "op"),
        module=("", ""),
        span=(None, (1, 4, 1, 9)),
        shape=((), ()),
        dtype=("float32", "float32"),
        variable=("x", "y"),
        values=("2.0", "4.0"),
        saved_bytes=(0, 8),
        leaf_bytes=(0, 0),
        saved=("", "other"),
        sequence=(-1, 0),
        backward=(0, 0),
        made_by=(None, None),
    ),
    edges=Edges(source=(1,), target=(0,), slot=(0,), output=(0,)),
    events=Events(
        kind=("record", "backward", "vjp", "free", "accumulate", "end"),
        node=(1, 1, 1, 1, 0, None),
        call=(-1, 0, 0, 0, 0, 0),
        bytes=(8, 8, 8, 0, 0, 0),
        norm=(None,) * 6,
        before=("", "", "", "", "None", ""),
        incoming=("", "", "() 1.0", "", "() 2.0", ""),
        outgoing=("", "", "() 2.0", "", "() 2.0", ""),
        text=("", "backward", "", "", "", ""),
    ),
    roots=(1,),
)


def chain_trace(length: int) -> Trace:
    empty, zeros = ("",) * length, (0,) * length
    nodes = Nodes(
        name=("MulBackward0",) * length,
        forward=("mul",) * length,
        kind=("op",) * length,
        span=(None,) * length,
        shape=((),) * length,
        sequence=tuple(range(length)),
        made_by=(None,) * length,
        **{name: empty for name in ("dtype", "variable", "values", "saved", "module")},
        **{name: zeros for name in ("saved_bytes", "leaf_bytes", "backward")},
    )
    count = length - 1
    edges = Edges(source=tuple(range(1, length)), target=tuple(range(count)), slot=(0,) * count, output=(0,) * count)
    return Trace(nodes=nodes, edges=edges, roots=(length - 1,))


@pytest.fixture
async def run(browser: httpx2.AsyncClient, worker: FakeWorker) -> str:
    """The path of a finished run with a tape of four steps."""
    worker.end = lambda _: RunEnd(outcome=Outcome.OK, trace=RECORDED)
    page = (await browser.post("/runs", data={"source": "y = x * 2"})).headers["location"]
    while "run-headline" not in (await browser.get(page)).text:
        pass
    return page


async def test_the_first_program_of_the_gallery_stands_in_the_editor(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/play")).text
    assert '<a href="/play?snippet=01-two-ways" aria-current="page">Two ways to one loss</a>' in page
    assert "watch the two gradients meet" in page
    assert "b = h**2" in page
    assert '"""' not in page


async def test_a_program_of_the_gallery_has_a_link(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/play?snippet=02-plain")).text
    assert "print(1)" in page
    assert (await browser.get("/play?snippet=nowhere")).status_code == 404


async def test_an_engine_of_ones_own_is_played_where_there_is_no_torch(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    page = (await browser.get("/play?flavour=plain")).text
    assert 'data-flavour="plain"' in page
    assert 'action="/runs?flavour=plain"' in page
    assert "self._prev" in page
    run = (await browser.post("/runs?flavour=plain", data={"source": "y = 1"})).headers["location"]
    while "run-headline" not in (await browser.get(run)).text:
        pass
    assert worker.jobs == [RunJob(source="y = 1", flavour=Flavour.PLAIN)]
    assert (await browser.get("/play?flavour=fortran")).status_code == 422


async def test_without_script_a_tape_is_stepped_by_links(browser: httpx2.AsyncClient, run: str) -> None:
    whole = (await browser.get(run)).text
    assert "The whole graph; its tape has 4 steps." in whole
    assert "is-running" not in whole

    third = (await browser.get(f"{run}?step=3")).text
    assert "Step 3 of 4: mul (MulBackward0) runs: receives 1.0, sends 2.0 to x; releases 8 bytes" in third
    assert 'class="node node-op is-running is-done is-freed"' in third
    assert f'<a href="{run}?step=2#graph">One step back</a>' in third
    assert f'<a href="{run}?step=4#graph">One step forward</a>' in third
    assert '<tr class="is-current" aria-current="step">' in third


async def test_a_step_past_the_end_is_the_end(browser: httpx2.AsyncClient, run: str) -> None:
    page = (await browser.get(f"{run}?step=19")).text
    assert "Step 4 of 4: x.grad: None += 2.0 gives 2.0" in page
    assert "One step forward" not in page
    assert (await browser.get(f"{run}?step=-1")).status_code == 422


async def test_a_runs_trace_and_figure_can_be_taken_along(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, run: str
) -> None:
    trace = await browser.get(f"/api{run}/trace")
    assert Trace.model_validate_json(trace.content) == RECORDED
    figure = (await browser.get(f"/api{run}/figure")).json()
    assert {"data", "layout"} <= figure.keys()
    assert (await stranger.get(f"/api{run}/trace")).status_code == 404


async def test_a_run_without_a_graph_has_nothing_to_take_along(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    worker.end = lambda _: RunEnd(outcome=Outcome.OK)
    page = (await browser.post("/runs", data={"source": "1"})).headers["location"]
    answer = await browser.get(f"/api{page}/figure")
    assert (answer.status_code, answer.json()["message"]) == (404, "This run recorded no graph.")


async def test_a_runs_whole_graph_is_given_to_its_learner_alone(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, run: str
) -> None:
    whole = (await browser.get(f"/api{run}/whole")).json()

    assert len(whole["boxes"]["x"]) == sum(kind != "leaf" for kind in RECORDED.nodes.kind)
    assert (await stranger.get(f"/api{run}/whole")).status_code == 404


async def test_a_whole_of_too_many_operations_is_refused_in_words(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    worker.end = lambda _: RunEnd(outcome=Outcome.OK, trace=chain_trace(MAX_WHOLE_NODES + 1))
    played = read_stream(await browser.post("/api/runs", json={"source": "x"}))
    place = next(event.data["whole"] for event in played if event.event == "trace")

    refused = await browser.get(place["href"])

    assert refused.status_code == 422
    assert refused.json()["message"] == (
        "This graph is too large to draw: the graph has 30,001 operations; at most 30,000 are opened at once."
    )


async def test_what_was_left_out_is_said_under_the_picture_and_not_instead_of_it(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    noted = RECORDED.model_copy(update={"notes": ("Values are left out: the program is large.",)})
    worker.end = lambda _: RunEnd(outcome=Outcome.OK, trace=noted)
    events = {event.event: event.data for event in read_stream(await browser.post("/api/runs", json={"source": "x"}))}

    assert events["trace"]["note"] == "Values are left out: the program is large."
    assert events["trace"]["svg"].startswith("<svg")
    assert not events["done"].get("trace_note")


async def test_a_formula_leads_to_where_the_course_explains_it(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    worker.end = lambda _: RunEnd(outcome=Outcome.OK, trace=RECORDED)
    events = read_stream(await browser.post("/api/runs", json={"source": "y = x * 2"}))
    nodes = next(event.data["tape"]["nodes"] for event in events if event.event == "trace")

    assert [nodes["formulas"][rule] for rule in nodes["formula"]] == [
        "x.grad = x.grad + ȳ",
        "ā = ȳ * b,   b̄ = ȳ * a   (each summed to its shape)",
    ]
    assert [nodes["explained"][rule] for rule in nodes["formula"]] == [
        ["/chapters/a-second-look", "1.2 A second look"],
        ["/chapters/a-second-look#another-look", "1.2 A second look: Another look"],
    ]
