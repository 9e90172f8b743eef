"""Where readers begin: the first way in is the home page's button, and the course map lists them all."""

import re
from dataclasses import replace

import httpx2

from app.course.model import Start
from app.web.edge.site import Site

WAYS = (
    Start("From zero", "Because.", "/chapters/a-first-graph", "1.1 One"),
    Start("In trouble", "", "/debugging", "Help"),
)


async def test_a_course_without_ways_in_starts_with_its_first_chapter(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    first = site.read_course().numbered_chapters[0]
    home = (await browser.get("/")).text

    assert re.search(rf'<a class="button button-main" href="/chapters/{first.slug}">Start with', home)
    assert "Where to begin" not in (await browser.get("/course")).text


async def test_the_first_way_in_is_the_button_and_the_map_has_all(browser: httpx2.AsyncClient, site: Site) -> None:
    course = replace(site.read_course(), starts=WAYS)
    object.__setattr__(site, "read_course", lambda: course)
    home, mapped = (await browser.get("/")).text, (await browser.get("/course")).text

    assert '<a class="button button-main" href="/chapters/a-first-graph">Start with 1.1 One</a>' in home
    assert 'In trouble: <a href="/debugging">Help</a>' in home
    assert "Where to begin" in mapped
    assert all(f'<a href="{way.href}">{way.title}</a>' in mapped for way in WAYS)
    assert "Because." in mapped
