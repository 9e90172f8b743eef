"""A folder that is no exercise is refused with the file, what is wrong in it, and what to write."""

import shutil
from pathlib import Path

import pytest
from judging_parts import FIXTURES

from graders.trusted.exercise import load_exercise
from graders.trusted.faults import ExerciseProblem


@pytest.fixture
def root(tmp_path) -> Path:
    shutil.copytree(FIXTURES / "scaling", tmp_path / "scaling")
    return tmp_path


def problem(root: Path, name: str = "scaling") -> str:
    with pytest.raises(ExerciseProblem) as caught:
        load_exercise(root, name)
    return str(caught.value)


def edit(root: Path, old: str, new: str, file: str = "exercise.toml") -> None:
    path = root / "scaling" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_a_whole_folder_loads(root):
    assert load_exercise(root, "scaling").manifest.title == "Scale some numbers"


@pytest.mark.parametrize(
    "file", ["exercise.toml", "prompt.md", "hints.md", "starter.py", "solution.py", "cases.py", "probe.py"]
)
def test_a_missing_file_is_named(root, file):
    (root / "scaling" / file).unlink()
    assert f"{file} is missing" in problem(root)


def test_a_link_is_refused_wherever_it_points(root, tmp_path):
    (root / "scaling" / "prompt.md").unlink()
    (root / "scaling" / "prompt.md").symlink_to("/etc/passwd")
    assert "prompt.md" in problem(root)
    assert "not a plain file" in problem(root)


def test_a_linked_attempt_is_refused(root):
    (root / "scaling" / "attempts" / "unchanged.py").unlink()
    (root / "scaling" / "attempts" / "unchanged.py").symlink_to("/etc/passwd")
    assert "not a plain file" in problem(root)


def test_a_linked_folder_is_no_exercise(root):
    (root / "other").symlink_to(root / "scaling")
    assert "there is no exercise 'other'" in problem(root, "other")


@pytest.mark.parametrize("name", ["..", "a/b", "Scaling", "", "scaling\n", ".", "-x", "a" + "/" * 5])
def test_only_a_slug_is_a_name(root, name):
    assert "no exercise's name" in problem(root, name)


def test_a_wrong_value_is_told_with_its_place(root):
    edit(root, "wall_seconds = 2.0", 'wall_seconds = "ten"')
    assert problem(root).startswith("exercise.toml: limits.wall_seconds is 'ten'; ")


def test_an_unknown_field_is_told(root):
    edit(root, "minutes = 2", "minutes = 2\ncolour = 'red'")
    assert "colour" in problem(root)


def test_toml_that_does_not_parse_is_told(root):
    edit(root, "format = 1", "format = = 1")
    assert problem(root).startswith("exercise.toml: ")


def test_an_attempt_that_nobody_named_is_told(root):
    (root / "scaling" / "attempts" / "stray.py").write_text("")
    assert "attempts/stray.py is not in exercise.toml" in problem(root)


def test_an_attempt_without_its_file_is_told(root):
    (root / "scaling" / "attempts" / "unchanged.py").unlink()
    assert "attempts/unchanged.py is missing" in problem(root)


def test_an_attempts_finding_must_exist(root):
    edit(root, 'finding = "unchanged"', 'finding = "unchangd"')
    assert "'unchangd'" in problem(root)


def test_hints_are_three(root):
    edit(root, "## Two", "Two", "hints.md")
    assert "hints.md has 2 headings" in problem(root)


def test_a_file_that_is_no_text_is_told(root):
    (root / "scaling" / "prompt.md").write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in problem(root)


def test_a_huge_file_is_not_read(root):
    (root / "scaling" / "prompt.md").write_bytes(b"x" * (300 * 1024))
    assert "keep it under" in problem(root)
