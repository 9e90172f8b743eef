"""The search's page and its suggestions: what is found, how it is said, and what a reader may ask."""

from dataclasses import replace

import httpx2

from app.course.model import Course, Term
from app.main import create_app
from app.settings import Settings
from app.web.edge.assets import Assets
from app.web.edge.course_search import MAX_QUERY, CourseSearch
from app.web.edge.rates import PER_MINUTE, Act, Rates


async def test_a_hit_is_shown_with_its_kind_its_chapter_and_its_words_marked(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/search", params={"q": "leaf"})).text

    assert '<p class="search-kind">glossary' in page
    assert "<mark>Leaf</mark>" in page
    assert 'value="leaf"' in page


async def test_a_page_without_a_query_says_what_there_is_to_find(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/search")).text

    assert "There are " in page
    assert "sections" in page
    assert "Answers, hints and solutions are not searched." in page


async def test_nothing_found_says_what_was_searched(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/search", params={"q": "<xylophone>"})).text

    assert "Nothing contains “&lt;xylophone&gt;”." in page
    assert "Searched: " in page
    assert "of the glossary" in page


async def test_some_words_are_said_to_be_only_some(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/search", params={"q": "xylophone leaf"})).text

    assert "Nothing contains all of “xylophone leaf”." in page
    assert "search-hits" in page


async def test_suggestions_are_those_of_the_page(browser: httpx2.AsyncClient) -> None:
    answer = (await browser.get("/api/search", params={"q": " leaf  "})).json()
    page = (await browser.get("/search", params={"q": "leaf"})).text

    assert answer["searched"] == "leaf"
    assert answer["whole"] is True
    assert answer["hits"]
    assert [hit["href"] for hit in answer["hits"] if f'href="{hit["href"]}"' not in page] == []


async def test_a_query_that_is_too_long_is_refused(browser: httpx2.AsyncClient) -> None:
    at_most = await browser.get("/api/search", params={"q": "x" * MAX_QUERY})
    longer = await browser.get("/api/search", params={"q": "x" * (MAX_QUERY + 1)})

    assert (at_most.status_code, longer.status_code) == (200, 422)


async def test_a_search_alone_leaves_nothing_about_its_reader(browser: httpx2.AsyncClient) -> None:
    await browser.get("/search", params={"q": "leaf"})

    assert list(browser.cookies) == []


async def test_searches_are_counted(settings: Settings, assets: Assets, course: Course) -> None:
    app = create_app(settings, rates=Rates(factor=0.1), assets=assets, read_course=lambda: course)
    transport = httpx2.ASGITransport(app=app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url="http://testserver") as client,
    ):
        await client.put("/api/drafts/exercises/double", json={"text": "x"})
        allowed = round(PER_MINUTE[Act.SEARCH] * 0.1)
        statuses = [(await client.get("/api/search", params={"q": "leaf"})).status_code for _ in range(allowed + 1)]

    assert statuses == [200] * allowed + [429]


async def test_a_changed_course_is_indexed_anew(course: Course) -> None:
    changed = replace(course, glossary=(Term("aardvark", "Aardvark", "<p>An animal.</p>"),))
    search = CourseSearch()

    before = await search.find(course, "aardvark", 5)
    after = await search.find(changed, "aardvark", 5)

    assert (len(before.hits), len(after.hits)) == (0, 1)
