"""`new` starts chapters and exercises that hold as they are, and enters chapters in course.toml."""

import io
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest

from app.check import main as check
from app.course.loader import load_course
from app.course.publish import without_drafts
from app.course.registering import CannotRegister, register_chapter
from app.new import main as start_new

FIXTURE = Path(__file__).resolve().parents[1] / "course"

TABLES = """\
[[modules]]
id = "one"  # the first

[[modules.chapters]]
slug = "a"

# About the second.
[[modules]]
id = "two"

[[modules.chapters]]
slug = "b"
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURE, tmp_path / "course", ignore=shutil.ignore_patterns(".cache")))


def start(root: Path, *arguments: str) -> tuple[int, str]:
    out = io.StringIO()
    return start_new([*arguments, "--course", str(root)], out), out.getvalue()


def slugs(text: str) -> list[list[str]]:
    return [[c["slug"] for c in module["chapters"]] for module in tomllib.loads(text)["modules"]]


def test_a_new_chapter_stands_in_the_course_as_a_draft_without_a_problem(root: Path) -> None:
    status, said = start(root, "chapter", "two-names", "--concept", "accumulation")

    course, problems = load_course(root)
    assert (status, problems) == (0, ())
    (chapter,) = (chapter for chapter in course.chapters if chapter.slug == "two-names")
    assert (chapter.title, chapter.draft, chapter.module, chapter.concepts) == (
        "Two names",
        True,
        "later",
        ("accumulation",),
    )
    assert "make preview" in said


def test_a_new_exercise_is_read_without_a_problem(root: Path) -> None:
    status, _ = start(root, "exercise", "squares", "--title", 'Add "squares"')

    course, problems = load_course(root)
    assert (status, problems) == (0, ())
    exercise = course.exercises["squares"]
    assert (exercise.manifest.title, exercise.manifest.draft, len(exercise.hints)) == ("Add 'squares'", True, 3)
    assert sum(attempt.cheat for attempt in exercise.manifest.attempts) == 1


def test_a_planned_chapter_keeps_its_title_and_its_place(root: Path) -> None:
    before = (root / "course.toml").read_text()

    start(root, "chapter", "a-third-thing")

    course, problems = load_course(root)
    assert problems == ()
    assert [chapter.title for chapter in course.chapters if chapter.draft] == ["A third thing"]
    assert (root / "course.toml").read_text() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("chapter", "Two Names"), "lower-case letters"),
        (("chapter", "../elsewhere"), "lower-case letters"),
        (("chapter", "a-first-graph"), "already exists"),
        (("exercise", "double"), "already exists"),
        (("chapter", "two-names", "--concept", "recoding"), "it has recording, accumulation"),
        (("chapter", "two-names", "--module", "middle"), "it has start, later"),
    ],
)
def test_what_cannot_be_started_is_said_and_nothing_is_written(
    root: Path, arguments: tuple[str, ...], said: str
) -> None:
    before = sorted(root.rglob("*"))

    status, words = start(root, *arguments)

    assert status == 1
    assert said in words
    assert sorted(root.rglob("*")) == before


def test_outside_a_course_it_says_where_to_go(tmp_path: Path) -> None:
    status, said = start(tmp_path, "chapter", "lost")

    assert status == 1
    assert "--course" in said


def test_a_chapter_is_entered_in_the_module_that_was_asked_for_and_all_else_stays() -> None:
    first, last = register_chapter(TABLES, "new", "one"), register_chapter(TABLES, "new")

    assert (slugs(first), slugs(last)) == ([["a", "new"], ["b"]], [["a"], ["b", "new"]])
    assert set(TABLES.split("\n")) <= set(first.split("\n"))


@pytest.mark.parametrize(
    "array",
    [
        'chapters = [{ slug = "a" }]',
        'chapters = [{ slug = "a" },]',
        "chapters = []",
        'chapters = [\n  { slug = "a" },\n]',
        'chapters = [\n  { slug = "a" }\n]',
        "chapters = [\n]",
    ],
)
def test_a_chapter_is_entered_in_an_array_however_it_is_laid_out(array: str) -> None:
    text = f'[[modules]]\nid = "one"\n{array}\n'

    assert slugs(register_chapter(text, "new"))[0][-1] == "new"


def test_a_layout_that_cannot_be_followed_is_left_alone() -> None:
    with pytest.raises(CannotRegister, match=r'add \{ slug = "new" \}'):
        register_chapter('modules = [{ id = "one", chapters = [] }]', "new")


@pytest.mark.box
@pytest.mark.torch
@pytest.mark.slow
def test_what_new_writes_is_proven_by_the_real_graders(root: Path) -> None:
    start(root, "chapter", "two-names")
    start(root, "exercise", "squares")
    out = io.StringIO()

    status = check([str(root), "--only", "chapters/two-names", "--only", "exercises/squares"], None, out)

    assert status == 0, out.getvalue()
    assert "chapters/two-names/chapter.md: a draft" in out.getvalue()


def test_a_chapter_that_learners_see_may_not_lean_on_a_draft(root: Path) -> None:
    start(root, "exercise", "squares")
    start(root, "chapter", "two-names")
    path = root / "chapters" / "a-second-look" / "chapter.md"
    added = "\n:::{exercise} squares\nTry.\n:::\n\nSee [names](chapter:two-names).\n"
    path.write_text(path.read_text() + added)

    _, problems = load_course(root)

    last = path.read_text().count("\n")
    assert [(found.rule, found.line) for found in problems] == [("draft", last - 4), ("draft", last)]


def test_learners_see_a_draft_as_planned_and_its_author_sees_it(root: Path) -> None:
    start(root, "chapter", "two-names")
    start(root, "exercise", "squares")
    course, _ = load_course(root)

    seen = without_drafts(course)

    assert "two-names" not in [chapter.slug for chapter in seen.chapters]
    assert seen.modules[-1].chapters[-1].title == "Two names"
    assert seen.chapter_total == course.chapter_total
    assert set(course.exercises) - set(seen.exercises) == {"squares"}


def test_a_course_a_chapter_and_an_exercise_can_be_started_from_nothing(tmp_path: Path) -> None:
    out = io.StringIO()
    statuses = [start_new(["course", "my-course", "--course", str(tmp_path)], out)]
    root = tmp_path / "my-course"
    statuses += [start(root, "chapter", "first-steps")[0], start(root, "exercise", "squares")[0]]

    course, problems = load_course(root)
    assert (statuses, problems) == ([0, 0, 0], ())
    assert (course.title, course.torch, [chapter.slug for chapter in course.chapters]) == (
        "My course",
        "",
        ["first-steps"],
    )
    assert start(tmp_path, "course", "my-course")[0] == 1


def test_a_new_chapter_joins_the_last_numbered_module_and_not_the_pages() -> None:
    one = '[[modules]]\nid = "one"\nnumber = 1\n\n[[modules.chapters]]\nslug = "first"\n'
    pages = '\n[[modules]]\nid = "pages"\nnumbered = false\n'

    assert register_chapter(one + pages, "second") == f'{one}\n[[modules.chapters]]\nslug = "second"\n{pages}'
    assert register_chapter(one + pages, "second", "pages").endswith('slug = "second"\n')


def test_a_chapter_can_be_started_in_a_module_without_chapters() -> None:
    bare = 'format = 1\n[[modules]]\nid = "one"\nnumber = 1\n\n[[modules]]\nid = "two"\nchapters = []\n'

    assert tomllib.loads(register_chapter(bare, "a"))["modules"][1]["chapters"] == [{"slug": "a"}]
    assert tomllib.loads(register_chapter(bare, "b", "one"))["modules"][0]["chapters"] == [{"slug": "b"}]


@pytest.mark.parametrize("kind", ["course", "chapter", "exercise"])
def test_the_printed_commands_name_the_course_and_work_as_printed(root: Path, kind: str) -> None:
    _, said = start(root, kind, "squares")

    (command,) = [line.partition("python -m app ")[2] for line in said.split("\n") if line.startswith("Prove it")]
    name, *arguments = shlex.split(command)
    assert name == "check"
    assert "--course" in arguments
    assert check([*arguments, "--text"], [], io.StringIO()) == 0


def test_a_new_drill_is_read_without_a_problem_and_is_not_written_twice(root: Path) -> None:
    status, said = start(root, "drill", "two-uses")
    course, problems = load_course(root)
    assert (status, problems) == (0, ())
    assert [drill.id for drill in course.drills] == ["two-uses"]
    assert "--only drills/two-uses.md --update" in said
    assert start(root, "drill", "two-uses") == (
        1, "drills/two-uses.md already exists: choose another name\n"
    )  # fmt: skip


@pytest.mark.box
@pytest.mark.torch
@pytest.mark.slow
@pytest.mark.nightly
def test_a_new_drill_is_proven_by_the_real_graders(root: Path) -> None:
    start(root, "drill", "two-uses")
    out = io.StringIO()
    assert check([str(root), "--only", "drills/two-uses.md", "--update"], None, out) == 0, out.getvalue()
    assert '"proven": 200' in (root / "drills" / "two-uses.json").read_text()
