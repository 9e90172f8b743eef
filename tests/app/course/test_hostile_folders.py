"""A course folder with what no author puts there: the loader names it, waits for nothing, reads nothing outside."""

import os
import shutil
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from app.course.loader import load_course
from app.course.problems import ContentProblem

FIXTURE = Path(__file__).parents[2] / "course"
FILES = tuple(sorted(path.relative_to(FIXTURE).as_posix() for path in FIXTURE.rglob("*") if path.is_file()))
SECONDS = 30
# Of the interpreter's own memory; the fixture's course takes 4 MiB of it.
MOST_BYTES = 64 << 20
CANARY = "CANARY-OUTSIDE-THE-COURSE"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURE, tmp_path / "course"))


def load_in_time(root: Path) -> tuple[str, tuple[ContentProblem, ...]]:
    """The course as text, and its problems. A loader that waits is a failure here, not a test that never ends."""
    said: list[tuple[str, tuple[ContentProblem, ...]]] = []

    def load() -> None:
        course, problems = load_course(root)
        said.append((repr(course), problems))

    thread = threading.Thread(target=load, daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert not thread.is_alive(), "the loader waits for something"
    assert said, "the loader raised"
    return said[0]


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = Path.cwd()
        os.chdir(path.parent)  # a socket's path is short
        made.bind(path.name)
        os.chdir(here)


def outside(path: Path) -> Path:
    place = path.parents[len(path.parts) - 4] / "outside.txt"
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
    "a gigabyte of holes": lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 1 << 30),
}


@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize("file", FILES)
def test_whatever_lies_in_a_files_place_is_named_and_not_waited_for(root: Path, file: str, strange: str) -> None:
    (root / file).unlink()
    STRANGE[strange](root / file)

    told, _ = load_in_time(root)

    assert CANARY not in told
