"""A preview reads the course as its files are, says what is wrong where it stands, and tells of every change."""

import asyncio
import shutil
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from app.course.loader import CourseReader
from app.main import create_app
from app.preview import Preview
from app.settings import Settings
from app.storage.database import migrate

pytestmark = pytest.mark.slow

FIXTURE = Path(__file__).resolve().parents[1] / "course"
CHAPTER = "chapters/a-first-graph/chapter.md"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURE, tmp_path / "course", ignore=shutil.ignore_patterns(".cache")))


def edit(root: Path, old: str, new: str, path: str = CHAPTER) -> None:
    text = (root / path).read_text()
    assert old in text
    (root / path).write_text(text.replace(old, new, 1))


def line_of(root: Path, text: str) -> int:
    lines = (root / CHAPTER).read_text().split("\n")
    return next(number for number, line in enumerate(lines, 1) if text in line)


@asynccontextmanager
async def serve(root: Path, *, preview: bool = True) -> AsyncIterator[httpx2.AsyncClient]:
    settings = Settings(data=root.parent / "data", course=root, preview=preview)
    settings.data.mkdir(exist_ok=True)
    await asyncio.to_thread(migrate, settings.database, settings.data)
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as client:
            yield client


async def test_a_change_is_told_in_less_than_a_second(root: Path) -> None:
    preview = Preview(CourseReader(root))
    preview.watch.start()
    versions = preview.watch.versions()
    first = await anext(versions)

    edit(root, "## Boxes", "## Boxes and more")
    started = time.monotonic()
    second = await asyncio.wait_for(anext(versions), timeout=5)
    took = time.monotonic() - started
    await versions.aclose()
    preview.watch.stop()

    assert first != second
    assert second == preview.note().version
    assert took < 1


async def test_a_page_shows_what_was_saved_last(root: Path) -> None:
    async with serve(root) as client:
        before = (await client.get("/chapters/a-first-graph")).text
        edit(root, "## Boxes", "## Boxes and more")
        after = (await client.get("/chapters/a-first-graph")).text

    assert "Boxes and more" not in before
    assert "Boxes and more" in after
    assert "0 mistakes, 0 drafts" in after


async def test_a_mistake_stands_in_the_page_after_the_block_that_it_is_in(root: Path) -> None:
    edit(root, "Code that is only read", "Code that is [only](#nowhere) read")
    line = line_of(root, "#nowhere")

    async with serve(root) as client:
        page = (await client.get("/chapters/a-first-graph")).text

    assert f"<code>{CHAPTER}:{line}</code>" in page
    assert "this chapter has no anchor &#39;nowhere&#39;" in page
    assert page.index("Code that is") < page.index(f"{CHAPTER}:{line}") < page.index("y.backward")
    assert "1 mistake, 0 drafts" in page


async def test_a_directive_that_cannot_be_built_leaves_its_mistake_in_its_place(root: Path) -> None:
    edit(root, "## Boxes", ":::{carefull}\nWords.\n:::\n\n## Boxes")

    async with serve(root) as client:
        page = (await client.get("/chapters/a-first-graph")).text

    assert "did you mean &#39;careful&#39;?" in page
    assert page.index("Two circles") < page.index("did you mean") < page.index('id="boxes"')


async def test_a_chapter_without_a_head_says_so_and_the_list_names_the_line(root: Path) -> None:
    edit(root, "title: A first graph\n", "")

    async with serve(root) as client:
        page = await client.get("/chapters/a-first-graph")
        listed = (await client.get("/preview")).text

    assert page.status_code == 404
    assert "Mistakes keep this chapter from being shown" in page.text
    assert "the front matter has no &#39;title&#39;" in page.text
    assert "the front matter has no &#39;title&#39;" in listed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("concepts: [", "concepts: [nonsense, "),
        ("prerequisites: []", "prerequisites: [nonsense]"),
        (":::{exercise} double", ":::{exercise} doubel"),
        (":resolved-by: ", ":resolved-by: no-"),
    ],
)
async def test_what_points_at_nothing_does_not_keep_a_page_from_being_shown(root: Path, old: str, new: str) -> None:
    path = next(
        f"chapters/{slug}/chapter.md"
        for slug in ("a-first-graph", "a-second-look")
        if old in (root / "chapters" / slug / "chapter.md").read_text()
    )
    edit(root, old, new, path)

    async with serve(root) as client:
        answers = [await client.get(address) for address in ("/" + path.rsplit("/", 1)[0], "/", "/course", "/me")]
    async with serve(root, preview=False) as client:
        answers += [await client.get(address) for address in ("/" + path.rsplit("/", 1)[0], "/", "/course", "/me")]

    assert [answer.status_code for answer in answers] == [200] * 8


async def test_a_course_file_that_cannot_be_read_leaves_the_list(root: Path) -> None:
    (root / "course.toml").write_text("title = ")

    async with serve(root) as client:
        home, listed = await client.get("/"), (await client.get("/preview")).text

    assert home.status_code == 200
    assert "course.toml:1" in listed


async def test_an_exercise_s_mistakes_stand_at_the_head_of_its_page_and_learners_see_none(root: Path) -> None:
    (root / "exercises" / "double" / "cases.py").unlink()
    edit(root, 'file = "endless.py"', 'file = "endles.py"', "exercises/double/exercise.toml")

    async with serve(root) as client:
        page = (await client.get("/exercises/double")).text
        other = (await client.get("/exercises/pull-back")).text
    async with serve(root, preview=False) as client:
        learners = (await client.get("/exercises/double")).text

    assert page.index("exercises/double/cases.py:1") < page.index('class="exercise-task"')
    assert "the exercise &#39;double&#39; has no cases.py" in page
    assert "did you mean &#39;endless.py&#39;?" in page
    assert "A mistake in" not in other
    assert "A mistake in" not in learners


async def test_an_exercise_that_cannot_be_read_lists_its_mistakes_in_its_place(root: Path) -> None:
    edit(root, 'difficulty = "', 'difficulty = "very ', "exercises/double/exercise.toml")

    async with serve(root) as client:
        page = await client.get("/exercises/double")
        nothing = await client.get("/exercises/doubel")
    async with serve(root, preview=False) as client:
        learners = await client.get("/exercises/double")

    assert (page.status_code, nothing.status_code, learners.status_code) == (404, 404, 404)
    assert "Mistakes keep this exercise from being shown." in page.text
    assert "exercises/double/exercise.toml:" in page.text
    assert "There is no exercise of that name." in nothing.text
    assert "A mistake in" not in nothing.text + learners.text


async def test_a_mistake_in_what_was_drawn_for_a_chapter_stands_at_its_end(root: Path) -> None:
    (root / "chapters" / "a-second-look" / "variants" / "sum-of-uses.json").write_text("{}")

    async with serve(root) as client:
        page = (await client.get("/chapters/a-second-look")).text

    assert "<code>chapters/a-second-look/variants/sum-of-uses.json:1</code>" in page


async def test_its_author_alone_sees_a_draft(root: Path) -> None:
    edit(root, "title: A first graph", "title: A first graph\ndraft: true")
    edit(root, "prerequisites: [a-first-graph]", "prerequisites: []", "chapters/a-second-look/chapter.md")

    async with serve(root) as client:
        draft = await client.get("/chapters/a-first-graph")
        listed = (await client.get("/preview")).text
    async with serve(root, preview=False) as client:
        hidden, course = await client.get("/chapters/a-first-graph"), (await client.get("/course")).text

    assert draft.status_code == 200
    assert '<span class="tag">draft</span>' in draft.text
    assert f"<code>{CHAPTER}</code>" in listed
    assert hidden.status_code == 404
    assert "A first graph" in course
    assert 'href="/chapters/a-first-graph"' not in course


async def test_learners_meet_nothing_of_a_preview(root: Path) -> None:
    async with serve(root, preview=False) as client:
        page = (await client.get("/")).text
        answers = [(await client.get(path)).status_code for path in ("/preview", "/preview/versions")]

    assert "preview" not in page
    assert answers == [404, 404]


def test_an_unchanged_page_opens_no_file_of_the_course_and_lists_each_folder_once(root: Path) -> None:
    """With 200 chapters a page took 2.1 s, because each part of it looked at every file for itself."""
    seen: list[tuple[str, str]] = []
    counting = False

    def note(event: str, arguments: tuple[object, ...]) -> None:
        if counting and event in ("open", "os.scandir", "os.listdir") and str(arguments[0]).startswith(str(root)):
            seen.append((event, str(arguments[0])))

    sys.addaudithook(note)
    preview = Preview(CourseReader(root))
    preview.course()
    counting = True
    preview.course()
    preview.note()
    preview.problems_under("chapters/a-first-graph")
    counting = False

    assert [path for event, path in seen if event == "open"] == []
    folders = [path for path in root.rglob("*") if path.is_dir()]
    assert len(seen) <= len(folders) + 1
