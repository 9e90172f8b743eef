"""A chapter's summary to print, the map of progress, and the place at which one goes on."""

import httpx2
import pytest
from site_parts import FakeWorker
from test_me import CHAPTER, do_everything

SUMMARY = "/me/chapters/a-first-graph"


async def test_a_summary_has_what_was_predicted_and_answered(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    await do_everything(browser)

    page = (await browser.get(SUMMARY)).text

    assert "Your prediction: " in page
    assert "That is not what happens." in page
    assert "Your answer" in page
    assert "Right." in page
    assert "<form" not in page.partition("<main")[2].partition("</main>")[0]


async def test_a_summary_shows_nothing_that_was_not_earned(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get(SUMMARY)).text

    assert page.count("Nothing yet.") == 2
    assert "summary-item" not in page


async def test_a_summary_is_of_its_reader_alone(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    await do_everything(browser)

    assert "Your prediction: " not in (await stranger.get(SUMMARY)).text


async def test_the_map_shows_chapters_that_were_not_opened_and_the_time_left(browser: httpx2.AsyncClient) -> None:
    before = (await browser.get("/me")).text
    await browser.post(f"{CHAPTER}/read")
    after = (await browser.get("/me")).text

    assert "0 of 2 read" in before
    assert "for 2 chapters" in before
    assert "1 of 2 read" in after
    assert "for 1 chapter " in after
    assert f'href="{SUMMARY}"' in after
    assert f'href="{SUMMARY}"' not in before


async def test_a_concept_counts_the_questions_that_were_answered_right(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    def rights(page: str) -> int:
        table = page.partition("By concept")[2].partition("</table>")[0]
        return table.count("<td>1 of ")

    before = rights((await browser.get("/me")).text)
    await do_everything(browser)

    assert before == 0
    assert rights((await browser.get("/me")).text) > 0


@pytest.mark.parametrize(("anchor", "status"), [("double-use", 204), ("square-cell", 204), ("nowhere", 404)])
async def test_one_goes_on_at_the_block_at_which_one_stopped(
    browser: httpx2.AsyncClient, anchor: str, status: int
) -> None:
    await browser.put("/api/drafts/exercises/double", json={"text": "x"})

    kept = await browser.put("/api/position", json={"chapter": "a-first-graph", "anchor": anchor})

    assert kept.status_code == status
    assert (f'href="{CHAPTER}#{anchor}"' in (await browser.get("/me")).text) is (status == 204)


async def test_a_summary_has_the_notes_of_its_chapter(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient
) -> None:
    await browser.post("/notes/chapters/a-first-graph/double-use", data={"text": "It is *doubled*."})

    page = (await browser.get(SUMMARY)).text
    assert "It is <em>doubled</em>." in page
    assert f'<a href="{CHAPTER}#double-use">prediction in' in page
    assert "What you noted" not in (await stranger.get(SUMMARY)).text
