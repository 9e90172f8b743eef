"""The processes that draw: a few, each with limits, started when they are first needed and replaced when they die."""

import asyncio
import contextlib
import logging
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from app.drawing.answer import MAX_ANSWER_BYTES
from app.drawing.cache import Key, PictureCache, make_key
from app.drawing.drawer import ANSWER, DRAWN, OUT_OF_MEMORY, REQUEST
from app.drawing.tasks import NotDrawn, Task
from graders.contract.log_lines import LogForm

ROOT = Path(__file__).resolve().parents[2]
log = logging.getLogger(__name__)

MODULE = "app.drawing.drawer"
WARMING: Key = b"warming"
DEATH_SECONDS = 1.0
"""From the end of what a process says to its own end."""


@dataclass(frozen=True)
class Limits:
    """What one picture may cost. Wall time counts from the moment when a process takes the task, and is long: under
    load a picture waits for a processor, and that is no fault of its graph's."""

    cpu_seconds: float = 3.0
    wall_seconds: float = 20.0
    memory_mib: int = 256
    pictures_per_process: int = 500
    """Then a fresh process follows: what a large picture took, Python does not give back."""
    waiting: int = 256
    waiting_bytes: int = 64 * 2**20
    """Of traces, which are at most a megabyte each."""
    waiting_each: int = 6
    """How many pictures one reader may have waiting or drawn at a time."""


class End(StrEnum):
    """How a task ended, for the operator's counters."""

    DRAWN = "drawn"
    KEPT = "kept"
    REFUSED = "refused"
    OVER_TIME = "over_time"
    OVER_MEMORY = "over_memory"
    DIED = "died"
    BUSY = "busy"


def say_over_time(limits: Limits) -> str:
    return f"This graph is too large to draw: its picture takes more than {limits.cpu_seconds:g} s of computing."


def say_over_memory(limits: Limits) -> str:
    return f"This graph is too large to draw: its picture takes more than {limits.memory_mib} MiB of memory."


LATE = "This graph was not drawn: its picture was not ready in time. Reload the page to try again."
DIED = "This graph was not drawn: the process that was drawing it ended. Reload the page to try again."
BUSY = "This graph was not drawn: too many graphs are being drawn at this moment. Try again in a minute."
BUSY_WITH_YOURS = "This graph was not drawn: others of yours are still being drawn. Reload the page to try again."


class _Unfinished(Exception):
    """A task that brought no answer."""

    def __init__(self, end: End, sentence: str, *, final: bool) -> None:
        super().__init__(sentence)
        self.end = end
        self.final = final


class Drawers:
    """The pool, for one event loop. `note` is called with how each task ended."""

    def __init__(
        self,
        processes: int = 2,
        limits: Limits | None = None,
        note: Callable[[End], None] = lambda end: None,
        log_form: LogForm = LogForm.TEXT,
    ) -> None:
        self._limits = limits or Limits()
        self._note = note
        self._cache = PictureCache()
        self._drawers = [_Drawer(self._limits, log_form) for _ in range(processes)]
        # The one that was free last is taken first, so that a second process starts only when one is not enough.
        self._free: asyncio.LifoQueue[_Drawer] = asyncio.LifoQueue()
        for drawer in reversed(self._drawers):
            self._free.put_nowait(drawer)
        self._under_way: dict[Key, asyncio.Task[bytes]] = {}
        self._asked: Counter[str] = Counter()
        self._asked_bytes = 0

    @property
    def pids(self) -> tuple[int, ...]:
        """Of the processes that live now."""
        return tuple(drawer.pid for drawer in self._drawers if drawer.pid is not None)

    async def ask(self, task: Task, trace: bytes, asker: str = "") -> bytes:
        """The answer to a task. `asker` is whose turn it is in the line. Raises NotDrawn."""
        key = await asyncio.to_thread(make_key, task, trace)
        kept = self._cache.find(key, time.monotonic())
        if kept is not None:
            self._note(End.KEPT)
            if isinstance(kept, NotDrawn):
                raise NotDrawn(str(kept))
            return kept
        under_way = self._under_way.get(key)
        if under_way is None:
            self._admit(asker, trace)
            under_way = self._begin(key, self._draw(key, task, trace, asker))
        # A reader who leaves does not end a picture that another reader may be waiting for.
        return await asyncio.shield(under_way)

    def warm(self) -> asyncio.Task[bytes] | None:
        """A picture will be wanted soon: start a process, unless one lives or is starting."""
        if self.pids or self._free.empty() or WARMING in self._under_way:
            return None
        return self._begin(WARMING, self._start(self._free.get_nowait()))

    def _begin(self, key: Key, work: Coroutine[Any, Any, bytes]) -> asyncio.Task[bytes]:
        begun = self._under_way[key] = asyncio.create_task(work)

        def forget(ended: asyncio.Task[bytes]) -> None:
            del self._under_way[key]
            # Its readers may all have left; asyncio complains of an exception that was never read.
            if not ended.cancelled():
                ended.exception()

        begun.add_done_callback(forget)
        return begun

    async def close(self) -> None:
        for task in list(self._under_way.values()):
            task.cancel()
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)
        for drawer in self._drawers:
            await drawer.stop()

    def _admit(self, asker: str, trace: bytes) -> None:
        limits = self._limits
        if asker and self._asked[asker] >= limits.waiting_each:
            self._note(End.BUSY)
            raise NotDrawn(BUSY_WITH_YOURS, final=False)
        if self._asked.total() >= limits.waiting or self._asked_bytes + len(trace) > limits.waiting_bytes:
            self._note(End.BUSY)
            raise NotDrawn(BUSY, final=False)
        self._asked[asker] += 1
        self._asked_bytes += len(trace)

    def _release(self, asker: str, trace: bytes) -> None:
        self._asked[asker] -= 1
        self._asked_bytes -= len(trace)
        if not self._asked[asker]:
            del self._asked[asker]

    async def _start(self, drawer: "_Drawer") -> bytes:
        try:
            await drawer.start()
        finally:
            self._free.put_nowait(drawer)
        return b""

    async def _draw(self, key: Key, task: Task, trace: bytes, asker: str) -> bytes:
        try:
            drawer = await self._free.get()
            try:
                answer = await drawer.draw(task, trace)
            finally:
                self._free.put_nowait(drawer)
        except _Unfinished as problem:
            self._note(problem.end)
            refusal = NotDrawn(str(problem), final=problem.final)
            if refusal.final:
                self._cache.keep(key, refusal, time.monotonic())
            raise refusal from None
        finally:
            self._release(asker, trace)
        self._note(End.DRAWN)
        self._cache.keep(key, answer, time.monotonic())
        return answer


class _Drawer:
    """One place in the pool, and the process in it if there is one."""

    def __init__(self, limits: Limits, log_form: LogForm) -> None:
        self._limits = limits
        self._log_form = log_form
        self._process: asyncio.subprocess.Process | None = None
        self._drawn = 0

    @property
    def pid(self) -> int | None:
        """None also of a process whose end is known only by the end of what it says."""
        process = self._process
        if process is None or process.returncode is not None:
            return None
        assert process.stdout is not None
        return None if process.stdout.at_eof() else process.pid

    async def start(self) -> None:
        """A process in this place, if there is none. Raises OSError where none can be started."""
        if self.pid is not None:
            return
        await self.stop()
        limits = self._limits
        arguments = (str(os.getpid()), str(limits.memory_mib), str(limits.cpu_seconds), self._log_form.value)
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-s", "-B", "-m", MODULE, *arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            # The website's secret stands in its environment. Numeric libraries would take a stack for each core.
            env={"OPENBLAS_NUM_THREADS": "1"},
            cwd=ROOT,
            start_new_session=True,
            limit=2**20,
        )
        self._drawn = 0

    async def stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            process.kill()
        # Reads what it still said, so that both pipes close.
        await process.communicate()

    async def draw(self, task: Task, trace: bytes) -> bytes:
        try:
            await self.start()
        except OSError:
            raise _Unfinished(End.DIED, DIED, final=False) from None
        try:
            async with asyncio.timeout(self._limits.wall_seconds):
                status, answer = await self._exchange(task.model_dump_json().encode(), trace)
        except TimeoutError:
            log.warning("a picture was not ready after %g s; its process is killed", self._limits.wall_seconds)
            await self.stop()
            raise _Unfinished(End.OVER_TIME, LATE, final=False) from None
        except (OSError, EOFError):
            raise await self._bury() from None
        except asyncio.CancelledError:
            await self.stop()
            raise
        self._drawn += 1
        if status == OUT_OF_MEMORY or self._drawn >= self._limits.pictures_per_process:
            await self.stop()
        if status == OUT_OF_MEMORY:
            raise _Unfinished(End.OVER_MEMORY, say_over_memory(self._limits), final=True)
        if status != DRAWN:
            raise _Unfinished(End.REFUSED, answer.decode(), final=True)
        return answer

    async def _exchange(self, task: bytes, trace: bytes) -> tuple[int, bytes]:
        assert self._process is not None
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None
        assert answers is not None
        requests.writelines((REQUEST.pack(len(task), len(trace)), task, trace))
        await requests.drain()
        status, size_bytes = ANSWER.unpack(await answers.readexactly(ANSWER.size))
        if size_bytes > MAX_ANSWER_BYTES:
            raise EOFError
        return status, await answers.readexactly(size_bytes)

    async def _bury(self) -> _Unfinished:
        """The process died during its task, or sent something unreadable. Its words are for the reader."""
        process = self._process
        if process is not None:
            with contextlib.suppress(TimeoutError):
                # Before stop: a signal to a process that has just ended would lose how it ended.
                await asyncio.wait_for(process.wait(), DEATH_SECONDS)
        await self.stop()
        status = None if process is None else process.returncode
        log.warning("a drawing process ended under a picture, with status %s; another follows", status)
        if status == -signal.SIGPROF:
            return _Unfinished(End.OVER_TIME, say_over_time(self._limits), final=True)
        return _Unfinished(End.DIED, DIED, final=False)
