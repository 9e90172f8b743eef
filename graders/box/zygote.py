"""The launcher's side of one fork-server: starts it from a clean exec, asks it for forks, notices when it is gone."""

import logging
import os
import select
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from graders.box.errand import BoxFault, Profile
from graders.box.interpreter import clean_environment, plan_root, python_command
from graders.box.jail import orders
from graders.box.jail.orders import Setup
from graders.contract.jobs import Flavour

START_SECONDS: Final = 60.0
ANSWER_SECONDS: Final = 10.0
INSIDE_FOLDER: Final = Path(__file__).resolve().parents[1] / "inside"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Ended:
    """The zygote's word on a dead child: the kernel's wait status and CPU time."""

    status: int
    cpu_seconds: float


@dataclass(frozen=True)
class ZygoteSettings:
    flavour: Flavour
    profile: Profile
    uid: int
    gid: int
    compute_threads: int


class Zygote:
    """A running fork-server. Every failure here is a BoxFault."""

    def __init__(self, settings: ZygoteSettings) -> None:
        self.settings = settings
        self.facts: dict[str, Any] = {}
        self._reading = threading.Lock()
        self._handles: dict[int, int] = {}
        self._ends: dict[int, Ended] = {}
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            # A setting of the launcher, such as a coverage hook in the environment, must not reach the box.
            self._process = subprocess.Popen(
                python_command(f"from graders.box.jail import serve; serve.main({theirs.fileno()})"),
                env=clean_environment(),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                cwd="/",
                start_new_session=True,
            )
        try:
            self._send(orders.as_fields(self._describe()))
        except BoxFault:
            self.close()
            raise

    def _describe(self) -> Setup:
        wanted = self.settings
        return Setup(
            profile=wanted.profile.value,
            flavour=wanted.flavour.value,
            root=plan_root(wanted.flavour),
            inside=str(INSIDE_FOLDER),
            uid=wanted.uid,
            gid=wanted.gid,
            compute_threads=wanted.compute_threads,
        )

    def wait_until_ready(self) -> None:
        """Separate from the start, so that several zygotes import torch at the same time."""
        if not self.facts:
            fields, _ = self._receive(START_SECONDS)
            if "ready" not in fields:
                raise BoxFault(f"the zygote could not get ready: {fields.get('fault', fields)}")
            self.facts = fields["ready"]

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def request_child(self, serial: int, descriptors: list[int]) -> None:
        """Ask for a child that will stand by on descriptors[0] and join the cgroups of the others."""
        self._send({"serial": serial}, descriptors)

    def take_handle(self, serial: int) -> int:
        """The pidfd of a child that was asked for; the caller closes it."""
        with self._reading:
            self._read_until(self._handles, serial)
            return self._handles.pop(serial)

    def await_end(self, serial: int) -> Ended:
        """How a child ended. Call when it is dead, or about to be."""
        with self._reading:
            self._read_until(self._ends, serial)
            return self._ends.pop(serial)

    def _read_until(self, inbox: Mapping[int, object], serial: int) -> None:
        deadline = time.monotonic() + ANSWER_SECONDS
        while serial not in inbox:
            fields, handles = self._receive(deadline - time.monotonic())
            if "forked" in fields and len(handles) == 1:
                self._handles[fields["forked"]] = handles[0]
            elif "ended" in fields:
                self._ends[fields["ended"]] = Ended(fields["status"], fields["cpu_seconds"])
            else:
                raise BoxFault(f"the zygote could not fork: {fields.get('fault', fields)}")

    def close(self) -> None:
        """End the process and what hangs on it: a child dies with its parent."""
        self._channel.close()
        while self._handles:
            os.close(self._handles.popitem()[1])
        try:
            self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def _send(self, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        try:
            orders.send(self._channel, message, descriptors)
        except OSError as error:
            raise BoxFault(f"the zygote is gone: {error}{self._last_words()}") from error

    def _receive(self, seconds: float) -> tuple[dict[str, Any], list[int]]:
        readable, _, _ = select.select([self._channel], [], [], max(0.0, seconds))
        if not readable:
            raise BoxFault("the zygote does not answer")
        try:
            packet = orders.receive(self._channel)
        except OSError as error:
            raise BoxFault(f"the zygote is gone: {error}{self._last_words()}") from error
        if packet is None:
            raise BoxFault(f"the zygote ended{self._last_words()}")
        return packet

    def _last_words(self) -> str:
        size = os.fstat(self._log.fileno()).st_size
        text = os.pread(self._log.fileno(), 2000, max(0, size - 2000)).decode(errors="replace").strip()
        return f"; its last words: {text}" if text else ""
