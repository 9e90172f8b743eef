"""Any course: the fixture's and this repository's differ in nothing but content, and one may live anywhere."""

import asyncio
import re
import shutil
import subprocess
from pathlib import Path

import httpx2
import pytest

from app.course.loader import load_course
from app.main import create_app
from app.settings import Settings
from app.storage.database import migrate
from graders.contract.settings import GraderSettings

ROOT = Path(__file__).resolve().parents[2]
FIXTURE = ROOT / "tests" / "course"

CONTENT = re.compile(
    r"""
    course\.toml | glossary\.md
    | chapters/[a-z0-9-]+/(
        chapter\.md | evidence\.json
        | (traces|variants|measures)/[a-z0-9-]+\.json
        | figures/[\w.-]+\.(svg|png|jpg|webp)
      )
    | exercises/[a-z0-9-]+/(
        exercise\.toml | (prompt|hints)\.md | (starter|solution|cases|probe|host|benchmark)\.py
        | (attempts|mutants)/\w+\.py
      )
    """,
    re.VERBOSE,
)
"""All that a course is made of: text, figures, and what the check wrote; no page, no style, no script, no plug-in."""


def files_of(course: Path) -> list[str]:
    parts = ("course.toml", "glossary.md", "chapters", "exercises")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", *parts], cwd=course, capture_output=True, text=True, check=True
    )
    return listed.stdout.split()


@pytest.mark.parametrize("course", [ROOT, FIXTURE], ids=["this course", "the fixture"])
def test_a_course_is_made_of_content_alone(course: Path) -> None:
    files = files_of(course)

    assert "course.toml" in files
    assert [name for name in files if not CONTENT.fullmatch(name)] == []


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """The fixture in its own git repository, away from the engine."""
    root = Path(shutil.copytree(FIXTURE, tmp_path / "my course", ignore=shutil.ignore_patterns(".cache")))
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


async def open_pages(root: Path, data: Path) -> dict[str, int]:
    """The status of every page that a course gives rise to."""
    settings = Settings(data=data, course=root)
    await asyncio.to_thread(data.mkdir)
    await asyncio.to_thread(migrate, settings.database, settings.data)
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        course = app.state.site.read_course()
        paths = ["/", "/course", "/claims", "/me", "/help"]
        paths += [f"/chapters/{chapter.slug}" for chapter in course.chapters]
        paths += [f"/exercises/{name}" for name in course.exercises]
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as client:
            return {path: (await client.get(path)).status_code for path in paths}


async def test_a_course_in_a_repository_of_its_own_is_served_whole(elsewhere: Path, tmp_path: Path) -> None:
    pages = await open_pages(elsewhere, tmp_path / "data")

    assert set(pages.values()) == {200}
    assert "/chapters/a-first-graph" in pages
    assert "/exercises/double" in pages


@pytest.mark.slow
async def test_this_course_is_served_whole_by_the_same_engine(tmp_path: Path) -> None:
    pages = await open_pages(ROOT, tmp_path / "data")

    assert set(pages.values()) == {200}
    assert len(pages) > 5


def test_a_course_reads_the_same_wherever_it_stands(elsewhere: Path) -> None:
    here, there = load_course(FIXTURE), load_course(elsewhere)

    assert here[1] == there[1] == ()
    assert [chapter.slug for chapter in here[0].chapters] == [chapter.slug for chapter in there[0].chapters]
    assert here[0].evidence == there[0].evidence


def test_website_and_graders_take_the_course_from_the_same_place(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNWIND_COURSE", str(elsewhere))

    assert Settings().course == elsewhere
    assert GraderSettings().exercises == elsewhere / "exercises"


async def test_a_course_without_torch_shows_its_own_name_and_nothing_of_torch(
    elsewhere: Path, tmp_path: Path
) -> None:
    path = elsewhere / "course.toml"
    text = path.read_text().replace('torch = "2.13.0"\n', 'brand = "Tiny"\nlead = "Words of its own."\n')
    await asyncio.to_thread(path.write_text, text)
    settings = Settings(data=tmp_path / "data", course=elsewhere)
    await asyncio.to_thread(settings.data.mkdir)
    await asyncio.to_thread(migrate, settings.database, settings.data)
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as client:
            home = (await client.get("/")).text

    assert '<span class="brand-name">Tiny</span>' in home
    assert "Words of its own." in home
    assert [word for word in ("PyTorch", "Unwind", 'href="/play"', "import torch") if word in home] == []


def test_make_check_checks_the_course_that_it_is_given(tmp_path: Path) -> None:
    command = ["make", "-n", "check", f"COURSE={tmp_path / 'my course'}", "ARGS=--text"]

    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert f'-m app check "{tmp_path / "my course"}" --text' in said
