"""Versions of the course: copied, compared, made live and rolled back; one with mistakes never becomes live."""

import asyncio
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from app.course.loader import load_course
from app.course.model import Course
from app.course.versions import compare
from app.publish import main as publish
from app.publishing import (
    NotPublishable,
    PublishedCourse,
    add_version,
    brief_of,
    make_live,
    read_version,
    read_versions,
)
from app.settings import Settings
from app.storage.store import Store
from graders.contract.course_versions import (
    GIVEN,
    MAX_KEPT,
    Live,
    courses_folder,
    list_versions,
    read_live,
    version_folder,
    write_live,
)
from graders.ledger import Database

pytestmark = pytest.mark.slow

COURSE = Path(__file__).parent.parent / "course"
CHAPTER = "chapters/a-first-graph/chapter.md"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A copy of the fixture course, to be edited."""
    return Path(shutil.copytree(COURSE, tmp_path / "course"))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    return folder


def edit(root: Path, old: str, new: str, path: str = CHAPTER) -> None:
    text = (root / path).read_text(encoding="utf-8")
    assert old in text
    (root / path).write_text(text.replace(old, new), encoding="utf-8")


def title_of(course: Course) -> str:
    return course.index.by_slug["a-first-graph"].title


def retitle(root: Path, title: str) -> None:
    edit(root, title_of(load_course(root)[0]), title)


async def nothing(course: Course) -> None:
    """What a site would do with a course before its readers see it."""


def test_a_version_is_a_copy_that_later_edits_do_not_touch(root: Path, data: Path) -> None:
    added = add_version(root, data, NOON)
    edit(root, "Both operands are `x`", "Both sides are `x`")

    copy = load_course(version_folder(data, added.version))
    assert copy[1] == ()
    assert copy[0].version == load_course(COURSE)[0].version == added.brief.content
    assert read_live(data) is None


def test_the_same_files_are_added_once(root: Path, data: Path) -> None:
    first = add_version(root, data, NOON)

    assert add_version(root, data, NOON + timedelta(minutes=1)) == first
    edit(root, "Both operands are `x`", "Both sides are `x`")
    assert add_version(root, data, NOON + timedelta(minutes=2)).version != first.version


def test_a_course_with_mistakes_is_not_added_and_the_message_names_them(root: Path, data: Path) -> None:
    edit(root, ":resolved-by: square-cell", ":resolved-by: nowhere")

    with pytest.raises(NotPublishable, match=f"{CHAPTER}:[0-9]+: .*nowhere"):
        add_version(root, data, NOON)
    assert list_versions(data) == ()


def test_only_the_newest_versions_are_kept_and_the_live_one(root: Path, data: Path) -> None:
    first = add_version(root, data, NOON).version
    make_live(data, root, first, NOON)
    for count in range(1, MAX_KEPT + 3):
        (root / "glossary.md").write_text((root / "glossary.md").read_text() + "\n", encoding="utf-8")
        newest = add_version(root, data, NOON + timedelta(minutes=count)).version

    kept = list_versions(data)
    assert kept[0] == newest
    assert first in kept
    assert len(kept) == MAX_KEPT + 1


def test_what_changed_is_said_by_chapter_and_exercise(root: Path, data: Path) -> None:
    before = brief_of(load_course(root)[0])
    edit(root, "Both operands are `x`", "Both sides are `x`")
    edit(root, "Code that is only read stands", "Code that is read alone stands")
    name = next(iter(before.exercises))
    cases = root / "exercises" / name / "cases.py"
    cases.write_text(cases.read_text(encoding="utf-8") + "\n# edited\n", encoding="utf-8")

    changes = {change.title: change.words for change in compare(before, brief_of(load_course(root)[0]))}

    blocks = "2 blocks new or changed; 2 blocks gone or changed"
    assert changes == {
        before.chapters["a-first-graph"].title: f"{blocks}; questions and predictions that changed: double-use",
        f"Exercise: {before.exercises[name].title}": "is judged by other files; consider a regrade",
    }
    assert compare(before, before) == ()


async def test_a_running_site_follows_what_is_live_and_goes_back(root: Path, data: Path) -> None:
    shown = PublishedCourse(data, COURSE)
    given = title_of(shown.course())
    retitle(root, "Another title")
    version = add_version(root, data, NOON).version

    await shown.switch(nothing)
    assert (title_of(shown.course()), shown.version) == (given, GIVEN)
    make_live(data, COURSE, version, NOON)
    assert title_of(shown.course()) == given
    await shown.switch(nothing)
    assert (title_of(shown.course()), shown.version) == ("Another title", version)
    assert title_of(PublishedCourse(data, COURSE).course()) == "Another title"
    make_live(data, COURSE, GIVEN, NOON)
    await shown.switch(nothing)
    assert title_of(shown.course()) == given


async def test_readers_see_the_present_version_until_the_next_is_ready(root: Path, data: Path) -> None:
    shown = PublishedCourse(data, COURSE)
    retitle(root, "Another title")
    make_live(data, COURSE, add_version(root, data, NOON).version, NOON)
    seen_meanwhile = []

    async def look(course: Course) -> None:
        seen_meanwhile.append((title_of(course), title_of(shown.course())))

    await asyncio.gather(shown.switch(look), shown.switch(look))

    assert seen_meanwhile == [("Another title", title_of(load_course(COURSE)[0]))]


async def test_a_broken_version_never_goes_live(root: Path, data: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Not by the command, not by a file that is written past it, and not at the next start."""
    version = add_version(root, data, NOON).version
    edit(version_folder(data, version), ":resolved-by: square-cell", ":resolved-by: nowhere")
    shown = PublishedCourse(data, COURSE)

    with pytest.raises(NotPublishable, match="nowhere"):
        make_live(data, COURSE, version, NOON)
    assert read_live(data) is None
    write_live(data, Live(version=version, before=GIVEN, at=NOON))
    await shown.switch(nothing)

    assert shown.version == PublishedCourse(data, COURSE).version == GIVEN
    assert "nowhere" in shown.refused
    assert "nowhere" in caplog.text


def test_a_version_that_is_gone_is_refused_in_words(data: Path) -> None:
    for version, words in (("20260301-120000-0123abcd", "not kept any more"), ("../etc", "names no version")):
        with pytest.raises(NotPublishable, match=words):
            make_live(data, COURSE, version, NOON)
    with pytest.raises(NotPublishable, match="cannot be read"):
        read_version(data, "20260301-120000-0123abcd")


def test_a_folder_that_cannot_be_written_is_named(root: Path, data: Path) -> None:
    """As where the website may only read the folder of the published versions."""
    version = add_version(root, data, NOON).version
    (courses_folder(data) / "live.json").mkdir()

    with pytest.raises(NotPublishable, match="courses cannot be written here"):
        make_live(data, COURSE, version, NOON)


def test_the_command_checks_publishes_lists_and_goes_back(
    root: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, told = Settings(data=data, course=COURSE), list[str]()
    retitle(root, "Another title")

    assert publish([str(root), "--text", "--wait"], settings, told.append) == 0
    assert read_live(data) is None
    assert publish([str(root), "--text"], settings, told.append) == 0
    version = read_versions(data)[0].version
    live = read_live(data)
    assert live is not None
    assert (live.version, live.before) == (version, GIVEN)
    assert publish(["--list"], settings, told.append) == 0
    assert any(line.startswith(version) and line.endswith("live") for line in told)
    assert publish(["--back"], settings, told.append) == 0
    assert (read_live(data) or live).version == GIVEN
    assert publish(["--version", version], settings, told.append) == 0
    edit(root, ":resolved-by: square-cell", ":resolved-by: nowhere")
    assert publish([str(root), "--text"], settings, told.append) == 1
    assert "not published" in capsys.readouterr().err
    assert (read_live(data) or live).version == version
    assert asyncio.run(read_verbs(settings)) == ["publish the course"] * 3


async def read_verbs(settings: Settings) -> list[str]:
    database = Database(settings.database)
    lines = await Store(database).accounts.audit_lines()
    await database.close()
    return [line.verb for line in lines]
