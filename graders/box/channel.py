"""A socket from the launcher to one of the box's processes, and the log that holds what it wrote before it ended."""

import os
import select
import socket
import tempfile
from collections.abc import Sequence
from typing import IO, Any

from graders.box.interface import BoxFault
from graders.box.jail import orders


class Channel:
    """`theirs` and `log` go to the process; close `theirs` here once it has it. Every failure is a BoxFault."""

    def __init__(self, process: str) -> None:
        self._process = process
        self.log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._ours, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    @property
    def is_open(self) -> bool:
        """Whether the process still holds its end: a dying process gives it up before its pidfd reports it."""
        poll = select.poll()
        poll.register(self._ours, select.POLLRDHUP)
        return not poll.poll(0)

    def send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        try:
            orders.send(self._ours, message, descriptors)
        except OSError as error:
            raise BoxFault(f"the {self._process} is gone: {error}{self._last_words()}") from error

    def receive(self, seconds: float) -> tuple[dict[str, Any], list[int]]:
        readable, _, _ = select.select([self._ours], [], [], max(0.0, seconds))
        if not readable:
            raise BoxFault(f"the {self._process} did not answer in time{self._last_words()}")
        try:
            packet = orders.receive(self._ours)
        except OSError as error:
            raise BoxFault(f"the {self._process} is gone: {error}{self._last_words()}") from error
        if packet is None:
            raise BoxFault(f"the {self._process} ended{self._last_words()}")
        return packet

    def await_ready(self, seconds: float) -> tuple[Any, list[int]]:
        """The facts that the process reports when it is ready, and the descriptors that it sends with them."""
        fields, descriptors = self.receive(seconds)
        if "ready" not in fields:
            raise BoxFault(f"the {self._process} could not get ready: {fields.get('fault', fields)}")
        return fields["ready"], descriptors

    def hang_up(self) -> None:
        """Close both ends. The process notices and ends."""
        self.theirs.close()
        self._ours.close()

    def close(self) -> None:
        self.hang_up()
        self.log.close()

    def _last_words(self) -> str:
        size = os.fstat(self.log.fileno()).st_size
        text = os.pread(self.log.fileno(), 2000, max(0, size - 2000)).decode(errors="replace").strip()
        return f"; its last words: {text}" if text else ""
