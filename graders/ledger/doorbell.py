"""Wake-ups between processes of one machine: empty datagrams on unix sockets in a folder that they share.

A ring says "look", never at what. So a full socket loses nothing: the listener has a ring to answer already.
A listener that hears nothing for a while looks by itself; a doorbell makes things quick, never correct.
"""

import asyncio
import contextlib
import os
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

EVENTS = "events"
"""Rung when a submission has new events."""
CANCEL = "cancel"
"""Rung when a running submission was finished by someone other than its worker."""


def queue_topic(queue: str) -> str:
    return f"queue-{queue}"


class Bell:
    """A listener's end: awaits rings, many of which may be answered as one."""

    def __init__(self, folder: Path, topic: str) -> None:
        self._path = folder / f"{topic}.{os.getpid()}.{secrets.token_hex(4)}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        with _short_path(folder) as short:
            self._socket.bind(f"{short}/{self._path.name}")

    async def wait(self, timeout_seconds: float) -> bool:
        """Wait for a ring. False: none came in time."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout_seconds):
                await loop.sock_recv(self._socket, 1)
        except TimeoutError:
            return False
        self._drain()
        return True

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                self._socket.recv(1)

    def close(self) -> None:
        self._socket.close()
        self._path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Doorbells:
    """The folder of bells. Ringing never blocks and never fails for the ringer."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    def listen(self, topic: str) -> Bell:
        return Bell(self._folder, topic)

    def ring(self, topic: str) -> None:
        # What is rung for is committed already: no failure here (no descriptors left, a folder removed)
        # may make it look refused. The listener's own look finds it.
        with contextlib.suppress(OSError):
            self._ring_all(topic)

    def _ring_all(self, topic: str) -> None:
        names = [path.name for path in self._folder.iterdir() if path.name.startswith(f"{topic}.")]
        if not names:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, _short_path(self._folder) as short:
            sender.setblocking(False)
            for name in names:
                self._ring_one(sender, f"{short}/{name}")

    def _ring_one(self, sender: socket.socket, address: str) -> None:
        try:
            sender.sendto(b"", address)
        except ConnectionRefusedError:
            # Its process died without closing: nobody will ever answer here.
            with contextlib.suppress(OSError):
                Path(address).unlink()
        except OSError:
            # Full (a ring is waiting already), or gone between the listing and now.
            return


@contextlib.contextmanager
def _short_path(folder: Path) -> Iterator[str]:
    """A name of the folder that fits the 107 bytes of a unix socket's address, however deep the folder lies."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
