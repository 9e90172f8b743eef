"""An exercise comes into a course only if its files are harmless to read, complete and proven."""

import io
import os
import shutil
import stat
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from app.course.loader import load_course
from app.course.registering import CannotRegister, register_concepts
from app.exchange import export, import_
from app.exercise_import import Wanted, import_exercise
from app.new import main as start_new
from app.zips import MAX_FILE_BYTES, MAX_FILES, pack

FIXTURE = Path(__file__).resolve().parents[1] / "course"
Files = dict[str, bytes]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("exported")
    for name in ("double", "early-meetings"):
        assert export([str(FIXTURE / "exercises" / name), "--out", str(folder / name)], io.StringIO()) == 0
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A course with nothing in it, not even these exercises' concepts."""
    assert start_new(["course", "empty", "--course", str(tmp_path)], io.StringIO()) == 0
    return tmp_path / "empty"


def files_of(folder: Path) -> Files:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def bring_in(root: Path, source: Path, *more: str) -> tuple[int, str]:
    out = io.StringIO()
    return import_([str(source), *more, "--course", str(root)], out), out.getvalue()


@pytest.mark.parametrize("name", ["double", pytest.param("early-meetings", marks=pytest.mark.nightly)])
def test_an_exported_exercise_comes_into_an_empty_course_proven(
    name: str, root: Path, exported: Path, tmp_path: Path
) -> None:
    """By the real graders: its solution passes, its starter does not, each known attempt gets its outcome."""
    (tmp_path / "a.zip").write_bytes(pack(name, files_of(exported / name)))

    status, said = bring_in(root, tmp_path / "a.zip", "another-name", "--add-concepts")

    assert status == 0, said
    course, problems = load_course(root)
    assert (problems, list(course.exercises)) == ((), ["another-name"])
    had = {path: text for path, text in files_of(exported / name).items() if path != "README.md"}
    assert files_of(root / "exercises" / "another-name") == had
    words = tomllib.loads((FIXTURE / "course.toml").read_text())["concepts"]
    asked = course.exercises["another-name"].manifest.concepts
    assert {each: course.concepts[each] for each in asked} == {each: words[each] for each in asked}


def test_an_exercise_that_its_check_refutes_is_not_added(root: Path, exported: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(exported / "double", tmp_path / "double"))
    (folder / "hints.md").write_text("## One hint\n\nNo more.\n")
    before, out = files_of(root), io.StringIO()

    status = import_exercise(Wanted(folder, "", root, adds_concepts=True), ["/no/such/command"], out)

    assert status == 1
    assert "there are 1 hints; an exercise has 3" in out.getvalue()
    assert "not added" in out.getvalue()
    assert files_of(root) == before


def without(name: str) -> Callable[[Files], Files]:
    return lambda files: {path: text for path, text in files.items() if path != name}


def with_file(name: str, text: bytes = b"1") -> Callable[[Files], Files]:
    return lambda files: {**files, name: text}


REFUSED = {
    "a file that is missing": (without("cases.py"), "no cases.py"),
    "a file that is no part of one": (with_file("setup.py"), "setup.py belongs to no exercise"),
    "a file in another folder": (with_file("attempts/more/a.py"), "attempts/more/a.py belongs to no exercise"),
    "bytes that are no text": (with_file("hints.md", b"\xff\xfe"), "hints.md is not UTF-8 from byte 0"),
    "a file that is too large": (
        with_file("attempts/a.py", b"#" * (MAX_FILE_BYTES + 1)),
        "attempts/a.py has 1048577",
    ),
    "too many files": (
        lambda files: {**files, **{f"attempts/a{n}.py": b"" for n in range(MAX_FILES)}},
        "at most 500",
    ),
    "a manifest that is no TOML": (with_file("exercise.toml", b"="), "exercise.toml is not TOML"),
    "a manifest that lacks a field": (with_file("exercise.toml", b"format = 1"), "exercise.toml: title"),
    "an origin that cannot be read": (with_file("origin.toml", b"format = 9"), "origin.toml cannot be read"),
    "a concept without words": (without("origin.toml"), "write it there, under [concepts]"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_folder_that_cannot_be_an_exercise_is_refused(
    case: str, root: Path, exported: Path, tmp_path: Path
) -> None:
    change, words = REFUSED[case]
    for path, text in change(files_of(exported / "double")).items():
        (tmp_path / "double" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "double" / path).write_bytes(text)
    (tmp_path / "a.zip").write_bytes(pack("double", change(files_of(exported / "double"))))
    before = files_of(root)

    for source in (tmp_path / "double", tmp_path / "a.zip"):
        status, said = bring_in(root, source, "--add-concepts")
        assert (status, words in said) == (1, True), said
    assert files_of(root) == before
    assert not (root / "exercises").exists()


def entry(name: str, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    made.filename = made.orig_filename = name
    made.external_attr = mode << 16
    return made


HOSTILE = {
    "../double/a.py": (entry("../double/a.py"), "no path within one folder"),
    "a path from the root": (entry("/etc/a.py"), "no path within one folder"),
    "a drive": (entry("C:/a.py"), "no path within one folder"),
    "a backslash": (entry("double\\..\\a.py"), "no path within one folder"),
    "a step up inside": (entry("double/attempts/../../a.py"), "no path within one folder"),
    "a line break": (entry("double/a\n.py"), "no path within one folder"),
    "a second folder": (entry("other/a.py"), "zip one folder"),
    "a file beside the folder": (entry("double"), "zip one folder"),
    "a symbolic link": (entry("double/attempts/a.py", stat.S_IFLNK | 0o777), "is a link"),
    "a device": (entry("double/attempts/a.py", stat.S_IFCHR | 0o666), "is a link or no regular file"),
    "the same file in capitals": (entry("double/CASES.py"), "is there twice"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_zip_is_refused(case: str, root: Path, exported: Path, tmp_path: Path) -> None:
    hostile, words = HOSTILE[case]
    (tmp_path / "a.zip").write_bytes(pack("double", files_of(exported / "double")))
    with zipfile.ZipFile(tmp_path / "a.zip", "a") as archive:
        archive.writestr(hostile, "/etc/passwd")
    before = files_of(tmp_path)

    status, said = bring_in(root, tmp_path / "a.zip", "--add-concepts")

    assert (status, words in said) == (1, True), said
    assert files_of(tmp_path) == before


def test_a_zip_that_unpacks_to_far_more_is_refused_before_it_is_unpacked(root: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(40):
            archive.writestr(f"double/attempts/a{number}.py", b" " * (MAX_FILE_BYTES // 2))
    assert (tmp_path / "a.zip").stat().st_size < MAX_FILE_BYTES

    assert "bytes together" in bring_in(root, tmp_path / "a.zip")[1]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and nothing more", b"\0" * 100], ids=["empty", "cut", "zeros"])
def test_a_file_that_is_no_zip_is_refused(content: bytes, root: Path, tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_bytes(content)

    assert "the zip cannot be read" in bring_in(root, tmp_path / "a.zip")[1]


def test_a_size_that_the_zip_lies_about_is_refused(root: Path, exported: Path, tmp_path: Path) -> None:
    packed = bytearray(pack("double", files_of(exported / "double")))
    directory = packed.index(b"PK\x01\x02")
    packed[directory + 24 : directory + 28] = (3).to_bytes(4, "little")
    (tmp_path / "a.zip").write_bytes(packed)

    assert bring_in(root, tmp_path / "a.zip", "--add-concepts")[0] == 1
    assert not (root / "exercises").exists()


def test_a_folder_with_a_link_or_a_pipe_is_refused(root: Path, exported: Path, tmp_path: Path) -> None:
    for name, make in (("linked", lambda path: path.symlink_to("/etc/passwd")), ("piped", os.mkfifo)):
        folder = Path(shutil.copytree(exported / "double", tmp_path / name))
        make(folder / "attempts" / "a.py")
        assert "attempts/a.py is a link or no regular file" in bring_in(root, folder)[1]


def test_a_name_that_is_taken_or_is_no_name_is_refused(root: Path, exported: Path) -> None:
    (root / "exercises" / "double").mkdir(parents=True)

    assert "exercises/double is there already" in bring_in(root, exported / "double")[1]
    assert "cannot be a folder's name" in bring_in(root, exported / "double", "../double")[1]
    assert list((root / "exercises" / "double").iterdir()) == []


def test_concepts_are_added_only_if_that_was_asked_for(root: Path, exported: Path) -> None:
    status, said = bring_in(root, exported / "double")

    assert status == 1
    assert "--add-concepts" in said


def test_graders_that_cannot_start_prove_nothing(root: Path, exported: Path) -> None:
    out = io.StringIO()

    status = import_exercise(Wanted(exported / "double", "", root, adds_concepts=True), ["/no/such/command"], out)

    assert status == 1
    assert "cannot be started" in out.getvalue()
    assert not (root / "exercises").exists()


def test_concepts_are_entered_after_the_others_and_all_else_stays() -> None:
    text = '# A course.\n[concepts]  # ids\na = "A"\n\n# Modules.\n[[modules]]\nid = "one"\n'

    added = register_concepts(text, {"b": 'a "B" of mine'})

    assert added == text.replace('a = "A"\n', 'a = "A"\nb = "a \\"B\\" of mine"\n')
    with pytest.raises(CannotRegister, match="cannot be edited automatically"):
        register_concepts('concepts = { a = "A" }\n', {"b": "B"})
