"""A course on disk becomes one frozen Course; files that change are read again, and only those."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from app.course.block_tree import Block, Box, Reveal, blocks_of, blocks_within
from app.course.blocks import Heading, Prose
from app.course.loader import CourseReader, load_course
from app.course.model import Chapter, PlannedChapter
from app.course.questions.kinds import KINDS, Choice, WrongLine
from app.course.questions.marking import QuestionResponse

FIXTURE = Path(__file__).parents[2] / "course"


@pytest.fixture(scope="module")
def chapters() -> tuple[Chapter, ...]:
    course, problems = load_course(FIXTURE)
    assert problems == ()
    return course.chapters


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURE, tmp_path / "course"))


def touch(path: Path, change: Callable[[str], str]) -> None:
    path.write_text(change(path.read_text()))
    # A clock that ticks coarsely may give two writes the same time.
    later = path.stat().st_mtime_ns + 10_000_000
    os.utime(path, ns=(later, later))


def all_html(blocks: tuple[Block, ...]) -> str:
    return " ".join(map(repr, blocks_within(blocks)))


def test_chapters_have_their_places_and_planned_ones_are_listed() -> None:
    course, _ = load_course(FIXTURE)

    places = [(entry.number, entry.ordinal, entry.title) for module in course.modules for entry in module.chapters]

    assert places == [("1.1", 1, "A first graph"), ("1.2", 2, "A second look"), ("2.1", 3, "A third thing")]
    assert isinstance(course.modules[1].chapters[0], PlannedChapter)
    assert course.chapter_total == 3


def test_pages_have_no_number_and_are_not_counted_wherever_their_module_is_listed(root: Path) -> None:
    touch(root / "course.toml", lambda text: text.replace("number = 1", "numbered = false"))

    course, problems = load_course(root)

    assert problems == ()
    places = [(entry.number, entry.ordinal, entry.title) for module in course.modules for entry in module.chapters]
    assert places == [("", 0, "A first graph"), ("", 0, "A second look"), ("2.1", 1, "A third thing")]
    assert (course.chapter_total, len(course.chapters), course.numbered_chapters) == (1, 2, ())
    assert course.explained["accumulate"].words == "A second look"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("", "the module 'start' has no number"),
        ("number = 1\nnumbered = false", "the module 'start' has a number it must not have"),
    ],
)
def test_a_module_has_a_number_or_says_that_it_has_none(root: Path, fields: str, message: str) -> None:
    touch(root / "course.toml", lambda text: text.replace("number = 1", fields))

    _, problems = load_course(root)

    assert [(found.path, found.line, found.message) for found in problems] == [("course.toml", 23, message)]


def test_every_kind_of_block_comes_out_of_the_fixture(chapters: tuple[Chapter, ...]) -> None:
    kinds = {type(block).__name__ for chapter in chapters for block in blocks_within(chapter.blocks)}

    assert kinds == {
        *(kind.__name__ for kind in KINDS.values()),
        "Prose",
        "Heading",
        "Predict",
        "Cell",
        "Measure",
        "Graph",
        "Claim",
        "Illustration",
        "Steps",
        "Incident",
        "LadderPlace",
        "ExerciseLink",
        "Box",
        "Reveal",
    }


def test_no_html_has_a_style_attribute_or_a_script(chapters: tuple[Chapter, ...]) -> None:
    html = all_html(chapters[0].blocks)

    assert "katex" in html
    assert "style=" not in html
    assert "<script" not in html


def test_links_and_pictures_become_addresses_of_the_site(chapters: tuple[Chapter, ...]) -> None:
    html = "".join(block.html for block in blocks_of(Prose, chapters[0].blocks))

    assert 'href="/chapters/a-second-look#another-look"' in html
    assert 'href="/exercises/double"' in html
    assert 'src="/chapters/a-first-graph/figures/two-nodes.svg" alt="Two circles joined by a line"' in html


def test_a_footnote_is_shown_at_the_end(chapters: tuple[Chapter, ...]) -> None:
    last = [block for block in chapters[0].blocks if isinstance(block, Prose)][-1]

    assert 'class="footnotes"' in last.html


def test_headings_have_anchors_from_their_words(chapters: tuple[Chapter, ...]) -> None:
    anchors = [block.anchor for block in chapters[0].blocks if isinstance(block, Heading)]

    assert anchors == ["predict-first", "the-product", "boxes", "retrieve"]


def test_boxes_may_go_without_a_title_and_may_nest(chapters: tuple[Chapter, ...]) -> None:
    first, second = blocks_of(Box, chapters[0].blocks)[:2]

    assert (first.kind, first.title) == ("core-idea", "")
    assert second in first.blocks


def test_a_reveal_is_its_question_and_its_answer(chapters: tuple[Chapter, ...]) -> None:
    interview, faq, fold = blocks_of(Reveal, chapters[1].blocks)

    assert (interview.kind, interview.level, interview.prompt) == (
        "interview",
        "senior",
        "Why do gradients accumulate?",
    )
    assert (faq.kind, faq.blocks) == ("faq", (Prose("<p>Not for exact numbers.</p>"),))
    assert (fold.kind, fold.prompt) == ("fold", "More of the same")


def test_the_words_of_an_option_are_its_id_so_that_its_place_may_change(chapters: tuple[Chapter, ...]) -> None:
    question = next(block for block in blocks_of(Choice, chapters[0].blocks) if block.id == "why-four")

    assert [(option.id, option.right) for option in question.options] == [
        ("two-equal-contributions-add-up", True),
        ("the-square-is-remembered", False),
    ]


def test_the_star_of_a_wrong_line_question_is_feedback_for_each_line_without_its_own(
    chapters: tuple[Chapter, ...],
) -> None:
    question = next(block for block in blocks_of(WrongLine, chapters[1].blocks) if block.id == "wrong-line")

    assert question.guilty == (3,)
    assert [question.mark(QuestionResponse(values=(line,))).feedback for line in "1234"] == [
        "<p>The forward pass is fine.</p>",
        "<p>This line does what it should.</p>",
        "",
        "<p>This line does what it should.</p>",
    ]


def test_an_exercise_has_its_prompt_three_hints_and_its_starter() -> None:
    exercise = load_course(FIXTURE)[0].exercises["double"]

    assert "katex" in exercise.prompt
    assert [hint.split("</h2>")[0] for hint in exercise.hints] == [
        "<h2>What is asked",
        "<h2>What to write",
        "<h2>All of it",
    ]
    assert exercise.starter.startswith("def double")


def test_the_stylesheet_has_a_rule_for_every_class_of_a_formula(chapters: tuple[Chapter, ...]) -> None:
    import re

    course, _ = load_course(FIXTURE)
    used = set(re.findall(r"kx-[0-9a-f]{8}", all_html(chapters[0].blocks)))

    assert used
    assert all(f".katex .{name}{{" in course.math_css for name in used)


def test_an_unchanged_course_is_the_same_object(root: Path) -> None:
    reader = CourseReader(root)

    assert reader.read() is reader.read()


def test_a_changed_chapter_is_read_again_and_the_others_are_kept(root: Path) -> None:
    reader = CourseReader(root)
    before = reader.read().course.chapters
    touch(root / "chapters/a-second-look/chapter.md", lambda text: text.replace("A second look", "Another title"))

    after = reader.read().course.chapters

    assert [chapter.title for chapter in after] == ["A first graph", "Another title"]
    assert after[0].blocks is before[0].blocks


def test_a_chapter_that_appears_is_no_longer_planned(root: Path) -> None:
    reader = CourseReader(root)
    reader.read()
    text = (root / "chapters/a-second-look/chapter.md").read_text()
    (root / "chapters/a-third-thing").mkdir()
    (root / "chapters/a-third-thing/chapter.md").write_text(text)

    assert [chapter.number for chapter in reader.read().course.chapters] == ["1.1", "1.2", "2.1"]


def test_a_course_file_that_is_no_toml_is_reported_at_its_line(root: Path) -> None:
    touch(root / "course.toml", lambda text: text.replace('tagline = "', "tagline = "))

    course, (found,) = load_course(root)

    assert (found.path, found.rule) == ("course.toml", "course-file")
    assert found.line == 4
    assert course.chapters == ()


def test_every_wrong_field_of_the_course_file_is_reported(root: Path) -> None:
    touch(
        root / "course.toml", lambda text: text.replace("tagline", "tag-line").replace("number = 2", 'number = "b"')
    )

    _, problems = load_course(root)

    assert [(found.line, found.value) for found in problems] == [(4, "tag-line"), (35, "b")]


def test_a_file_that_is_not_utf_8_is_reported_at_the_first_bad_byte(root: Path) -> None:
    path = root / "chapters/a-second-look/chapter.md"
    path.write_bytes(path.read_bytes().replace(b"This chapter follows", b"This chapter \xff follows"))

    _, problems = load_course(root)

    assert [(found.path, found.line) for found in problems if "UTF-8" in found.message] == [
        ("chapters/a-second-look/chapter.md", 11)
    ]


@pytest.mark.parametrize("name", ["glossary.md", "debugging.toml", "gallery/02-plain.py"])
def test_whatever_else_is_not_utf_8_is_named(root: Path, name: str) -> None:
    (root / name).write_bytes((root / name).read_bytes() + b"# \xff\n")

    _, problems = load_course(root)

    assert f"{Path(name).name} is not UTF-8" in [found.message for found in problems]


def test_a_dead_link_in_an_exercise_is_reported_there(root: Path) -> None:
    touch(root / "exercises/double/prompt.md", lambda text: text + "\nSee [it](chapter:nowhere).\n")

    _, (found,) = load_course(root)

    assert (found.path, found.line, found.rule) == ("exercises/double/prompt.md", 7, "dead-link")


def test_an_evidence_file_that_cannot_be_read_is_reported_and_taken_as_empty(root: Path) -> None:
    (root / "chapters/a-first-graph/evidence.json").write_text('{"claims": {"square-gradient": {"held": "maybe"}}}')

    course, (found,) = load_course(root)

    assert (found.path, found.rule) == ("chapters/a-first-graph/evidence.json", "evidence-file")
    assert course.evidence == {}
