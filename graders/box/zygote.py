"""The launcher's side of one fork-server: starts it from a clean exec, asks it for forks, notices when it is gone."""

import logging
import os
import select
import shutil
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from graders.box.errand import BoxFault, Profile
from graders.box.interpreter import clean_environment, plan_root, start_command
from graders.box.jail import orders
from graders.box.jail.orders import ForkOrder, Setup
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
        self._mount_point = tempfile.mkdtemp(prefix="unwind-root-")
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            # A setting of the launcher, such as a coverage hook in the environment, must not reach the box.
            self._process = subprocess.Popen(
                start_command(theirs.fileno()),
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
            mount_point=self._mount_point,
            inside=str(INSIDE_FOLDER),
            uid=wanted.uid,
            gid=wanted.gid,
            compute_threads=wanted.compute_threads,
        )

    def wait_until_ready(self) -> None:
        """Separate from the start, so that several zygotes import torch at the same time."""
        if not self.facts:
            try:
                self.facts = self._receive("ready", START_SECONDS)[0]
            except BoxFault:
                self.close()
                raise

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    @property
    def channel_descriptor(self) -> int:
        return self._channel.fileno()

    def fork(self, order: ForkOrder, descriptors: list[int]) -> int:
        """Ask for a child on these descriptors; its pidfd, which the caller closes."""
        self._send(orders.as_fields(order), descriptors)
        _, handles = self._receive("started", ANSWER_SECONDS)
        if len(handles) != 1:
            raise BoxFault(f"the zygote sent {len(handles)} process handles instead of one")
        return handles[0]

    def await_end(self) -> Ended:
        """Call when the child is dead, or about to be."""
        fields, _ = self._receive_fields("status", ANSWER_SECONDS)
        return Ended(status=int(fields["status"]), cpu_seconds=float(fields["cpu_seconds"]))

    def close(self) -> None:
        """End the process and what hangs on it: a child dies with its parent."""
        self._channel.close()
        try:
            self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()
        # Only ever an empty folder here: the root was mounted on it in a namespace of the zygote's own.
        shutil.rmtree(self._mount_point, ignore_errors=True)

    def _send(self, message: dict[str, Any], descriptors: list[int] | None = None) -> None:
        try:
            orders.send(self._channel, message, descriptors)
        except OSError as error:
            raise BoxFault(f"the zygote is gone: {error}{self._last_words()}") from error

    def _receive(self, key: str, seconds: float) -> tuple[Any, list[int]]:
        fields, descriptors = self._receive_fields(key, seconds)
        return fields[key], descriptors

    def _receive_fields(self, key: str, seconds: float) -> tuple[dict[str, Any], list[int]]:
        readable, _, _ = select.select([self._channel], [], [], seconds)
        if not readable:
            raise BoxFault(f"the zygote did not answer '{key}' within {seconds:g} seconds")
        try:
            packet = orders.receive(self._channel)
        except OSError as error:
            raise BoxFault(f"the zygote is gone: {error}{self._last_words()}") from error
        if packet is None:
            raise BoxFault(f"the zygote ended while '{key}' was awaited{self._last_words()}")
        fields, descriptors = packet
        if key not in fields:
            for descriptor in descriptors:
                os.close(descriptor)
            raise BoxFault(f"the zygote could not go on: {fields.get('fault', fields)}")
        return fields, descriptors

    def _last_words(self) -> str:
        size = os.fstat(self._log.fileno()).st_size
        text = os.pread(self._log.fileno(), 2000, max(0, size - 2000)).decode(errors="replace").strip()
        return f"; its last words: {text}" if text else ""
