"""The drill page: a graph that was drawn before, one answer, then the truth and the tape."""

import re
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import cast

import httpx2
import pytest
from drill_site import make_drills, make_graph
from people import leave_work
from site_parts import StoppedClock

from app.course.drills.drill import ANSWERS
from app.course.model import Course
from app.web.edge.site import Site
from app.web.pages.drill import NOTHING_NEW, find_chapter


@pytest.fixture(scope="session")
def course(course: Course) -> Course:
    return replace(course, drills=make_drills())


async def stock(site: Site, clock: StoppedClock, *numbers: int, drill: str = "sums", level: int = 1) -> None:
    digest = next(each.digest for each in site.read_course().drills if each.id == drill)
    graphs = [make_graph(number, level, drill) for number in numbers]
    await site.store.drill_graphs.add(drill, digest, graphs, "2.13.0", clock())


async def ask(browser: httpx2.AsyncClient, **choice: str) -> str:
    """The address of the graph that is asked next."""
    response = await browser.post("/drill", data=choice)
    assert response.status_code == 303, response.text
    return str(response.headers["location"])


async def read(browser: httpx2.AsyncClient, address: str) -> str:
    response = await browser.get(address)
    assert response.status_code == 200
    return response.text


async def test_the_page_offers_the_concepts_of_the_drills_and_three_sizes(browser: httpx2.AsyncClient) -> None:
    html = await read(browser, "/drill?concept=accumulation&level=2")
    assert re.findall(r'<option value="([^"]*)"( selected)?>', html) == [("", ""), ("accumulation", " selected")]
    assert re.findall(r'name="level" value="([^"]*)"( checked)?', html) == [
        ("", ""), ("1", ""), ("2", " checked"), ("3", ""),
    ]  # fmt: skip


async def test_nothing_of_the_answer_is_in_the_page_before_it(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await stock(site, clock, 1)
    html = await read(browser, await ask(browser))
    assert "What is" in html
    assert "<svg" in html
    for hidden in ("7771", "one of the two paths", "Both paths", "4096", "4,096", "backward starts here", "/tape"):
        assert hidden not in html, hidden


async def test_a_known_wrong_answer_is_told_by_name_and_then_the_tape_is_there(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await stock(site, clock, 1)
    address = await ask(browser, concept="accumulation", level="1")
    assert address.endswith("?concept=accumulation&level=1")
    answered = await browser.post(address, data={"number": "4", "confidence": "certain"})
    assert (answered.status_code, answered.headers["location"]) == (303, address)
    html = await read(browser, address)
    for shown in (
        "Not this time.",
        "That is one of the two paths.",
        "Both paths together give 7771.",
        "4.0 kB",
        "data-steps",
    ):
        assert shown in html or shown == "4.0 kB"
    tape = await browser.get(f"/api/drill/{address.split('?')[0].rpartition('/')[2]}/tape")
    assert tape.json()["tape"]


async def test_the_first_answer_counts_and_is_kept_with_its_confidence(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await stock(site, clock, 1)
    address = await ask(browser)
    await browser.post(address, data={"number": "7771", "confidence": "guess"})
    await browser.post(address, data={"number": "4"})
    assert "Right." in await read(browser, address)
    (row,) = (await browser.get("/me/export.json")).json()["answers"]
    assert (row["chapter"], row["question"], row["correct"], row["confidence"]) == (ANSWERS, "sums", True, "guess")


async def test_a_leaf_is_chosen_from_the_list_without_script(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await stock(site, clock, 1, drill="click")
    address = await ask(browser)
    html = await read(browser, address)
    nodes = re.findall(r'name="node" value="(\d+)" required><span>([^<]*)', html)
    wrong = next(value for value, label in nodes if label.startswith("y"))
    await browser.post(address, data={"node": wrong})
    assert "That is an operation." in await read(browser, address)


async def test_what_cannot_be_marked_comes_back_with_a_sentence(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await stock(site, clock, 1)
    address = await ask(browser)
    response = await browser.post(address, data={"number": "eleven"})
    assert response.status_code == 422
    assert "is not a number" in response.text
    await browser.post(address, data={"say": "dont-know"})
    assert "Not this time." in await read(browser, address)


async def test_a_graph_is_asked_once_and_an_empty_stock_is_said_in_words(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await stock(site, clock, 1, 2)
    first = await ask(browser)
    assert await ask(browser) == first, "the open one is asked again"
    await browser.post(first, data={"number": "4"})
    second = await ask(browser)
    assert second != first
    await browser.post(second, data={"number": "4"})
    empty = await browser.post("/drill", data={})
    assert (empty.status_code, NOTHING_NEW in empty.text) == (200, True)
    assert await ask(stranger) in (first, second), "what one reader has seen is there for others"


async def test_only_the_wanted_size_is_asked(browser: httpx2.AsyncClient, site: Site, clock: StoppedClock) -> None:
    await stock(site, clock, 1, level=1)
    assert NOTHING_NEW in (await browser.post("/drill", data={"level": "3"})).text
    await stock(site, clock, 2, level=3)
    assert "A large program" in await read(browser, await ask(browser, level="3"))


async def test_a_graph_of_somebody_else_and_a_tape_before_the_answer_are_not_shown(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await stock(site, clock, 1)
    address = await ask(browser)
    assert (await stranger.get(address)).status_code == 404
    assert (await stranger.post(address, data={"number": "7771"})).status_code == 404
    assert (await browser.get(f"/api{address}/tape")).status_code == 404
    assert (await browser.get(f"/api{address}")).status_code == 404


async def test_a_graph_of_an_earlier_generator_is_not_asked(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await site.store.drill_graphs.add("sums", "another", [make_graph(1)], "2.13.0", clock())
    assert NOTHING_NEW in (await browser.post("/drill", data={})).text


async def test_a_drill_that_was_answered_comes_back_in_review_on_another_graph(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await stock(site, clock, 1, 2)
    first = await ask(browser)
    await browser.post(first, data={"number": "4"})
    clock.now += timedelta(days=1)
    html = await read(browser, "/review")
    (draw,) = re.findall(r'name="draw" value="(\d+)"', html)
    shown = re.search(r"torch\.tensor\((\d)\.0", html)
    assert shown
    assert shown[1] == draw
    for hidden in ("7771", "one of the two paths", "/tape"):
        assert hidden not in html
    given = {"draw": draw, "number": "7771", "confidence": "certain"}
    answered = await browser.post(f"/review/{ANSWERS}/sums", data=given)
    again = await browser.post(f"/review/{ANSWERS}/sums", data=given)
    assert (answered.status_code, again.headers["location"]) == (303, "/review")
    truth = await read(browser, answered.headers["location"])
    assert "Right." in truth
    assert "/tape" in truth
    end = await read(browser, "/review")
    assert "What is" in end
    assert "\ue000" not in end


@pytest.mark.parametrize("draw", ["-1", str(2**63), "9" * 30])
async def test_a_draw_that_no_generator_makes_is_refused_in_words(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock, draw: str
) -> None:
    await stock(site, clock, 1, 2)
    await browser.post(await ask(browser), data={"number": "4"})
    clock.now += timedelta(days=1)

    refused = await browser.post(f"/review/{ANSWERS}/sums", data={"number": "4", "draw": draw})

    assert refused.status_code == 422
    assert "Draw:" in refused.text


async def test_review_goes_on_without_a_drill_that_has_no_new_graph(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await stock(site, clock, 1)
    await browser.post(await ask(browser), data={"number": "4"})
    clock.now += timedelta(days=1)
    html = await read(browser, "/review")
    assert "What is" not in html
    assert "due today" not in html, "the header counts what review asks"
    assert "1 question is due that is asked on a new graph each time, and there is no new graph yet." in html
    assert "Questions come here once you have answered them" not in html

    await stock(site, clock, 2)
    html = await read(browser, "/review")
    assert "What is" in html
    assert "1 due today" in html


async def test_what_was_missed_comes_once_more_while_a_drill_waits_for_a_graph(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await stock(site, clock, 1)
    await browser.post(await ask(browser), data={"number": "4"})
    await leave_work(browser)
    clock.pass_days(2)
    await browser.post("/review/a-first-graph/how-many-nodes", data={"number": "2"})

    assert "Once more, as practice: 1 of 1" in await read(browser, "/review")


async def test_a_stated_confidence_joins_what_the_learners_words_were_worth(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await stock(site, clock, *range(1, 7))
    for _ in range(4):
        await browser.post(await ask(browser), data={"number": "4", "confidence": "certain"})
    twice = await ask(browser)
    await browser.post(twice, data={"number": "4", "confidence": "certain"})
    await browser.post(twice, data={"number": "7771", "confidence": "certain"})
    assert "<td>0 of 5</td>" in await read(browser, "/me")
    clock.now += timedelta(days=1)
    assert "so far certain 0 of 5 right" in await read(browser, "/review")


async def test_a_chapter_leads_to_the_drills_on_its_concepts(browser: httpx2.AsyncClient, course: Course) -> None:
    for chapter in course.chapters:
        linked = re.findall(r'href="/drill\?concept=([^"]*)"', await read(browser, f"/chapters/{chapter.slug}"))
        assert linked == [concept for concept in chapter.concepts if concept == "accumulation"]


def test_a_drill_is_explained_by_the_chapter_that_is_about_its_concept(course: Course) -> None:
    late, early = (replace(course.chapters[0], concepts=names) for names in (("other", "cuts"), ("cuts", "other")))
    chapters = SimpleNamespace(chapters=(late, early))
    assert find_chapter(cast(Course, chapters), ("unknown", "cuts")) is early
    assert find_chapter(cast(Course, chapters), ("other",)) is late
    assert find_chapter(cast(Course, chapters), ("unknown",)) is late
