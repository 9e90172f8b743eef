"""Namespaces around a box whose layers are taken away: what gets through reaches nothing, and dies with them."""

import fcntl
import os
import socket
import struct
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Final

from as_ordinary_user import reveal

from graders.box.jail import kernel

OUTER_NAMESPACES: Final = (
    kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS | kernel.CLONE_NEWNET
)
COVERED: Final = ("/tmp", "/var/tmp", "/dev/shm")
"""Folders that every user may write to."""
REPOSITORY: Final = Path(__file__).resolve().parents[3]
SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def run_apart(work: Callable[[], None]) -> int:
    """Do the work in a fork of this process in namespaces of its own; the exit status. Needs root."""
    kernel.unshare(OUTER_NAMESPACES)
    sys.stdout.flush()
    pid = os.fork()  # the first process of the new pid namespace: its end kills all remaining processes
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    _furnish()
    worker = os.fork()
    if worker:
        os._exit(reap_until(worker))
    work()
    return 0


def reap_until(worker: int) -> int:
    """As the first process, reaps all orphans, which would otherwise count against their user's process limit."""
    while True:
        pid, status = os.wait()
        if pid == worker:
            return os.waitstatus_to_exitcode(status)


def _furnish() -> None:
    """A /proc, a loopback and a readable Python of our own."""
    kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID)
    # The box's user must be able to read Python, even if it is installed in root's home.
    reveal(Path(sysconfig.get_config_var("installed_base")))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


def cover_writable_places() -> None:
    """Covers what was left there before, except this repository, if it is checked out there."""
    for place in COVERED:
        ours = [path for path in {str(REPOSITORY), sys.prefix} if path.startswith(place + "/")]
        handles = {path: os.open(path, os.O_PATH) for path in sorted(ours)}
        kernel.mount("covered", place, "tmpfs", kernel.MS_NOSUID, "mode=1777,size=1g")
        for path, handle in handles.items():
            os.makedirs(path, exist_ok=True)
            kernel.mount(f"/proc/self/fd/{handle}", path, "", kernel.MS_BIND | kernel.MS_REC)
            os.close(handle)
