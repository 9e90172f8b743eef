"""Runs of cells: streamed for the element, a page for readers without script."""

import httpx2
import pytest
from site_parts import FRAGMENT, SMALL_TRACE, FakeWorker, read_stream

from app.web.edge.site import Site
from graders.contract.jobs import Flavour, RunJob
from graders.contract.limits import MAX_SOURCE_BYTES
from graders.contract.results import Finding, Mistake, Outcome, RunEnd
from graders.ledger import State, TooManyPending

CHAPTER = "/chapters/a-first-graph"
IN_CELL = {"chapter": "a-first-graph", "cell": "square-cell"}


def fail(outcome: Outcome) -> RunEnd:
    mistake = Mistake(type="NameError", message="name 'z' is not defined", line=2, traceback="Traceback <b>")
    return RunEnd(outcome=outcome, mistake=mistake, finding=Finding(code="name", short="z is not there"))


async def test_a_run_streams_from_acceptance_to_its_end(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    events = read_stream(await browser.post("/api/runs", json={"source": "print(4)"}))

    assert [event.event for event in events] == ["accepted", "queued", "queued", "output", "trace", "done"]
    assert events[3].data == {"stream": "stdout", "text": "4.0\n"}
    assert (events[-1].data["outcome"], events[-1].data["resolved"]) == ("ok", {})


async def test_the_graph_of_a_run_comes_as_a_picture_with_its_tape(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    events = read_stream(await browser.post("/api/runs", json={"source": "x * x", **IN_CELL}))
    picture = next(event.data for event in events if event.event == "trace")

    assert picture["svg"].startswith("<svg")
    assert 'id="square-cell-picture' in picture["svg"]
    assert " style=" not in picture["svg"]
    assert picture["tape"]["nodes"]["span"] == ["1,4,1,9", ""]
    assert (await browser.get(picture["href"])).json()["svg"] == picture["svg"]


async def test_the_graph_of_a_run_can_be_asked_for_again_by_its_learner_alone(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    run = read_stream(await browser.post("/api/runs", json={"source": "x * x", **IN_CELL}))[0].data["id"]

    again = await browser.get(f"/api/runs/{run}/graph")

    assert 'id="square-cell-picture"' in again.json()["svg"]
    assert (await stranger.get(f"/api/runs/{run}/graph")).status_code == 404


async def test_a_trace_that_contradicts_itself_costs_the_picture_and_nothing_else(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    lying = SMALL_TRACE.model_copy(update={"roots": (17,)})
    worker.end = lambda _: RunEnd(outcome=Outcome.OK, trace=lying)

    events = read_stream(await browser.post("/api/runs", json={"source": "x"}))

    assert [event.event for event in events] == ["accepted", "queued", "queued", "output", "done"]
    assert events[-1].data["trace_note"].startswith("The graph could not be drawn: ")


async def test_a_cells_setup_and_flavour_come_from_the_course(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    await browser.post("/api/runs", json={"source": "x * x", "flavour": "plain", "trace": False, **IN_CELL})

    (job,) = worker.jobs
    assert isinstance(job, RunJob)
    assert job.source == "x * x"
    assert "requires_grad=True" in job.setup
    assert (job.flavour, job.want_trace) == (Flavour.TORCH, True)


async def test_code_of_no_cell_runs_as_it_was_asked(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    await browser.post("/api/runs", json={"source": "1\r\n2", "flavour": "plain", "trace": False})

    assert worker.jobs == [RunJob(source="1\n2", flavour=Flavour.PLAIN, want_trace=False)]


async def test_a_mistake_is_told_with_its_line(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    worker.end = lambda _: fail(Outcome.RUNTIME_ERROR)

    done = read_stream(await browser.post("/api/runs", json={"source": "y = 1\nz"}))[-1].data

    assert (done["outcome"], done["headline"]) == ("runtime_error", "The code raised an error.")
    assert (done["mistake"]["line"], done["mistake"]["type"]) == (2, "NameError")
    assert done["finding"]["short"] == "z is not there"


async def test_a_failed_run_of_changed_code_settles_nothing(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    await browser.post(f"{CHAPTER}/predictions/double-use", data={"option": "dont-know"})
    worker.end = lambda _: fail(Outcome.RUNTIME_ERROR)

    done = read_stream(await browser.post("/api/runs", json={"source": "z", **IN_CELL}))[-1].data

    assert done["resolved"] == {}
    assert "Your prediction is in" in (await browser.get(CHAPTER)).text


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"source": "x", "chapter": "nothing", "cell": "square-cell"}, 404),
        ({"source": "x", "chapter": "a-first-graph", "cell": "nothing"}, 404),
        ({"source": "x", "cell": "square-cell"}, 404),
        ({}, 422),
        ({"source": "x", "surprise": 1}, 422),
        ({"source": "x", "flavour": "gpu"}, 422),
        ({"source": "x" * (MAX_SOURCE_BYTES + 1)}, 422),
        ({"source": "é" * (MAX_SOURCE_BYTES - 1)}, 413),
    ],
)
async def test_a_run_that_cannot_be_is_refused_before_the_stream_begins(
    browser: httpx2.AsyncClient, body: dict[str, object], status: int
) -> None:
    refused = await browser.post("/api/runs", json=body)

    assert refused.status_code == status
    assert refused.json()["status"] == status
    assert refused.json()["message"].endswith(".")


async def test_half_a_character_is_refused_in_words(browser: httpx2.AsyncClient) -> None:
    refused = await browser.post(
        "/api/runs", content=b'{"source": "\\ud800"}', headers={"content-type": "application/json"}
    )

    assert refused.status_code == 422


async def test_too_many_waiting_runs_are_refused_in_words(browser: httpx2.AsyncClient, site: Site) -> None:
    cap = site.ledger.policy.pending_cap
    statuses = [(await browser.post("/runs", data={"source": "1"})).status_code for _ in range(cap + 1)]
    refused = await browser.post("/api/runs", json={"source": "1"})

    assert statuses == [303] * cap + [429]
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
    assert refused.json()["message"] == str(TooManyPending(cap, cap))


async def test_a_waiting_run_can_be_stopped_by_its_learner_alone(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site
) -> None:
    run = (await browser.post("/runs", data={"source": "1"})).headers["location"].rpartition("/")[2]
    await stranger.post("/theme", data={"theme": "dark"})

    assert (await stranger.post(f"/api/runs/{run}/stop")).status_code == 404
    assert (await site.ledger.find(run)).state is State.QUEUED
    assert (await browser.post(f"/api/runs/{run}/stop")).status_code == 204
    found = await site.ledger.find(run)
    assert found is not None
    assert found.result is not None
    assert found.result.outcome is Outcome.CANCELLED


async def test_without_script_a_run_is_a_page_that_looks_again_until_it_is_done(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    sent = await browser.post(f"{CHAPTER}/cells/square-cell/run", data={"source": "mine = 1\r\n"})
    waiting = (await browser.get(sent.headers["location"])).text
    worker = FakeWorker(site.ledger)
    async with worker.running():
        async for _ in site.ledger.follow(sent.headers["location"].rpartition("/")[2]):
            pass
    done = (await browser.get(sent.headers["location"])).text

    assert sent.status_code == 303
    assert '<meta http-equiv="refresh"' in waiting
    assert '<meta http-equiv="refresh"' not in done
    assert "It ran to the end." in done
    assert "<svg" in done
    assert f'href="{CHAPTER}#square-cell"' in done
    assert "mine = 1" in (await browser.get(CHAPTER)).text


async def test_without_script_a_run_settles_a_prediction_too(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    await browser.post(f"{CHAPTER}/predictions/double-use", data={"option": "dont-know"})
    sent = await browser.post(f"{CHAPTER}/cells/square-cell/run", data={"source": "x * x"})
    async for _ in worker.ledger.follow(sent.headers["location"].rpartition("/")[2]):
        pass

    assert "one contribution from each operand" in (await browser.get(sent.headers["location"])).text
    assert "one contribution from each operand" in (await browser.get(CHAPTER)).text


async def test_a_run_is_nobody_elses_business(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    page = (await browser.post("/runs", data={"source": "1"})).headers["location"]
    await stranger.post(f"{CHAPTER}/read")

    assert (await browser.get(page)).status_code == 200
    assert (await stranger.get(page)).status_code == 404
    assert (await browser.get("/runs/nothing")).status_code == 404


async def test_what_a_program_printed_is_only_ever_text(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    bad = "<script>alert(1)</script>"
    worker.end = lambda _: RunEnd(
        outcome=Outcome.RUNTIME_ERROR,
        stdout=bad,
        stderr=bad,
        mistake=Mistake(type=bad, message=bad, traceback=bad),
        finding=Finding(code="x", short=bad, long=bad),
    )
    page = (await browser.post("/runs", data={"source": bad})).headers["location"]
    async for _ in worker.ledger.follow(page.rpartition("/")[2]):
        pass

    html = (await browser.get(page, headers=FRAGMENT)).text

    assert "<script" not in html
    assert "&lt;script&gt;" in html


async def test_code_that_is_too_long_is_refused_in_plain_words(browser: httpx2.AsyncClient) -> None:
    answer = await browser.post("/api/runs", json={"source": "x" * 70_000})

    assert answer.status_code == 422
    assert answer.json()["message"] == "Your code is longer than 65,536 characters, the most that this site accepts."
