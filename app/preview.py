"""An author's preview: the course from its current files, its mistakes, and a notice of every change."""

import asyncio
import hashlib
import threading
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from app.course.files import Signature
from app.course.loader import CourseReader, LoadedCourse, sign_course
from app.course.model import Course
from app.course.problems import ContentProblem
from app.course.publish import list_drafts, without_dangling

LOOK_SECONDS = 0.2


@dataclass(frozen=True)
class PreviewNote:
    """The note on every page of a preview. `version` is the version of the course that the page shows."""

    version: str
    problems: int
    drafts: int


class Preview:
    """Reads the course again whenever its files change. For one event loop; only `watch` has a thread."""

    def __init__(self, reader: CourseReader) -> None:
        self._reader = reader
        self._shown: tuple[LoadedCourse, Course] | None = None
        self._note: tuple[LoadedCourse, PreviewNote] | None = None
        self.watch = CourseWatch(lambda: sign_course(reader.root))

    def read(self) -> LoadedCourse:
        return self._reader.read()

    def course(self) -> Course:
        """The course with its drafts, as far as its mistakes allow; looks at the files, as each request does once."""
        loaded = self.read()
        if self._shown is None or self._shown[0] is not loaded:
            self._shown = (loaded, without_dangling(loaded.course))
        return self._shown[1]

    def note(self) -> PreviewNote:
        """Of the course that the request began with."""
        loaded = self._last()
        if self._note is None or self._note[0] is not loaded:
            version = version_of(self._reader.signature)
            note = PreviewNote(version, len(loaded.problems), len(list_drafts(loaded.course)))
            self._note = (loaded, note)
        return self._note[1]

    def problems_under(self, folder: str) -> tuple[ContentProblem, ...]:
        """The problems of every file in a folder of the course that the request began with."""
        return tuple(problem for problem in self._last().problems if problem.path.startswith(f"{folder}/"))

    def _last(self) -> LoadedCourse:
        return self._shown[0] if self._shown else self.read()


def version_of(signature: Signature) -> str:
    """A short name for the state of the files."""
    return hashlib.sha256(repr(signature).encode()).hexdigest()[:12]


class CourseWatch:
    """Checks the files in a thread, because a slow disk must not delay requests, and reports changes to the loop."""

    def __init__(self, sign: Callable[[], Signature]) -> None:
        self._sign = sign
        self._version = version_of(sign())
        self._listeners: set[asyncio.Queue[str]] = set()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start checking. Call this in the loop that should receive the changes."""
        loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._look, args=(loop,), name="course-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    async def versions(self) -> AsyncIterator[str]:
        """The current version, then each later one."""
        told: asyncio.Queue[str] = asyncio.Queue()
        self._listeners.add(told)
        try:
            yield self._version
            while True:
                yield await told.get()
        finally:
            self._listeners.discard(told)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        while not self._stopping.wait(LOOK_SECONDS):
            try:
                version = version_of(self._sign())
            except OSError:
                # A file vanished after it was listed, because an editor is saving. The next check sees the result.
                continue
            if version != self._version:
                self._version = version
                loop.call_soon_threadsafe(self._tell, version)

    def _tell(self, version: str) -> None:
        for told in self._listeners:
            told.put_nowait(version)
