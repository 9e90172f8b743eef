"""Reporting a mistake of the course: from each block's link to the reader's own page."""

import re

import httpx2
import pytest
from site_parts import FRAGMENT

from app.storage.audit import Actor
from app.storage.reports import ReportFilter, ReportState
from app.web.edge.rates import PER_MINUTE, Act, Rates
from app.web.edge.site import Site
from app.web.pages.report import MAX_CHARACTERS

CHAPTER = "/chapters/a-first-graph"
QUESTION = "/report/chapters/a-first-graph/how-many-nodes"


async def list_links(browser: httpx2.AsyncClient, path: str) -> list[str]:
    page = await browser.get(path)
    assert page.status_code == 200
    return re.findall(r'class="report" href="([^"]+)"', page.text)


async def test_each_block_of_a_chapter_has_one_link_that_leads_to_a_form(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    links = await list_links(browser, CHAPTER)

    chapter = site.read_course().index.by_slug["a-first-graph"]
    assert sorted(links) == sorted(f"/report{CHAPTER}/{key}" for key in chapter.keys if key)
    assert [(await browser.get(link)).status_code for link in links] == [200] * len(links)


@pytest.mark.parametrize(
    ("path", "link", "words"),
    [
        ("/exercises/double", "/report/exercises/double/prompt", "the task"),
        ("/glossary", "/report/glossary/leaf", "leaf"),
        ("/debugging", "/report/debugging/", ""),
    ],
)
async def test_tasks_terms_and_steps_have_a_link_too(
    browser: httpx2.AsyncClient, path: str, link: str, words: str
) -> None:
    found = next(href for href in await list_links(browser, path) if href.startswith(link))

    form = await browser.get(found)

    assert form.status_code == 200
    assert words.casefold() in form.text.casefold()


async def test_a_report_is_stored_with_the_wording_that_was_read(browser: httpx2.AsyncClient, site: Site) -> None:
    form = await browser.get(QUESTION)
    found = re.search(r'name="content_hash" value="(\w+)"', form.text)
    assert found

    sent = await browser.post(QUESTION, data={"text": "  The sum is 7. ", "content_hash": found[1]})

    assert (sent.status_code, sent.headers["location"]) == (303, f"{QUESTION}?sent=true")
    assert "Your report is stored" in (await browser.get(sent.headers["location"])).text
    (report,) = await site.store.reports.find(ReportFilter())
    course = site.read_course()
    assert (report.page, report.block, report.text) == ("chapters/a-first-graph", "how-many-nodes", "The sum is 7.")
    assert report.content_hash == course.index.by_slug["a-first-graph"].hashes["how-many-nodes"] == found[1]
    assert report.course_version == course.version


async def test_a_script_gets_the_form_and_the_thanks_alone(browser: httpx2.AsyncClient) -> None:
    form = await browser.get(QUESTION, headers=FRAGMENT)
    thanks = await browser.post(QUESTION, data={"text": "wrong"}, headers=FRAGMENT)

    assert form.text.startswith('<div class="report-form"')
    assert thanks.text.startswith('<div class="report-form"')
    assert "Your report is stored" in thanks.text


@pytest.mark.parametrize(
    ("text", "problem"), [("  ", "The report is empty"), ("x" * (MAX_CHARACTERS + 1), "write at most 2000")]
)
async def test_a_report_has_a_text_of_some_length(
    browser: httpx2.AsyncClient, site: Site, text: str, problem: str
) -> None:
    refused = await browser.post(QUESTION, data={"text": text})

    assert refused.status_code == 422
    assert problem in refused.text
    assert await site.store.reports.find(ReportFilter()) == ()


async def test_a_line_break_counts_as_one_character(browser: httpx2.AsyncClient) -> None:
    """As the text area counts it, which lets a reader write so much."""
    text = "\r\n".join("x" * 199 for _ in range(10))

    sent = await browser.post(QUESTION, data={"text": text})

    assert sent.status_code == 303
    (row,) = (await browser.get("/me/export.json")).json()["reports"]
    assert row["text"] == text.replace("\r\n", "\n")


async def test_a_report_that_is_sent_twice_is_stored_once(browser: httpx2.AsyncClient, site: Site) -> None:
    for text in ("The sum is 7.", "The sum is 7.", "The sum is 8."):
        assert (await browser.post(QUESTION, data={"text": text})).status_code == 303

    found = await site.store.reports.find(ReportFilter())
    assert [report.text for report in found] == ["The sum is 8.", "The sum is 7."]


@pytest.mark.parametrize(
    "place", ["chapters/a-first-graph/none", "chapters/none/top~1", "none", "exercises/double/x"]
)
async def test_a_place_that_is_not_in_the_course_has_no_form(browser: httpx2.AsyncClient, place: str) -> None:
    assert (await browser.get(f"/report/{place}")).status_code == 404
    assert (await browser.post(f"/report/{place}", data={"text": "x"})).status_code == 404


async def test_only_so_many_reports_a_minute_are_taken(browser: httpx2.AsyncClient, site: Site) -> None:
    object.__setattr__(site, "rates", Rates())

    answers = [await browser.post(QUESTION, data={"text": "x"}) for _ in range(PER_MINUTE[Act.REPORT] + 1)]

    assert [answer.status_code for answer in answers] == [303] * PER_MINUTE[Act.REPORT] + [429]
    assert "6 reports per minute" in answers[-1].text


async def test_another_site_cannot_report_in_a_reader_s_name(browser: httpx2.AsyncClient, site: Site) -> None:
    refused = await browser.post(QUESTION, data={"text": "x"}, headers={"origin": "https://elsewhere.example"})

    assert refused.status_code == 403
    assert await site.store.reports.find(ReportFilter()) == ()


async def test_the_reader_sees_what_became_of_it_and_it_goes_with_their_data(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site
) -> None:
    await browser.post(QUESTION, data={"text": "The sum is <7>."})
    assert "The sum is &lt;7&gt;." in (await browser.get("/me")).text
    assert await site.store.reports.close(1, "It says 7 now.", None, Actor(None, site.clock()))
    assert "It says 7 now." in (await browser.get("/me")).text
    assert "What you reported" not in (await stranger.get("/me")).text
    assert (await browser.get("/me/export.json")).json()["reports"][0]["text"] == "The sum is <7>."
    await browser.post("/me/delete")
    assert await site.store.reports.find(ReportFilter(state=ReportState.ALL)) == ()
