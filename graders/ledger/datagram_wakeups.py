"""Wake-ups between processes of one machine: empty datagrams on unix sockets in a folder that they share.

The datagrams carry no data, so it does no harm if a socket is full: its listener has already been woken.
"""

import asyncio
import contextlib
import os
import secrets
import socket
from collections.abc import Iterator
from pathlib import Path


class DatagramListener:
    """Has its own socket in the folder, named after its topic."""

    def __init__(self, folder: Path, topic: str) -> None:
        self._path = folder / f"{topic}.{os.getpid()}.{secrets.token_hex(4)}"
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        with short_path(folder) as short:
            self._socket.bind(f"{short}/{self._path.name}")

    async def wait(self, timeout_seconds: float) -> bool:
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


class DatagramWakeups:
    """Wakes through the sockets in `folder`, which is created if it is missing."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    def listen(self, topic: str) -> DatagramListener:
        return DatagramListener(self._folder, topic)

    def wake(self, topic: str) -> None:
        # The change is already committed, so a failure here (no descriptors left, a folder removed) must not make it
        # look refused. The listener finds the change when it next polls.
        with contextlib.suppress(OSError):
            self._wake_all(topic)

    async def close(self) -> None:
        """Nothing is held: each listener closes its own socket."""

    def _wake_all(self, topic: str) -> None:
        names = [path.name for path in self._folder.iterdir() if path.name.startswith(f"{topic}.")]
        if not names:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, short_path(self._folder) as short:
            sender.setblocking(False)
            for name in names:
                _send(sender, f"{short}/{name}")


def _send(sender: socket.socket, address: str) -> None:
    try:
        sender.sendto(b"", address)
    except ConnectionRefusedError:
        # Its process died without closing the socket: nothing will listen here again.
        with contextlib.suppress(OSError):
            Path(address).unlink()
    except OSError:
        # The socket is full (its listener has already been woken), or it was removed after we listed the folder.
        return


@contextlib.contextmanager
def short_path(folder: Path) -> Iterator[str]:
    """A name for the folder that fits in the 107 bytes of a unix socket's address, however long its path is."""
    descriptor = os.open(folder, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{descriptor}"
    finally:
        os.close(descriptor)
