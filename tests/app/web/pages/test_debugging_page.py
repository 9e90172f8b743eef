"""The debugging guide in the browser: answers are links, so it needs no script; the chapters' tables stand below."""

import re
from dataclasses import replace

import httpx2
from fastapi import FastAPI
from site_parts import COURSE

from app.course.loader import load_course
from app.main import create_app
from app.settings import Settings
from app.web.edge.assets import Assets
from app.web.edge.rates import Rates


def answers_in(page: str) -> list[tuple[str, str]]:
    return re.findall(r'<a class="guide-answer" href="(.*?)">(.*?)</a>', page)


def question_in(page: str) -> str:
    found = re.search(r'<h2 id="question">(.*?)</h2>', page)
    assert found
    return found[1]


async def test_one_question_is_asked_and_its_answers_are_links(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/debugging")).text

    assert question_in(page) == "What do you see?"
    assert answers_in(page) == [
        ("/debugging?way=1#now", "An error"),
        ("/debugging?way=2#now", "A gradient that is <em>too large</em>"),
    ]


async def test_a_way_of_answers_ends_at_a_cause_and_each_answer_can_be_taken_back(
    browser: httpx2.AsyncClient,
) -> None:
    page = (await browser.get("/debugging?way=2-1")).text

    assert question_in(page) == "Gradients were never cleared"
    assert answers_in(page) == []
    given = re.findall(r'<li><span class="guide-asked">(.*?)</span> <a href="(.*?)"', page)
    assert given == [("What do you see?", "/debugging#now"), ("How much too large?", "/debugging?way=2#now")]


async def test_a_cause_has_a_command_and_leads_into_its_chapter(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/debugging?way=1")).text.partition("guide-whole")[0]

    assert '<a href="/chapters/a-first-graph">the product</a>' in page
    assert re.search(r'guide-command.*<code class="highlight".*compute', page, re.S)


async def test_a_link_may_begin_in_the_middle(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/debugging?at=how-much")).text

    assert question_in(page) == "How much too large?"
    assert answers_in(page)[0][0] == "/debugging?at=how-much&amp;way=1#now"


async def test_what_nobody_offers_leads_to_the_beginning(browser: httpx2.AsyncClient) -> None:
    for address in ("/debugging?at=nothing", "/debugging?way=9", "/debugging?way=0-1"):
        assert question_in((await browser.get(address)).text) == "What do you see?"


async def test_a_way_that_is_none_is_refused_in_words(browser: httpx2.AsyncClient) -> None:
    assert (await browser.get("/debugging?way=%3Cscript%3E")).status_code == 422


async def test_the_whole_guide_stands_in_the_page_for_paper(browser: httpx2.AsyncClient) -> None:
    whole = (await browser.get("/debugging")).text.partition('<details class="guide-whole">')[2]

    assert re.findall(r'<section id="(.*?)"', whole) == [
        "step-what-do-you-see",
        "step-how-much",
        "step-second-walk",
        "step-never-cleared",
    ]
    assert '<a href="#step-never-cleared">A whole number of times</a>' in whole


async def test_the_tables_of_all_chapters_are_gathered_and_searched(browser: httpx2.AsyncClient) -> None:
    everything = (await browser.get("/debugging")).text.partition('id="symptoms"')[2]
    found = (await browser.get("/debugging?q=NONE+cut")).text.partition('id="symptoms"')[2]

    assert everything.count("<tr><td>") == 3
    assert '<a href="/chapters/a-second-look#another-look">1.2 A second look</a>' in found
    assert re.findall(r"<tr><td>(.*?)</td>", found) == ["<code>.grad</code> is <code>None</code>"]
    assert "1 row contains “NONE cut”" in found


async def test_what_was_searched_for_is_text(browser: httpx2.AsyncClient) -> None:
    assert "<b>x" not in (await browser.get("/debugging?q=%3Cb%3Ex")).text


async def test_the_navigation_leads_there(browser: httpx2.AsyncClient) -> None:
    assert '<a href="/debugging">Debugging</a>' in (await browser.get("/")).text


async def test_a_course_without_a_guide_says_so_and_has_no_link(settings: Settings, assets: Assets) -> None:
    bare = replace(load_course(COURSE)[0], debugging=None)
    app: FastAPI = create_app(settings, rates=Rates(100), assets=assets, read_course=lambda: bare)
    transport = httpx2.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://test") as visitor,
    ):
        missing, home = await visitor.get("/debugging"), await visitor.get("/")

    assert missing.status_code == 404
    assert "This course has no debugging guide." in missing.text
    assert "/debugging" not in home.text
