"""Where the published versions of the course are in the data folder, and which one is live.

The website and the graders read this, each for itself.
"""

import os
import re
from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from graders.contract.model import Message

NAME = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{8}")
"""When a version was added, in UTC, and the beginning of the hash of its files."""
GIVEN = ""
"""The name of the course that is not published: the folder that UNWIND_COURSE names."""
MAX_LIVE_BYTES = 4096
MAX_KEPT = 8


class Live(Message):
    """The version that readers see, since when, and the one before it, to which one rolls back."""

    version: str
    before: str
    at: datetime


def courses_folder(data: Path) -> Path:
    return data / "courses"


def version_folder(data: Path, version: str) -> Path:
    """Raises ValueError for a name that no version can have."""
    if not NAME.fullmatch(version):
        raise ValueError(f"{version[:80]!r} names no version of the course; see `python -m app publish --list`")
    return courses_folder(data) / version


def read_live(data: Path) -> Live | None:
    """None if nothing was ever published here, or if the file cannot be read."""
    try:
        with (courses_folder(data) / "live.json").open("rb") as file:
            live = Live.model_validate_json(file.read(MAX_LIVE_BYTES))
    except (OSError, ValidationError):
        return None
    return live if live.version == GIVEN or NAME.fullmatch(live.version) else None


def write_live(data: Path, live: Live) -> None:
    """Replace the file in one step: whoever reads it sees the version before or this one."""
    folder = courses_folder(data)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = folder / f"live.json.{os.getpid()}"
    new.write_text(live.model_dump_json(), encoding="utf-8")
    new.replace(folder / "live.json")


def list_versions(data: Path) -> tuple[str, ...]:
    """The versions that are kept, the newest first."""
    try:
        names = [entry.name for entry in os.scandir(courses_folder(data)) if NAME.fullmatch(entry.name)]
    except OSError:
        return ()
    return tuple(sorted(names, reverse=True))


def find_course(data: Path, given: Path, version: str) -> Path:
    return given if version == GIVEN else version_folder(data, version)


def live_course(data: Path, given: Path) -> Path:
    """The folder of the course that readers see."""
    live = read_live(data)
    return find_course(data, given, live.version) if live else given


def list_courses(data: Path, given: Path) -> tuple[Path, ...]:
    """The folders of all versions, the live one first: a submission may wait for an earlier one."""
    live = live_course(data, given)
    kept = [courses_folder(data) / name for name in list_versions(data)[:MAX_KEPT]]
    return (live, *(folder for folder in (*kept, given) if folder != live))
