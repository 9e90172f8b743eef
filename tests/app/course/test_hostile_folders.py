"""A course folder with what no author puts there: the loader names it, waits for nothing, reads nothing outside."""

import os
import shutil
import socket
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.course.loader import CourseReader
from app.course.problems import ContentProblem

FIXTURE = Path(__file__).parents[2] / "course"
KEPT = (path for path in FIXTURE.rglob("*") if path.is_file() and ".cache" not in path.parts)
FILES = tuple(sorted(path.relative_to(FIXTURE).as_posix() for path in KEPT))
SECONDS = 30
# Of the interpreter's own memory, beside the parsed course; it was seen to take 2 MiB.
MAX_BYTES = 16 << 20
CANARY = "CANARY-OUTSIDE-THE-COURSE"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURE, tmp_path / "course"))


def within_time(work: Callable[[], None]) -> None:
    """A loader that waits is a failure here, not a test that never ends."""
    raised: list[BaseException] = []

    def watched() -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - told to the test's own thread
            raised.append(error)

    thread = threading.Thread(target=watched, daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert not thread.is_alive(), "the loader waits for something"
    if raised:
        raise raised[0]


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(path.parent)  # a socket's path is short
        made.bind(path.name)
        os.chdir(here)


def make_holes(path: Path) -> None:
    with path.open("wb") as made:
        made.truncate(1 << 30)


def outside(path: Path) -> Path:
    place = next(parent for parent in path.parents if parent.name == "course").parent / "outside.txt"
    place.write_text(CANARY)
    return place


STRANGE: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a socket": make_socket,
    "a folder": Path.mkdir,
    "a link to nothing": lambda path: path.symlink_to("nothing-here"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to endless noughts": lambda path: path.symlink_to("/dev/zero"),
    "a link out of the course": lambda path: path.symlink_to(outside(path)),
    "a link to a pipe": lambda path: (os.mkfifo(f"{path}.pipe"), path.symlink_to(f"{path}.pipe")),
    "a gigabyte of holes": make_holes,
}


def is_watched(file: str) -> bool:
    return file.startswith(("chapters/", "exercises/"))


@pytest.mark.slow
@pytest.mark.parametrize("strange", STRANGE)
def test_whatever_lies_in_a_files_place_is_named_and_not_waited_for(root: Path, strange: str) -> None:
    told: dict[str, tuple[str, tuple[ContentProblem, ...]]] = {}

    def load() -> None:
        reader = CourseReader(root)
        for file in FILES:
            (root / file).unlink()
            STRANGE[strange](root / file)
            loaded = reader.read()
            told[file] = repr(loaded.course), loaded.problems
            remove(root / file)
            shutil.copy(FIXTURE / file, root / file)
        assert reader.read().problems == ()

    within_time(load)

    assert [file for file, (course, _) in told.items() if CANARY in course] == []
    # A folder in the place of what may be missing is missing too.
    unnamed = [file for file, (_, problems) in told.items() if is_watched(file) and not problems]
    assert strange == "a folder" or unnamed == []


def remove(path: Path) -> None:
    Path(f"{path}.pipe").unlink(missing_ok=True)
    if path.is_dir() and not path.is_symlink():
        path.rmdir()
    else:
        path.unlink()


CHANGE = st.tuples(
    st.sampled_from(["cut", "double", "insert", "replace"]),
    st.floats(0, 1),
    st.floats(0, 1),
    st.binary(max_size=40)
    | st.sampled_from([b"\xff\xfe", b"\x00", b"```", b":::", b"$$", b"[[", b"{" * 500, b'"""']),
)


def change(raw: bytes, how: str, first: float, second: float, extra: bytes) -> bytes:
    start, end = sorted((int(first * len(raw)), int(second * len(raw))))
    match how:
        case "cut":
            return raw[:start] + raw[end:]
        case "double":
            return raw[:end] + raw[start:]
        case "insert":
            return raw[:start] + extra + raw[start:]
        case _:
            return raw[:start] + extra + raw[end:]


@pytest.mark.slow
def test_a_course_of_mutilated_files_is_read_with_problems_and_nothing_else(root: Path) -> None:
    """Any file, changed anywhere: the loader raises nothing, and takes no more memory than it says."""
    reader = CourseReader(root)
    reader.read()

    @settings(max_examples=60, deadline=5000, suppress_health_check=[HealthCheck.too_slow])
    @given(st.sampled_from(FILES), st.lists(CHANGE, min_size=1, max_size=3))
    def mutilate(file: str, changes: list[tuple[str, float, float, bytes]]) -> None:
        raw = (FIXTURE / file).read_bytes()
        for each in changes:
            raw = change(raw, *each)
        (root / file).write_bytes(raw)
        reader.read()
        (root / file).write_bytes((FIXTURE / file).read_bytes())

    tracemalloc.start()
    try:
        mutilate()
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak_bytes < MAX_BYTES


ONE_SIGN = (b"\x00" * 99_999, b"[" * 30_000, b"{" * 150, b"{" * 99_999, b">" * 3000, b"$" * 20_000, b"* " * 900)


@pytest.mark.slow
@pytest.mark.parametrize("raw", ONE_SIGN, ids=lambda raw: repr(raw[:2]))
def test_a_file_of_one_sign_alone_costs_no_more_than_a_file(root: Path, raw: bytes) -> None:
    reader = CourseReader(root)

    for file in FILES:
        (root / file).write_bytes(raw)
        within_time(reader.read)
        shutil.copy(FIXTURE / file, root / file)
