"""Pages beside the numbered chapters: shown like chapters, without a number, and not counted among them."""

from pathlib import Path
from shutil import copytree

import httpx2
import pytest
from site_parts import COURSE

from app.course.loader import load_course
from app.course.model import Course

PAGES = """
[[modules]]
id = "beside"
numbered = false
title = "Beside the course"
summary = "Two pages."
chapters = [
  { slug = "a-second-look" },
  { slug = "a-page-to-come", title = "A page to come" },
]
"""


@pytest.fixture
def course(tmp_path: Path) -> Course:
    root = Path(copytree(COURSE, tmp_path / "course"))
    path = root / "course.toml"
    path.write_text(path.read_text().replace('  { slug = "a-second-look" },\n', "") + PAGES)
    course, problems = load_course(root)
    assert problems == ()
    return course


async def test_a_page_names_its_module_and_no_place_among_the_chapters(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/chapters/a-second-look")).text

    assert "Beside the course</a>" in page
    assert "chapter 0 of" not in page
    assert "Module" not in page
    assert "No page follows this one" in page


async def test_chapters_lead_to_chapters_and_are_counted_without_the_pages(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/chapters/a-first-graph")).text

    assert "chapter 1 of 2" in page
    assert "The next chapter is still planned" in page
    assert "<dd>1 <span>of 2</span></dd>" in (await browser.get("/")).text


async def test_the_map_lists_the_pages_below_the_chapters(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/course")).text

    assert "1 of 2 chapters are written" in page
    assert page.index("Beside the course") > page.index("Later")
    assert '<a href="/chapters/a-second-look">A second look</a>' in page
    assert "1 planned page<" in page
    assert "None" not in page


async def test_the_modules_page_counts_pages_as_pages(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/modules/beside")).text

    assert "pages without a number" in page
    assert "1 of 2 pages written" in page
    assert "module 1, one of 2" in (await browser.get("/modules/start")).text
