"""Walks, incidents, figures, terms and what needs a GPU, as a reader meets them, with and without a script."""

import re

import httpx2
from site_parts import HELLO, FakeWorker, read_stream

from graders.contract.jobs import Queue, RunJob

CHAPTER = "/chapters/a-second-look"
REPLAY = {"chapter": "a-second-look", "cell": "replay", "source": "print(clear)"}


def block_in(html: str, opening: str, closing: str) -> str:
    found = re.search(f"{opening}.*?{closing}", html, re.S)
    assert found, opening
    return found[0]


def setup_of(worker: FakeWorker) -> str:
    job = worker.jobs[-1]
    assert isinstance(job, RunJob)
    return job.setup


async def test_every_state_of_a_walk_stands_in_the_page_with_its_lines(browser: httpx2.AsyncClient) -> None:
    steps = block_in((await browser.get(CHAPTER)).text, '<uw-steps id="one-backward"', "</uw-steps>")

    assert re.findall(r'data-lines="(.*?)"', steps) == ["1", "2 3"]
    assert steps.count('<span class="line-number">') == 3
    assert "Two contributions" in steps
    assert "hidden" not in steps


async def test_the_switches_of_an_incident_stand_in_the_form_as_they_were(browser: httpx2.AsyncClient) -> None:
    incident = block_in((await browser.get(CHAPTER)).text, '<section id="the-missing-zero"', "</section>")

    assert re.findall(r'name="switch" value="(\w+)"( checked)?', incident) == [("clear", ""), ("twice", " checked")]
    assert "The night the loss grew" in incident


async def test_a_run_without_a_word_on_switches_replays_what_happened(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    read_stream(await browser.post("/api/runs", json=REPLAY))

    assert setup_of(worker).endswith("clear = False\ntwice = True\n")


async def test_a_run_takes_the_switches_that_are_on_and_no_other_names(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    read_stream(await browser.post("/api/runs", json={**REPLAY, "switches": ["clear", "import os"]}))

    assert setup_of(worker).endswith("clear = True\ntwice = False\n")
    assert "import os" not in setup_of(worker)


async def test_without_script_boxes_that_are_not_ticked_are_off(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    await browser.post(f"{CHAPTER}/cells/replay/run", data={"source": "print(clear)", "switched": "yes"})
    for _ in range(100):
        if worker.jobs:
            break
        await browser.get("/healthz")

    assert setup_of(worker).endswith("clear = False\ntwice = False\n")


async def test_a_cell_that_needs_a_gpu_runs_where_a_grader_has_one(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    page = (await browser.get(CHAPTER)).text
    cell = block_in(page, '<uw-cell id="on-a-gpu"', "</uw-cell>")
    refused = await browser.post("/api/runs", json={**REPLAY, "cell": "on-a-gpu"})

    assert "This cell runs on a GPU" in cell
    assert refused.status_code == 409
    assert "no grader with one is running here" in refused.text
    await worker.ledger.say_hello(HELLO.model_copy(update={"worker": "with-a-card", "queue": Queue.GPU}))
    await browser.post(f"{CHAPTER}/cells/on-a-gpu/run", data={"source": "print(1)"})
    depth = await worker.ledger.depth(Queue.GPU)
    assert depth.queued == 1


async def test_a_figure_has_its_words_and_the_glossary_leads_back_to_it(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get(CHAPTER)).text
    glossary = (await browser.get("/glossary")).text

    assert 'alt="Two circles joined by a line" loading="lazy"' in block_in(
        page, '<figure id="two-nodes-again"', "</figure>"
    )
    assert f'<a href="{CHAPTER}#two-nodes-again">1.2 A second look</a>' in glossary
    assert re.findall(r"<dt>(.*?)</dt>", block_in(glossary, '<dl class="glossary"', "</dl>")) == ["Leaf", "Node"]


async def test_the_ladder_stands_in_the_text_where_the_chapter_puts_it(browser: httpx2.AsyncClient) -> None:
    text = (await browser.get(CHAPTER)).text.partition('<div class="text">')[2]

    assert text.count('class="ladder"') == 1
