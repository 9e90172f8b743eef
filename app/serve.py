"""The command for the whole site: it migrates, then keeps a website and a grader alive until you stop it.

Another command starts only the website, for hosts where something else keeps processes alive.
"""

import asyncio
import ctypes
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.preflight import CannotServe, prepare
from app.settings import Settings
from app.storage.database import MigrationRefused, migrate, show_url
from app.storage.worker_role import NoSuchRole
from app.web.edge.processes import ask_process
from graders.contract.hello import WorkerHello, name_worker
from graders.contract.log_lines import LogForm, make_formatter
from graders.ledger import StorageRefused, open_ledger

STOP_SECONDS = 8.0
LOOK_SECONDS = 0.1
FIRST_PAUSE_SECONDS = 0.5
MAX_PAUSE_SECONDS = 30.0
# Each attempt to start costs a grader seconds of CPU time.
FIRST_RETRY_SECONDS = 5.0
MAX_RETRY_SECONDS = 300.0
# A child that ran for this long is restarted after the shortest pause.
STEADY_SECONDS = 60.0
PR_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)


class _ToStandardOutput(logging.Handler):
    """Unlike logging's own handler, it writes to what standard output is at that moment."""

    def emit(self, record: logging.LogRecord) -> None:
        sys.stdout.write(self.format(record) + "\n")
        sys.stdout.flush()


_said = logging.getLogger(__name__)
_said.setLevel(logging.INFO)
_said.propagate = False
_said.addHandler(_ToStandardOutput())


@dataclass(frozen=True)
class Part:
    """A child process: its name, its command, and the signal that it gets if this process is killed."""

    name: str
    command: tuple[str, ...]
    on_orphaned: signal.Signals
    is_ready: Callable[[int], Awaitable[bool]]
    """Whether the process with this id is serving yet."""
    meanwhile: str = ""
    """What the other parts do while this one cannot start. Empty: nothing can be served without it."""
    descriptors: tuple[int, ...] = ()
    """What it inherits beside the standard streams."""


class Pauses:
    """Each is twice as long as the one before, up to a longest."""

    def __init__(self, first_seconds: float, longest_seconds: float) -> None:
        self._first, self._longest = first_seconds, longest_seconds
        self._next = first_seconds

    def next(self) -> float:
        seconds, self._next = self._next, min(2 * self._next, self._longest)
        return seconds

    def begin_again(self) -> None:
        self._next = self._first


class Supervisor:
    """Keeps the parts alive until it is stopped."""

    def __init__(self) -> None:
        self.stopping = asyncio.Event()
        self._children: dict[str, asyncio.subprocess.Process] = {}

    async def start(self, part: Part) -> asyncio.Task[None]:
        """Start a part, wait until it serves, and from then on restart it whenever it ends.

        Raises CannotServe when it does not start and nothing can be served without it.
        """
        child = await self._spawn(part)
        serves = await self._await_ready(part, child)
        if child.returncode is not None and not serves and not part.meanwhile:
            raise CannotServe(
                f"The {part.name} did not start ({_word_status(child.returncode)}); its messages above say why."
            )
        return asyncio.create_task(self._keep(part, child, serves=serves))

    async def _await_ready(self, part: Part, child: asyncio.subprocess.Process) -> bool:
        """False: it ended before it served, or everything is to stop."""
        while not self.stopping.is_set() and child.returncode is None:
            if await part.is_ready(child.pid):
                return True
            await asyncio.sleep(LOOK_SECONDS)
        return False

    async def _keep(self, part: Part, child: asyncio.subprocess.Process, *, serves: bool) -> None:
        pauses = Pauses(FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS)
        retries = Pauses(FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS)
        while True:
            born = time.monotonic()
            status = _word_status(await child.wait())
            if self.stopping.is_set():
                return
            if time.monotonic() - born > STEADY_SECONDS:
                pauses.begin_again()
            seconds = (pauses if serves else retries).next()
            if serves:
                retries.begin_again()
                say(f"The {part.name} died ({status}); it starts again in {seconds:g} s.")
            else:
                words = f"The {part.name} did not start ({status}); its messages above say why."
                say(f"{words} It tries again in {seconds:g} s. {part.meanwhile}".strip())
            await asyncio.sleep(seconds)
            child = await self._spawn_again(part)
            served_before, serves = serves, await self._await_ready(part, child)
            if serves and not served_before:
                say(f"The {part.name} serves now.")

    async def _spawn_again(self, part: Part) -> asyncio.subprocess.Process:
        """Spawn it as soon as the machine has memory and room for one more process."""
        pauses = Pauses(FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS)
        while True:
            try:
                return await self._spawn(part)
            except (OSError, subprocess.SubprocessError) as error:
                seconds = pauses.next()
                say(f"No process could be made for the {part.name} ({error}). It is tried again in {seconds:g} s.")
            await asyncio.sleep(seconds)

    async def _spawn(self, part: Part) -> asyncio.subprocess.Process:
        parent = os.getpid()

        def die_with_parent() -> None:
            _libc.prctl(PR_SET_PDEATHSIG, part.on_orphaned, 0, 0, 0)
            if os.getppid() != parent:
                os._exit(1)

        # A separate session, so that Ctrl-C reaches only this process, which then stops the parts in order.
        child = await asyncio.create_subprocess_exec(
            *part.command,
            stdin=asyncio.subprocess.DEVNULL,
            preexec_fn=die_with_parent,
            start_new_session=True,
            pass_fds=part.descriptors,
        )
        self._children[part.name] = child
        return child

    async def stop(self) -> None:
        """SIGTERM to all; SIGKILL to any still alive after some seconds. No accepted work is lost either way."""
        living = {name: child for name, child in self._children.items() if child.returncode is None}
        for child in living.values():
            child.terminate()
        waits = [asyncio.create_task(child.wait()) for child in living.values()]
        if waits:
            await asyncio.wait(waits, timeout=STOP_SECONDS)
        for name, child in living.items():
            if child.returncode is None:
                say(f"The {name} did not stop in time, so it is killed.")
                child.kill()
                await child.wait()


async def run(settings: Settings) -> int:
    """Start both parts at once and keep them alive. Returns 0 after a stop, 1 if the website cannot start."""
    seen = SeenGrader(settings)
    try:
        return await keep_alive((_website(settings), _grader(seen)), lambda: _welcome(settings, seen.hello))
    finally:
        await seen.close()


async def run_websites(settings: Settings, count: int) -> int:
    """The same for a website of several processes, which take connections from one socket."""
    with open_socket(settings.host, settings.port) as listening:
        parts = [_website_process(settings, number, count, listening) for number in range(1, count + 1)]
        address = f"http://{settings.host}:{listening.getsockname()[1]}"
        words = f"The website is open at {address}, in {count} processes. Start graders separately."
        return await keep_alive(parts, lambda: words)


async def keep_alive(parts: Sequence[Part], welcome: Callable[[], str]) -> int:
    """Start all parts, say so, and restart whatever ends, until a signal comes. Returns 1 if one cannot start."""
    supervisor = Supervisor()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, supervisor.stopping.set)
    keeping: list[asyncio.Task[None]] = []
    try:
        keeping = await asyncio.gather(*(supervisor.start(part) for part in parts))
        if not supervisor.stopping.is_set():
            say(welcome())
        await supervisor.stopping.wait()
        say("Stopping.")
    except CannotServe as refusal:
        say(str(refusal))
        return 1
    finally:
        supervisor.stopping.set()
        for task in keeping:
            task.cancel()
        await supervisor.stop()
    return 0


def open_socket(host: str, port: int) -> socket.socket:
    """One that several processes may accept from. While one of them starts again, the others go on."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listening = socket.socket(family, kind, protocol)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(address)
    return listening


class SeenGrader:
    """Looks in the ledger for the hello of the grader that this command started."""

    def __init__(self, settings: Settings) -> None:
        self._ledger = open_ledger(settings.database, settings.wakeups_folder)
        self.hello: WorkerHello | None = None
        self._said_before: dict[str, datetime | None] = {}

    async def is_ready(self, pid: int) -> bool:
        """Ask first when the process has just started: what was heard under its name by then came from another."""
        try:
            workers = await self._ledger.workers()
        except StorageRefused:  # such as a full disk or a locked file: the next look may succeed
            return False
        name = name_worker(socket.gethostname(), pid)
        seen = next((worker for worker in workers if worker.hello.worker == name), None)
        said_before = self._said_before.setdefault(name, seen.seen_at if seen else None)
        if seen is None or seen.seen_at == said_before:
            return False
        self.hello = seen.hello
        return True

    async def close(self) -> None:
        await self._ledger.close()


def _website(settings: Settings) -> Part:
    async def is_ready(pid: int) -> bool:
        return await _answers(settings.host, settings.port)

    return Part("website", (sys.executable, "-m", "app.server"), signal.SIGKILL, is_ready)


def _website_process(settings: Settings, number: int, count: int, listening: socket.socket) -> Part:
    async def is_ready(pid: int) -> bool:
        return bool(await ask_process(settings.data, number))

    descriptor = listening.fileno()
    numbers = ("--process", str(number), "--of", str(count), "--descriptor", str(descriptor))
    command = (*_website(settings).command, *numbers)
    return Part(f"website {number}", command, signal.SIGKILL, is_ready, descriptors=(descriptor,))


def _grader(seen: SeenGrader) -> Part:
    # SIGTERM makes an orphaned grader release its jobs, so that a restarted site need not wait for leases to end.
    command = (sys.executable, "-m", "graders", "worker", "--queue", "cpu")
    meanwhile = "The website is open without it: pages can be read, and what learners send waits."
    return Part("grader", command, signal.SIGTERM, seen.is_ready, meanwhile)


async def _answers(host: str, port: int) -> bool:
    try:
        async with asyncio.timeout(2):
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(f"GET /healthz HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            line = await reader.readline()
            writer.close()
            await writer.wait_closed()
    except (OSError, TimeoutError):
        return False
    return b" 200 " in line


def _welcome(settings: Settings, hello: WorkerHello | None) -> str:
    lines = [f"Unwind is open at http://{settings.host}:{settings.port}"]
    if hello is not None:
        lines.append(
            f"  isolation  {hello.profile}, {hello.self_test_passed} of {hello.self_test_total} boundaries proven; "
            f"{hello.slots} runs at a time; torch {hello.torch or 'is not installed'}"
        )
    else:
        lines.append("  grader     did not start, and is tried again; code that learners send waits for it")
    lines += [f"  data       {settings.data}", "  Ctrl-C stops it. Nothing is lost."]
    return "\n".join(lines)


def _word_status(status: int) -> str:
    return f"signal {-status}" if status < 0 else f"exit status {status}"


def say(text: str) -> None:
    """Print a line for the operator without buffering."""
    _said.info("%s", text)


def say_as(form: LogForm) -> None:
    """Say everything that follows in bare words, or as lines of the log in JSON."""
    for handler in _said.handlers:
        handler.setFormatter(make_formatter("supervisor", form) if form is LogForm.JSON else None)


def serve(settings: Settings) -> int:
    """Check, migrate, start, watch. Returns the exit status."""
    say_as(settings.log)
    try:
        if warning := prepare(settings):
            say(warning)
        return asyncio.run(run(settings))
    except CannotServe as refusal:
        say(str(refusal))
        return 1


def migrate_alone(settings: Settings, worker_role: str | None = None) -> int:
    """Bring the database up to date and start nothing. Returns the exit status."""
    try:
        migrate(settings.database, settings.data, worker_role)
    except (MigrationRefused, NoSuchRole) as refusal:
        say(str(refusal))
        return 1
    say(f"The database is up to date: {show_url(settings.database)}")
    return 0


def serve_site(settings: Settings, processes: int = 1) -> int:
    """Check, migrate, and become the website, so that SIGTERM reaches it, or watch over several processes of it.

    Alone, it returns only if it cannot start.
    """
    say_as(settings.log)
    try:
        if processes > 1 and settings.preview:
            raise CannotServe(f"A preview is one process: unset UNWIND_PREVIEW, or leave out --workers {processes}.")
        if warning := prepare(settings):
            say(warning)
        if processes > 1:
            return asyncio.run(run_websites(settings, processes))
    except CannotServe as refusal:
        say(str(refusal))
        return 1
    say(f"The website starts at http://{settings.host}:{settings.port}. Start graders separately.")
    command = _website(settings).command
    os.execv(command[0], command)
