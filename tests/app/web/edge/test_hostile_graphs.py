"""Traces that try to stall the site, or to break it: every page still answers, and says why a picture is missing."""

import asyncio
import os
import resource
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from site_parts import SMALL_TRACE, FakeWorker, read_stream

from app.drawing.pool import DIED, Drawers, Limits
from app.web.edge.rates import PER_MINUTE, Act, Rates
from app.web.edge.site import Site
from graders.contract.results import Outcome, RunEnd
from graders.contract.trace import Trace

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "pictures"))
from picture_parts import Sketch, sketch_chain
from test_budget import sketch_stack

CHAPTER = "/chapters/a-first-graph"
TOO_LARGE = "This graph is too large to draw: more than 3,000 lines"
SMALL_PROCESS_BYTES = 40 * 2**20


async def run(browser: httpx2.AsyncClient, worker: FakeWorker, trace: Trace | str) -> str:
    """A run that recorded this; its id. The stream is read to its end, whatever it says of the picture."""
    worker.end = lambda _: RunEnd(outcome=Outcome.OK, trace_json=trace if isinstance(trace, str) else write(trace))
    answer = await browser.post("/api/runs", json={"source": "x"})
    events = read_stream(answer)
    assert events[-1].event == "done"
    return str(events[0].data["id"])


def write(trace: Trace) -> str:
    return trace.model_dump_json()


def words(response: httpx2.Response) -> str:
    return str(response.json()["message"])


@pytest.fixture
async def strict(site: Site) -> AsyncIterator[Site]:
    """The site with processes that may take a twentieth of a second for a picture."""
    await site.figures.drawers.close()
    site.figures.drawers = Drawers(1, Limits(cpu_seconds=0.05))
    yield site
    await site.figures.drawers.close()


@pytest.fixture
async def patient(site: Site) -> AsyncIterator[Site]:
    """The site with processes that wait for a processor as long as a busy machine makes them."""
    await site.figures.drawers.close()
    site.figures.drawers = Drawers(1, Limits(wall_seconds=600.0))
    yield site
    await site.figures.drawers.close()


async def test_six_thousand_leaves_six_times_at_once_leave_the_site_answering(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    """Each is another trace, so that none is kept from another."""
    ids = [await run(browser, worker, sketch_stack(6_000 - number).trace) for number in range(6)]

    answers = await asyncio.gather(
        *(browser.get(f"/api/runs/{name}/graph") for name in ids), browser.get(CHAPTER), browser.get("/healthz")
    )

    assert [answer.status_code for answer in answers] == [200] * 8
    assert all(len(answer.json()["svg"]) < 20_000 for answer in answers[:6])


async def test_a_dense_trace_with_its_folds_open_is_a_sentence_and_no_picture(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    sketch = Sketch()
    for number in range(300):
        sketch.op("cat", *range(number), span=(number + 1, 0, number + 1, 5), module=f"m{number // 20}")
    name = await run(browser, worker, sketch.trace(299))
    keys = ["all", *(f"m{first}-{first + 19}" for first in range(0, 300, 20))]

    # Each names another fold that is not there, so that no refusal is kept from another.
    asked = [
        browser.get(f"/api/runs/{name}/graph", params={"opened": [*keys, f"none{number}"]}) for number in range(6)
    ]
    refused = await asyncio.gather(*asked)
    page = await browser.get(f"/runs/{name}", params={"opened": keys})

    assert {answer.status_code for answer in refused} == {422}
    assert all(words(answer).startswith(TOO_LARGE) for answer in refused)
    assert (page.status_code, TOO_LARGE in page.text) == (200, True)
    assert (await browser.get(CHAPTER)).status_code == 200


async def test_a_picture_that_takes_too_long_is_a_sentence_and_the_next_one_is_drawn(
    strict: Site, browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    name = await run(browser, worker, sketch_chain(9_000).trace())

    whole = await browser.get(f"/api/runs/{name}/whole")
    page = await browser.get(f"/runs/{name}")

    assert whole.status_code == 422
    assert words(whole) == "This graph is too large to draw: its picture takes more than 0.05 s of computing."
    assert (page.status_code, "takes more than 0.05 s of computing" in page.text) == (200, True)
    small = await run(browser, worker, SMALL_TRACE)
    assert (await browser.get(f"/api/runs/{small}/graph")).json()["svg"].startswith("<svg")


async def test_a_drawing_process_killed_in_the_middle_costs_one_sentence(
    site: Site, browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    name = await run(browser, worker, sketch_chain(9_000).trace())
    async with fresh_drawers(site):
        asking = asyncio.create_task(browser.get(f"/api/runs/{name}/whole"))
        os.kill(await asyncio.to_thread(wait_until_drawing, site), signal.SIGKILL)

        lost = await asking
        again = await browser.get(f"/api/runs/{name}/whole")

    assert (lost.status_code, words(lost)) == (503, DIED)
    assert again.status_code == 200


@asynccontextmanager
async def fresh_drawers(site: Site) -> AsyncIterator[None]:
    """Processes that have drawn nothing, so that one which draws is known by its size."""
    await site.figures.drawers.close()
    site.figures.drawers = Drawers(1)
    yield
    await site.figures.drawers.close()


def wait_until_drawing(site: Site) -> int:
    while True:
        for pid in site.figures.drawers.pids:
            resident_bytes = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
            if resident_bytes > SMALL_PROCESS_BYTES:
                return pid
        time.sleep(0.005)


async def test_overlapping_nested_and_endless_regions_and_modules_are_drawn_or_refused(
    patient: Site, browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    sketch = Sketch()
    node = sketch.leaf("x")
    for number in range(3_000):
        node = sketch.op("mul", node, module=".".join("abc"[: 1 + number % 3]))
    for number in range(50):
        sketch.regions.append({"kind": "checkpoint", "nodes": [*range(number, 3_000 - number)], "span": None})
        sketch.regions.append({"kind": "checkpoint", "nodes": [*range(number, 3_001, 7)], "span": None})
    name = await run(browser, worker, sketch.trace(node))

    places = (f"/api/runs/{name}/graph", f"/api/runs/{name}/whole", f"/runs/{name}?step=1")
    answers = [await browser.get(place) for place in places]

    assert {answer.status_code for answer in answers} <= {200, 422}


@pytest.mark.parametrize("stored", ["{", '{"nodes": 1}', "[]", '"a"', '{"roots": [9]}', "null", "nan", "[" * 9_000])
async def test_a_stored_trace_that_is_none_costs_the_picture_alone(
    stored: str, browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    name = await run(browser, worker, stored)

    page = await browser.get(f"/runs/{name}")
    answers = [await browser.get(f"/api/runs/{name}/{place}") for place in ("graph", "whole", "figure", "trace")]

    assert page.status_code == 200
    assert "The graph could not be drawn: " in page.text
    assert [answer.status_code for answer in answers] == [422] * 4
    assert all(words(answer).startswith("The graph could not be drawn: ") for answer in answers)


async def test_graphs_have_a_rate_of_their_own(site: Site, browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    name = await run(browser, worker, SMALL_TRACE)
    object.__setattr__(site, "rates", Rates())

    statuses = [(await browser.get(f"/api/runs/{name}/graph")).status_code for _ in range(PER_MINUTE[Act.DRAW] + 1)]
    page = await browser.get(f"/runs/{name}")

    assert statuses == [200] * PER_MINUTE[Act.DRAW] + [429]
    assert page.status_code == 429
    assert f"You may have {PER_MINUTE[Act.DRAW]} pictures of graphs per minute" in page.text
    assert (await browser.get(CHAPTER)).status_code == 200


async def test_a_graph_is_sent_compressed_to_whom_takes_it_and_plain_to_anybody_else(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    name = await run(browser, worker, sketch_chain(90).trace())
    for place in ("graph", "trace"):
        packed = await browser.get(f"/api/runs/{name}/{place}", headers={"accept-encoding": "gzip"})
        plain = await browser.get(f"/api/runs/{name}/{place}", headers={"accept-encoding": "identity"})

        assert packed.headers["content-encoding"] == "gzip"
        assert "content-encoding" not in plain.headers
        assert packed.json() == plain.json()
        assert "Accept-Encoding" in plain.headers["vary"]
