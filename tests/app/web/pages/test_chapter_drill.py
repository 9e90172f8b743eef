"""A drill inside a chapter: drawn for the reader, answered there without script, and kept as a drill's answer."""

import re
from dataclasses import replace
from datetime import timedelta

import httpx2
import pytest
from drill_site import make_drills, make_graph
from site_parts import FRAGMENT, StoppedClock

from app.course.blocks import DrillPlace, Where
from app.course.drills.drill import ANSWERS
from app.course.model import Chapter, Course
from app.web.api.drills import NO_GRAPH_YET
from app.web.edge.site import Site

PAGE = "/chapters/a-first-graph"
HERE = {"chapter": "a-first-graph"}


def add_drill(course: Course, slug: str, name: str) -> Course:
    """The course with its drills, and the place of one at the end of a chapter."""
    place = DrillPlace(name, "<p>Now on a new graph.</p>", Where(f"chapters/{slug}/chapter.md", 1))
    modules = []
    for module in course.modules:
        chapters = tuple(
            replace(one, blocks=(*one.blocks, place), lines=(*one.lines, 1))
            if isinstance(one, Chapter) and one.slug == slug
            else one
            for one in module.chapters
        )
        modules.append(replace(module, chapters=chapters))
    return replace(course, modules=tuple(modules), drills=make_drills())


@pytest.fixture(scope="session")
def course(course: Course) -> Course:
    return add_drill(add_drill(course, "a-first-graph", "sums"), "a-second-look", "click")


async def stock(site: Site, clock: StoppedClock, *numbers: int, drill: str = "sums") -> None:
    digest = next(each.digest for each in site.read_course().drills if each.id == drill)
    graphs = [make_graph(number, 1, drill) for number in numbers]
    await site.store.drill_graphs.add(drill, digest, graphs, "2.13.0", clock())


async def read(browser: httpx2.AsyncClient, address: str = PAGE) -> str:
    response = await browser.get(address)
    assert response.status_code == 200
    return response.text


def find_form(html: str) -> str:
    """Where the drill's question is sent."""
    found = re.findall(r'action="(/drill/[^"]+)"', html)
    assert len(found) == 1
    return str(found[0])


async def test_reading_draws_nothing_and_a_press_asks_a_graph_at_the_same_place(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await stock(site, clock, 1)
    html = await read(browser)
    assert "Now on a new graph." in html
    assert "Draw a graph for me" in html
    assert 'action="/drill/' not in html
    response = await browser.post("/drill", data=HERE)
    assert (response.status_code, response.headers["location"]) == (303, f"{PAGE}#sums")
    html = await read(browser)
    assert "What is <code>x.grad</code>" in html
    for hidden in ("7771", "one of the two paths", "Both paths", "/api/drill"):
        assert hidden not in html, hidden


async def test_an_answer_in_a_chapter_is_kept_as_the_drills_and_comes_back_in_review(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await stock(site, clock, 1, 2)
    await browser.post("/drill", data=HERE)
    action = find_form(await read(browser))
    answered = await browser.post(action, data={"number": "4", "confidence": "certain"})
    assert (answered.status_code, answered.headers["location"]) == (303, f"{PAGE}#sums")
    html = await read(browser)
    for shown in ("Not this time.", "That is one of the two paths.", "Both paths together give 7771.", "/tape"):
        assert shown in html, shown
    assert "Another graph" in html
    (row,) = (await browser.get("/me/export.json")).json()["answers"]
    assert (row["chapter"], row["question"], row["correct"], row["confidence"]) == (ANSWERS, "sums", False, "certain")
    clock.now += timedelta(days=2)
    assert "What is <code>x.grad</code>" in await read(browser, "/review")


async def test_an_answer_sent_twice_counts_once_and_another_graph_follows(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await stock(site, clock, 1, 2)
    await browser.post("/drill", data=HERE)
    first = find_form(await read(browser))
    await browser.post(first, data={"number": "7771"})
    await browser.post(first, data={"number": "4"})
    assert "Right." in await read(browser)
    await browser.post("/drill", data=HERE)
    assert find_form(await read(browser)) != first


async def test_a_script_gets_the_block_alone(browser: httpx2.AsyncClient, site: Site, clock: StoppedClock) -> None:
    await stock(site, clock, 1)
    asked = await browser.post("/drill", data=HERE, headers=FRAGMENT)
    assert (asked.status_code, asked.text.lstrip()[:12]) == (200, "<uw-question")
    wrong = await browser.post(find_form(asked.text), data={"number": "eleven"}, headers=FRAGMENT)
    assert (wrong.status_code, "is not a number" in wrong.text) == (422, True)
    right = await browser.post(find_form(wrong.text), data={"number": "7771"}, headers=FRAGMENT)
    assert (right.status_code, "Right." in right.text) == (200, True)


async def test_what_cannot_be_marked_comes_back_on_the_page_with_a_sentence(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await stock(site, clock, 1)
    await browser.post("/drill", data=HERE)
    action = find_form(await read(browser))
    response = await browser.post(action, data={"number": "eleven"})
    assert (response.status_code, "is not a number" in response.text) == (422, True)
    assert find_form(response.text) == action


async def test_an_empty_stock_is_said_at_the_place(browser: httpx2.AsyncClient) -> None:
    response = await browser.post("/drill", data=HERE)
    assert (response.status_code, NO_GRAPH_YET in response.text) == (422, True)


async def test_a_node_is_chosen_in_the_chapter_and_each_reader_has_a_graph_of_their_own(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await stock(site, clock, 1, 2, drill="click")
    await browser.post("/drill", data={"chapter": "a-second-look"})
    html = await read(browser, "/chapters/a-second-look")
    assert 'data-graph="drill-graph"' in html
    node = next(
        value
        for value, label in re.findall(r'name="node" value="(\d+)" required><span>([^<]*)', html)
        if label.startswith("x")
    )
    action = find_form(html)
    assert (await stranger.post(action, data={"node": node})).status_code == 404
    assert "Draw a graph for me" in await read(stranger, "/chapters/a-second-look")
    await browser.post(action, data={"node": node})
    assert "Right." in await read(browser, "/chapters/a-second-look")


async def test_a_chapter_that_asks_no_drill_leaves_the_choice_to_the_drill_page(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await stock(site, clock, 1)
    response = await browser.post("/drill", data={"chapter": "no-such-chapter"})
    assert response.headers["location"].startswith("/drill/")
