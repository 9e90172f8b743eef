"""Publish a version of the course to a running site: copy it, make it live, and follow what is live.

The website shows one version at a time, as a whole. A version with mistakes in its text never becomes live.
"""

import asyncio
import hashlib
import logging
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from app.course.files import may_be_read
from app.course.loader import WATCHED, CourseReader
from app.course.model import Course
from app.course.problems import ContentProblem
from app.course.publish import without_dangling, without_drafts
from app.course.versions import CourseBrief, brief_course
from graders.contract.course_versions import (
    GIVEN,
    MAX_KEPT,
    Live,
    courses_folder,
    find_course,
    list_versions,
    read_live,
    version_folder,
    write_live,
)
from graders.contract.exercise_files import JUDGING_FILES, digest_exercise
from graders.contract.model import ExerciseName

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
BRIEF = "version.json"
MAX_TOLD = 20
"""Mistakes in one message."""


class NotPublishable(Exception):
    """The version cannot become live. The message says why, and what to do."""


class VersionFile(BaseModel):
    """What is kept beside the files of a version."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    version: str
    added_at: datetime
    brief: CourseBrief


@dataclass(frozen=True)
class Shown:
    """A version as readers see it. `version` is GIVEN for the folder that UNWIND_COURSE names."""

    version: str
    course: Course


Prepare = Callable[[Course], Awaitable[object]]


class PublishedCourse:
    """The course that the site shows, followed in the data folder. For one event loop."""

    def __init__(self, data: Path, given: Path) -> None:
        """Reads the live version. If that cannot be shown, the given folder is, and the log says why."""
        self._data, self._given = data, given
        self._switching = asyncio.Lock()
        self._peeked: Shown | None = None
        self.refused = ""
        """Why the version that is meant to be live is not; empty if it is."""
        self._wanted = self._read_wanted()
        try:
            self._shown = load_version(data, given, self._wanted)
        except NotPublishable as refusal:
            log.error("the live version of the course cannot be shown, so %s is: %s", given, refusal)
            self.refused = str(refusal)
            self._shown = load_version(data, given, GIVEN)

    def course(self) -> Course:
        return self._shown.course

    @property
    def version(self) -> str:
        return self._shown.version

    async def peek(self, version: str) -> Course:
        """A kept version for a look before it is live. The last one is remembered. Raises NotPublishable."""
        if self._peeked is None or self._peeked.version != version:
            self._peeked = await asyncio.to_thread(load_version, self._data, self._given, version)
        return self._peeked.course

    async def keep_current(self, prepare: Prepare) -> None:
        """Follow what is made live, until cancelled. `prepare` is awaited with a course before readers see it."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self.switch(prepare)

    async def switch(self, prepare: Prepare) -> None:
        """Show the live version if it is another one. Readers see the present one until all of it is read."""
        async with self._switching:
            wanted = await asyncio.to_thread(self._read_wanted)
            if wanted == self._wanted:
                return
            self._wanted = wanted
            try:
                shown = await asyncio.to_thread(load_version, self._data, self._given, wanted)
                await prepare(shown.course)
            except NotPublishable as refusal:
                log.error("the version %s of the course is not shown: %s", wanted or "given", refusal)
                self.refused = str(refusal)
                return
            except Exception:
                log.exception("the version %s of the course could not be read", wanted or "given")
                self.refused = "It could not be read; the site's log says why."
                return
            self._shown, self.refused = shown, ""
            log.warning("the course is now %s", wanted or self._given)

    def _read_wanted(self) -> str:
        live = read_live(self._data)
        return live.version if live else GIVEN


def load_version(data: Path, given: Path, version: str) -> Shown:
    """Read a version, without drafts. Raises NotPublishable if it is gone, or if its text has mistakes.

    The given folder is shown in spite of mistakes, as a site must start; the log lists them.
    """
    root = _find(data, given, version)
    loaded = CourseReader(root).read()
    if loaded.problems and version != GIVEN:
        raise NotPublishable(list_mistakes(loaded.problems))
    for problem in loaded.problems:
        log.warning("%s:%s: %s; %s", Path(problem.path), problem.line, problem.message, problem.remedy)
    course = without_dangling(without_drafts(loaded.course))
    # Computed here, in a thread, because hashing all of it would delay the first answer to be stored.
    log.info("read the course %s", course.version)
    return Shown(version, course)


def _find(data: Path, given: Path, version: str) -> Path:
    try:
        root = find_course(data, given, version)
    except ValueError as error:
        raise NotPublishable(str(error)) from error
    if not root.is_dir():
        raise NotPublishable(f"The version {version} is not kept any more; publish its files again.")
    return root


def list_mistakes(problems: tuple[ContentProblem, ...]) -> str:
    told = [f"{one.path}:{one.line}: {one.message}; {one.remedy}" for one in problems[:MAX_TOLD]]
    more = f"\nand {len(problems) - MAX_TOLD} more" if len(problems) > MAX_TOLD else ""
    return "The text of the course has mistakes:\n" + "\n".join(told) + more


def add_version(root: Path, data: Path, now: datetime) -> VersionFile:
    """Copy the course under `root` into the data folder, and check the copy's text; nothing becomes live by it.

    A course whose files are the newest version's is not copied again. Raises NotPublishable.
    """
    folder = courses_folder(data)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix="adding-") as made:
        copy = Path(made) / "course"
        digest = copy_course(root, copy)
        newest = next(iter(list_versions(data)), "")
        if newest.endswith(digest[:8]):
            return read_version(data, newest)
        loaded = CourseReader(copy).read()
        if loaded.problems:
            raise NotPublishable(list_mistakes(loaded.problems))
        name = f"{now.astimezone(UTC):%Y%m%d-%H%M%S}-{digest[:8]}"
        added = VersionFile(version=name, added_at=now, brief=brief_of(loaded.course))
        (copy / BRIEF).write_text(added.model_dump_json(), encoding="utf-8")
        copy.rename(version_folder(data, name))
    _drop_old(data)
    return added


def copy_course(root: Path, to: Path) -> str:
    """Copy the files that a course consists of, links as what they lead to; returns a digest of all of them."""
    digest = hashlib.sha256()
    for path in sorted({path for pattern in WATCHED for path in root.glob(pattern)}):
        name = path.relative_to(root).as_posix()
        if may_be_read(path, root) and not path.name.startswith("."):
            content = path.read_bytes()
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            (to / name).write_bytes(content)
    return digest.hexdigest()


def brief_of(course: Course) -> CourseBrief:
    return brief_course(course, {name: _digest(exercise.folder) for name, exercise in course.exercises.items()})


def read_exercise_digests(course: Path) -> dict[ExerciseName, str]:
    """The digest of each exercise's judging files in a course's folder, by name."""
    return {
        ExerciseName(path.parent.name): _digest(path.parent)
        for path in sorted(course.glob("exercises/*/exercise.toml"))
    }


def _digest(folder: Path) -> str:
    paths = [path for name in JUDGING_FILES if (path := folder / name).is_file()]
    return digest_exercise({path.name: path.read_bytes() for path in paths})


def read_version(data: Path, version: str) -> VersionFile:
    """Raises NotPublishable for a version that is not kept, or whose note cannot be read."""
    try:
        return VersionFile.model_validate_json((version_folder(data, version) / BRIEF).read_bytes())
    except (OSError, ValueError, ValidationError) as error:
        raise NotPublishable(f"The version {version} cannot be read; publish its files again.") from error


def read_versions(data: Path) -> tuple[VersionFile, ...]:
    """The versions that are kept and can be read, the newest first."""
    found = []
    for name in list_versions(data):
        try:
            found.append(read_version(data, name))
        except NotPublishable as refusal:
            log.warning("%s", refusal)
    return tuple(found)


def make_live(data: Path, given: Path, version: str, now: datetime) -> Live:
    """Make a version live; returns what was written. Raises NotPublishable, and then nothing has changed."""
    load_version(data, given, version)
    before = read_live(data)
    was = before.version if before else GIVEN
    if before is not None and was == version:
        return before
    live = Live(version=version, before=was, at=now)
    try:
        write_live(data, live)
    except OSError as error:
        folder = courses_folder(data)
        raise NotPublishable(f"{folder} cannot be written here ({error.strerror}); publish where it can.") from error
    return live


def _drop_old(data: Path) -> None:
    """Delete versions beyond the newest few, but not the live one and the one before it."""
    live = read_live(data)
    needed = {live.version, live.before} if live else set()
    for name in list_versions(data)[MAX_KEPT:]:
        if name not in needed:
            shutil.rmtree(version_folder(data, name), ignore_errors=True)
