"""Notes and bookmarks: kept by a form, shown beside their block, listed, searched, and seen by nobody else."""

import re
from datetime import UTC, datetime

import httpx2
import pytest
from people import leave_work
from site_parts import StoppedClock

from app.storage.notes import Note
from app.web.edge.site import Site
from app.web.pages.notes import MAX_CHARACTERS, SHOWN
from app.web.views.note_text import render_note
from graders.contract.model import LearnerId

CHAPTER = "/chapters/a-first-graph"
PLACE = "/notes/chapters/a-first-graph/double-use"


async def keep(browser: httpx2.AsyncClient, text: str, **fields: str) -> httpx2.Response:
    return await browser.post(PLACE, data={"text": text, **fields})


async def test_the_mark_of_a_block_leads_to_its_note(browser: httpx2.AsyncClient) -> None:
    form = (await browser.get("/report/chapters/a-first-graph/double-use")).text

    assert f'href="{PLACE}"' in form


async def test_a_note_is_kept_and_its_block_says_so(browser: httpx2.AsyncClient) -> None:
    before = (await browser.get(CHAPTER)).text
    answer = await keep(browser, "It is *doubled*.")
    after = (await browser.get(CHAPTER)).text

    assert (answer.status_code, answer.headers["location"]) == (303, f"{CHAPTER}#double-use")
    assert f'<a href="{PLACE}">Your note</a>' not in before
    assert f'<a href="{PLACE}">Your note</a>' in after
    assert "It is *doubled*." in (await browser.get(PLACE)).text
    assert "It is <em>doubled</em>." in (await browser.get("/notes")).text


async def test_nobody_else_sees_it(browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient) -> None:
    await keep(browser, "aardvark")
    await stranger.put("/api/drafts/exercises/double", json={"text": "x"})

    for path in (CHAPTER, PLACE, "/notes", "/notes?q=aardvark", "/search?q=aardvark", "/api/search?q=aardvark"):
        page = (await stranger.get(path)).text
        assert "Your note</a>" not in page
        assert page.count("aardvark") == len(re.findall(r'value="aardvark"|“aardvark”|"searched":"aardvark"', page))


async def test_every_page_shows_the_days_of_its_reader(browser: httpx2.AsyncClient, clock: StoppedClock) -> None:
    await leave_work(browser)
    await browser.post("/review/zone", data={"zone": "Pacific/Auckland"})
    clock.now = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    await keep(browser, "Written on the second of March.")
    await browser.post("/report/chapters/a-first-graph/double-use", data={"text": "wrong"})
    await browser.post("/me/calendar")

    for path in ("/notes", "/me", "/me/calendar", "/me/chapters/a-first-graph"):
        page = (await browser.get(path)).text
        assert ("2026-03-02" in page, "2026-03-01" in page) == (True, False), path


async def test_an_empty_note_is_a_bookmark(browser: httpx2.AsyncClient) -> None:
    await keep(browser, "")

    assert "A bookmark." in (await browser.get("/notes")).text


async def test_a_note_can_be_removed(browser: httpx2.AsyncClient) -> None:
    await keep(browser, "aardvark")
    await keep(browser, "aardvark", remove="true")

    assert "You have none yet." in (await browser.get("/notes")).text


async def test_a_note_says_if_its_place_has_changed(browser: httpx2.AsyncClient) -> None:
    await keep(browser, "as it was", content_hash="0" * 16)

    assert "the place has changed since" in (await browser.get("/notes")).text
    assert "This place has changed since you wrote the note." in (await browser.get(PLACE)).text
    await keep(browser, "as it is")
    assert "the place has changed since" not in (await browser.get("/notes")).text


async def test_notes_are_searched_for_their_owner(browser: httpx2.AsyncClient) -> None:
    await keep(browser, "An aardvark eats leaves.")

    hits = (await browser.get("/api/search", params={"q": "aardv"})).json()["hits"]
    assert [(hit["kind"], hit["href"]) for hit in hits] == [("your note", PLACE)]
    assert "aardvark" in (await browser.get("/notes", params={"q": "eating"})).text
    assert "0 of 1 have “xylophone”" in (await browser.get("/notes", params={"q": "xylophone"})).text


async def test_a_search_says_if_no_note_has_all_of_its_words(browser: httpx2.AsyncClient) -> None:
    await keep(browser, "An aardvark eats leaves.")

    page = (await browser.get("/notes", params={"q": "aardvark xylophone"})).text

    assert "None has all of “aardvark xylophone”; 1 of 1 has some of it." in page


async def test_many_notes_are_on_several_pages(browser: httpx2.AsyncClient, site: Site, clock: StoppedClock) -> None:
    """A thousand long notes on one page took ten seconds of the site's time, in which it answered nobody."""
    await keep(browser, "aardvark 0")
    (row,) = (await browser.get("/me/export.json")).json()["learners"]
    for number in range(1, SHOWN + 2):
        clock.pass_days(0.001)
        note = Note("chapters/a-first-graph", f"block-{number}", f"aardvark {number}", "0" * 16, clock())
        await site.store.notes.save(LearnerId(row["id"]), note)
    newest = list(map(str, range(SHOWN + 1, -1, -1)))

    first, second, beyond = [
        (await browser.get(path)).text for path in ("/notes", "/notes?after=30", "/notes?after=60")
    ]

    assert numbers_in(first) == newest[:SHOWN]
    assert numbers_in(second) == newest[SHOWN:]
    assert f"{SHOWN + 2} notes, the newest first. Here are 1 to 30." in first
    assert ('href="/notes?after=30"' in first, 'href="/notes"' in second) == (True, True)
    assert "There are no more." in beyond
    searched = (await browser.get("/notes?q=aardvark")).text
    assert 'href="/notes?q=aardvark&amp;after=30"' in searched
    assert len(numbers_in(searched)) == SHOWN


def numbers_in(page: str) -> list[str]:
    return re.findall(r"<p>aardvark (\d+)</p>", page)


async def test_a_note_that_is_too_long_comes_back_with_the_sentence(browser: httpx2.AsyncClient) -> None:
    answer = await keep(browser, "x" * (MAX_CHARACTERS + 1))

    assert answer.status_code == 422
    assert f"write at most {MAX_CHARACTERS}" in answer.text
    assert "You have none yet." in (await browser.get("/notes")).text


async def test_there_is_no_note_where_there_is_no_place(browser: httpx2.AsyncClient) -> None:
    assert (await browser.get("/notes/chapters/a-first-graph/nowhere")).status_code == 404


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>\n"),
        ("[x](javascript:alert(1))", "<p>[x](javascript:alert(1))</p>\n"),
        ("# Not a heading", "<p># Not a heading</p>\n"),
        ("a **b** `<c>`", "<p>a <strong>b</strong> <code>&lt;c&gt;</code></p>\n"),
    ],
)
def test_a_note_holds_no_html_no_script_and_no_heading(text: str, html: str) -> None:
    assert render_note(text) == html


def test_the_keyboard_reaches_code_that_scrolls() -> None:
    assert render_note("    x = 1") == '<pre tabindex="0"><code>x = 1\n</code></pre>\n'


def test_a_note_loads_no_picture() -> None:
    assert "<img" not in render_note("![x](/me/export.json)")
