"""A folder that is no exercise is refused with the file, what is wrong in it, and what to write."""

import shutil
from pathlib import Path

import pytest
from judging_parts import FIXTURES

from app.web.edge.exercise_digest import read_digest as read_digest_of_website
from graders.trusted.exercise import load_exercise, read_digest, read_digests
from graders.trusted.faults import ExerciseProblem, OtherVersion


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


def test_what_does_not_judge_may_be_missing(root):
    folder = root / "scaling"
    shutil.rmtree(folder / "attempts")
    for file in ("prompt.md", "hints.md", "starter.py"):
        (folder / file).unlink()
    assert load_exercise(root, "scaling").manifest.attempts


@pytest.mark.parametrize("file", ["exercise.toml", "solution.py", "cases.py", "probe.py"])
def test_a_missing_file_is_named(root, file):
    (root / "scaling" / file).unlink()
    assert f"{file} is missing" in problem(root)


def test_an_edit_of_a_file_that_judges_is_another_version_at_once(root):
    before = load_exercise(root, "scaling").digest
    edit(root, "minutes = 2", "minutes = 3")
    after = load_exercise(root, "scaling")
    assert before != after.digest == read_digest(root, "scaling")
    assert after.manifest.minutes == 3
    with pytest.raises(OtherVersion, match=f"scaling is {after.digest} at this worker and {before} at the website"):
        load_exercise(root, "scaling", before)


def test_website_and_grader_find_the_same_digest(root):
    for name in ("scaling", "hidden-number"):
        assert read_digest(FIXTURES, name) == read_digest_of_website(FIXTURES / name) != ""


def test_a_folder_that_is_no_right_exercise_has_a_digest_for_as_long_as_it_has_a_file(root):
    edit(root, "format = 1", "format = = 1")
    (root / "empty").mkdir()
    (root / "a-file").write_text("")
    assert read_digests(root) == {"scaling": read_digest(root, "scaling")}
    assert [read_digest(root, name) for name in ("empty", "nothing", "../scaling", "a-file")] == [""] * 4
    assert read_digests(root / "nothing") == {}


def test_a_link_is_refused_wherever_it_points(root, tmp_path):
    (root / "scaling" / "cases.py").unlink()
    (root / "scaling" / "cases.py").symlink_to("/etc/passwd")
    assert "cases.py" in problem(root)
    assert "not a plain file" in problem(root)


def test_a_linked_folder_is_no_exercise(root):
    (root / "other").symlink_to(root / "scaling")
    assert "there is no exercise 'other'" in problem(root, "other")


@pytest.mark.parametrize("name", ["..", "a/b", "Scaling", "", "scaling\n", ".", "-x", "a" + "/" * 5])
def test_only_a_slug_is_a_name(root, name):
    assert "cannot name an exercise" in problem(root, name)


def test_a_wrong_value_is_told_with_its_place(root):
    edit(root, "wall_seconds = 2.0", 'wall_seconds = "ten"')
    assert problem(root).startswith("exercise.toml: limits.wall_seconds is 'ten'; ")


def test_an_unknown_field_is_told(root):
    edit(root, "minutes = 2", "minutes = 2\ncolour = 'red'")
    assert "colour" in problem(root)


def test_toml_that_does_not_parse_is_told(root):
    edit(root, "format = 1", "format = = 1")
    assert problem(root).startswith("exercise.toml: ")


def test_a_file_that_is_no_text_is_told(root):
    (root / "scaling" / "probe.py").write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8" in problem(root)


def test_a_huge_file_is_not_read(root):
    (root / "scaling" / "solution.py").write_bytes(b"x" * (300 * 1024))
    assert "keep it under" in problem(root)
