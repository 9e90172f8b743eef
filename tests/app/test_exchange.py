"""An exercise leaves a course as a folder that needs nothing else."""

import io
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from app.course.loader import load_course
from app.course.standalone import make_standalone
from app.exchange import export
from graders.contract.exercise_files import digest_exercise

ROOT = Path(__file__).resolve().parents[2]
FIXTURE = ROOT / "tests" / "course"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = Path(shutil.copytree(FIXTURE, tmp_path / "course", ignore=shutil.ignore_patterns(".cache", "__pycache__")))
    (root / "LICENSE").write_text("\n   MIT License\n\nCopyright (c) 2026 Ada\n")
    return root


def take_out(root: Path, name: str, target: Path) -> tuple[int, str]:
    out = io.StringIO()
    return export([str(root / "exercises" / name), "--out", str(target)], out), out.getvalue()


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_exported_folder_says_its_licence_and_the_version_of_its_course(root: Path, tmp_path: Path) -> None:
    status, said = take_out(root, "double", tmp_path / "out")

    course, _ = load_course(root)
    origin = tomllib.loads((tmp_path / "out" / "origin.toml").read_text())
    assert (status, origin["course"], origin["course_version"]) == (0, course.title, course.version)
    assert origin["licence"] == "MIT License, Copyright (c) 2026 Ada (LICENSE)"
    assert "MIT License" in said
    assert origin["digest"] == digest_exercise(files_of(root / "exercises" / "double"))
    manifest = course.exercises["double"].manifest
    assert origin["concepts"] == {each: course.concepts[each] for each in manifest.concepts}
    own = files_of(root / "exercises" / "double").keys()
    assert files_of(tmp_path / "out").keys() == own | {"LICENSE", "origin.toml", "README.md"}


def test_an_exercise_without_a_licence_says_so(root: Path, tmp_path: Path) -> None:
    (root / "LICENSE").unlink()

    take_out(root, "double", tmp_path / "out")

    assert "none was stated" in (tmp_path / "out" / "origin.toml").read_text()
    assert not (tmp_path / "out" / "LICENSE").exists()


def test_a_zip_has_the_same_files_under_the_name_of_the_exercise(root: Path, tmp_path: Path) -> None:
    for name in ("out", "a.zip", "b.zip"):
        assert take_out(root, "double", tmp_path / name)[0] == 0

    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        packed = {name: archive.read(name) for name in archive.namelist()}
    assert packed == {f"double/{name}": content for name, content in files_of(tmp_path / "out").items()}
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_links_into_the_course_become_plain_words_and_code_stays(root: Path) -> None:
    course, _ = load_course(root)
    prompt = (
        "See [the leaf](term:leaf), [1.1](a-first-graph) and [a paper](https://example.org).\n`rows[i](x)` $f[i](x)$"
    )

    made = make_standalone(course, "double", {"prompt.md": prompt.encode()}, b"")

    shown = "See the leaf, 1.1 and [a paper](https://example.org).\n`rows[i](x)` $f[i](x)$"
    assert made.files["prompt.md"].decode() == shown


def test_the_folder_of_a_bug_hunt_says_how_to_give_the_diagnosis(root: Path, tmp_path: Path) -> None:
    for name, asks in (("early-meetings", True), ("double", False)):
        take_out(root, name, tmp_path / name)
        assert ("--category KIND --line NUMBER" in (tmp_path / name / "README.md").read_text()) is asks


def test_what_cannot_be_exported_is_said_and_nothing_is_written(root: Path, tmp_path: Path) -> None:
    (root / "exercises" / "double" / "cases.py").unlink()
    (tmp_path / "there").mkdir()

    assert take_out(root, "double", tmp_path / "out")[0] == 1
    assert "already exists" in take_out(root, "pull-back", tmp_path / "there")[1]
    assert not (tmp_path / "out").exists()
    assert list((tmp_path / "there").iterdir()) == []


def test_an_exported_folder_grades_from_an_empty_folder_in_a_fresh_process(root: Path, tmp_path: Path) -> None:
    """The process has the graders alone: neither the site's code nor the course is on its path."""
    empty, place = tmp_path / "empty", tmp_path / "place"
    empty.mkdir()
    place.mkdir()
    take_out(root, "double", empty / "double")
    shutil.copytree(ROOT / "graders", place / "graders", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(root)

    def grade(file: str) -> int:
        command = [sys.executable, "-m", "graders", "grade", "double", f"double/{file}"]
        environment = {**os.environ, "PYTHONPATH": str(place)}
        return subprocess.run(command, cwd=empty, env=environment, capture_output=True, check=False).returncode

    assert (grade("solution.py"), grade("starter.py")) == (0, 1)
