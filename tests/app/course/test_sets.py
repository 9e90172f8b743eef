"""course.toml names sets of exercises; what the course lacks is reported at its set and left out."""

import shutil
from pathlib import Path

import pytest

from app.course.loader import CourseReader
from app.course.model import Course, ExerciseSet
from app.course.publish import without_drafts

FIXTURE = Path(__file__).resolve().parents[2] / "course"


def read(folder: Path, entry: str) -> tuple[Course, list[str]]:
    """The fixture course with one more set, and what is told of course.toml."""
    root = Path(shutil.copytree(FIXTURE, folder / "course", ignore=shutil.ignore_patterns(".cache", "chapters")))
    text = (root / "course.toml").read_text()
    (root / "course.toml").write_text(text.replace("[concepts]", f"[[sets]]\n{entry}\n\n[concepts]", 1))
    loaded = CourseReader(root).read()
    return loaded.course, [
        one.message for one in loaded.problems if "the set" in one.message or "sets" in one.message
    ]


@pytest.mark.parametrize(
    ("picks", "names"),
    [
        ('exercises = ["pull-back", "double"]', ("pull-back", "double")),
        ('difficulties = ["first steps"]', ("double", "early-meetings")),
        ('concepts = ["recording", "accumulation"]\nkinds = ["bug-hunt"]', ("early-meetings",)),
        ('exercises = ["early-meetings"]\ndifficulties = ["first steps"]', ("early-meetings", "double")),
    ],
)
def test_a_set_has_what_it_names_and_then_what_matches_every_filter(
    tmp_path: Path, picks: str, names: tuple[str, ...]
) -> None:
    course, told = read(tmp_path, f'name = "mine"\ntitle = "Mine"\n{picks}')

    assert course.sets[1] == ExerciseSet("mine", "Mine", names)
    assert told == []


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('name = "a"\ntitle = "A"\nexercises = ["doubel", "double"]', "the exercise 'doubel', which"),
        ('name = "a"\ntitle = "A"\nexercises = ["double"]\nconcepts = ["nil"]', "the concept 'nil', which"),
        ('name = "a"\ntitle = "A"\nexercises = ["double"]\nkinds = ["riddle"]', "the kind 'riddle', which"),
        ('name = "two-of-three"\ntitle = "A"\nexercises = ["double"]', "two sets are called 'two-of-three'"),
        ('name = "a"\ntitle = "A"', "the set 'a' holds no exercise"),
    ],
)
def test_a_mistake_in_a_set_is_reported(tmp_path: Path, entry: str, message: str) -> None:
    _, told = read(tmp_path, entry)

    assert len(told) == 1
    assert message in told[0]


def test_learners_see_no_draft_in_a_set(tmp_path: Path) -> None:
    course, _ = read(tmp_path, 'name = "mine"\ntitle = "Mine"\nexercises = ["double"]')
    manifest = course.root / "exercises" / "double" / "exercise.toml"
    manifest.write_text(manifest.read_text().replace("format = 1", "format = 1\ndraft = true", 1))

    shown = without_drafts(CourseReader(course.root).read().course)

    assert [each.name for each in shown.sets] == ["two-of-three"]
