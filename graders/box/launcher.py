"""The launcher's side of one zygote: asks it for forks, and notices when it has ended."""

import os
import select
import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from graders.box.channel import Channel
from graders.box.interface import BoxFault, Profile

START_SECONDS: Final = 20.0
ANSWER_SECONDS: Final = 10.0
END_SECONDS: Final = 1.0


@dataclass(frozen=True)
class Ended:
    """The zygote's report on a dead child: the kernel's wait status and CPU time."""

    status: int
    cpu_seconds: float


class Zygote:
    """A fork of a mother that serves one slot. Every failure here is a BoxFault."""

    def __init__(self, channel: Channel, profile: Profile) -> None:
        self.profile = profile
        self.pid = 0
        self._channel = channel
        self._process: int | None = None
        self._reading = threading.Lock()
        self._handles: dict[int, int] = {}
        self._ends: dict[int, Ended] = {}

    def wait_until_ready(self) -> None:
        """Separate from the start, so that several zygotes can start at the same time."""
        if self._process is None:
            _, [self._process] = self._channel.await_ready(START_SECONDS)
            self.pid = read_process_id(self._process)
            if self.pid <= 0:
                raise BoxFault("the zygote ended as soon as it was ready")

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._channel.is_open and not _has_ended(self._process, 0.0)

    def request_child(self, serial: int, descriptors: list[int]) -> None:
        """Ask for a child that waits for its order on descriptors[0] and joins the cgroups of the others."""
        self._channel.send({"serial": serial}, descriptors)

    def take_handle(self, serial: int) -> int:
        """The pidfd of a child requested before; the caller closes it."""
        with self._reading:
            self._read_until(self._handles, serial)
            return self._handles.pop(serial)

    def find_child(self, serial: int) -> int:
        """The process id of a child whose handle has not been taken yet."""
        with self._reading:
            self._read_until(self._handles, serial)
            return read_process_id(self._handles[serial])

    def await_end(self, serial: int) -> Ended:
        """How a child ended. Call it when the child is dead or dying: the wait is short, then BoxFault."""
        with self._reading:
            self._read_until(self._ends, serial)
            return self._ends.pop(serial)

    def _read_until(self, inbox: Mapping[int, object], serial: int) -> None:
        deadline = time.monotonic() + ANSWER_SECONDS
        while serial not in inbox:
            fields, handles = self._channel.receive(deadline - time.monotonic())
            if "forked" in fields and len(handles) == 1:
                self._handles[fields["forked"]] = handles[0]
            elif "ended" in fields:
                self._ends[fields["ended"]] = Ended(fields["status"], fields["cpu_seconds"])
            else:
                raise BoxFault(f"the zygote could not fork: {fields.get('fault', fields)}")

    def close(self) -> None:
        """End the process, and with it its children: each child dies with its parent."""
        self._channel.close()
        while self._handles:
            os.close(self._handles.popitem()[1])
        if self._process is not None:
            if not _has_ended(self._process, END_SECONDS):
                signal.pidfd_send_signal(self._process, signal.SIGKILL)
                _has_ended(self._process, END_SECONDS)
            os.close(self._process)
            self._process = None


def read_process_id(handle: int) -> int:
    """The process id behind a pidfd, or -1 once it is reaped; until then no other process can get that id."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/self/fdinfo/{handle}").read_text().splitlines())
    return int(fields["Pid"])


def _has_ended(handle: int, seconds: float) -> bool:
    readable, _, _ = select.select([handle], [], [], seconds)
    return bool(readable)
