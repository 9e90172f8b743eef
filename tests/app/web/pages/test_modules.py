"""A module's page, and where a chapter stands in the whole."""

import httpx2


async def test_a_module_lists_its_chapters_with_what_they_teach_and_their_exercises(
    browser: httpx2.AsyncClient,
) -> None:
    page = (await browser.get("/modules/start")).text

    assert "module 1, one of 2" in page
    assert "2 of 2 chapters written" in page
    assert 'href="/chapters/a-second-look"' in page
    assert 'href="/exercises/double"' in page
    assert 'rel="next" href="/modules/later"' in page


async def test_a_module_without_a_written_chapter_says_so(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/modules/later")).text

    assert "Its one chapter is still planned" in page
    assert "Wait for it" in page
    assert 'rel="prev" href="/modules/start"' in page


async def test_a_module_that_is_not_there_is_told_in_words(browser: httpx2.AsyncClient) -> None:
    answer = await browser.get("/modules/nowhere")

    assert answer.status_code == 404
    assert "There is no module of that name." in answer.text


async def test_a_chapter_says_which_of_all_it_is_and_links_to_its_module(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/chapters/a-second-look")).text

    assert "chapter 2 of 3" in page
    assert 'href="/modules/start"' in page
    assert 'href="/modules/start"' in (await browser.get("/course")).text
