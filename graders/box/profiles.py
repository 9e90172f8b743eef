"""Which confinement this machine allows: found by trying it in throw-away processes, strongest first."""

import contextlib
import itertools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from graders.box.errand import BoxFault, Profile
from graders.box.jail import kernel, landlock, privileges, seccomp
from graders.box.jail.child import CHILD_NAMESPACES

STRENGTH: Final = (Profile.P1, Profile.P2, Profile.P3)
# The first numbers that neither people, services nor container managers are given.
FREE_UID: Final = 0x70000000
WHOLE_RANGE: Final = 4294967295
SERIALS_A_PROCESS: Final = 64

_serials = itertools.count()

REMEDY: Final = (
    "It needs Linux 5.13 or newer on x86_64 with seccomp and Landlock (CONFIG_SECCOMP_FILTER,"
    " CONFIG_SECURITY_LANDLOCK, and 'landlock' in the kernel's lsm= list)"
)
REMEDY_PYTHON: Final = (
    "The box's user cannot read {path}, as when Python lies in root's home:"
    " install Python where everybody can read it, or start the worker as the user who owns it"
)


def probe_profile(at_most: Profile | None = None) -> Profile:
    """The strongest profile that works here, and no stronger than `at_most`.

    Raises BoxFault, with the remedy, where not even P3 holds.
    """
    allowed = STRENGTH if at_most is None else STRENGTH[STRENGTH.index(at_most) :]
    for profile in allowed:
        if _PROBES[profile]():
            return profile
    raise BoxFault(f"nothing on this machine can confine learner code (tried {', '.join(allowed)}). {_find_remedy()}")


def choose_uid() -> int:
    """A user id that nobody else has, for a box started by root; a running process's own id otherwise."""
    if os.geteuid() != 0:
        return os.geteuid()
    first, _, count = max(_read_uid_map(), key=lambda extent: extent[2])
    if count >= WHOLE_RANGE:
        return FREE_UID + _next_serial()
    # A container's own range: its upper end, below nobody (65534), away from real users.
    return first + min(count, 65000) - 1 - _next_serial() % max(1, min(count, 65000) // 4)


def count_tasks(uid: int) -> int:
    """How many threads this user runs on the machine."""
    count = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if folder.stat().st_uid == uid:
                count += sum(1 for _ in (folder / "task").iterdir())
    return count


def _next_serial() -> int:
    """A number that no other slot of a live process on this machine has."""
    return os.getpid() * SERIALS_A_PROCESS + next(_serials) % SERIALS_A_PROCESS


def _read_uid_map() -> list[tuple[int, int, int]]:
    extents = []
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        inside, outside, count = (int(field) for field in line.split())
        extents.append((inside, outside, count))
    return extents


def _confines_files_and_calls() -> None:
    kernel.check_machine()
    if landlock.find_version() == 0:
        raise OSError("no Landlock")
    if os.geteuid() == 0:
        uid = choose_uid()
        privileges.give_up_privileges(uid, uid, True, privileges.find_bounding_set())
    else:
        privileges.give_up_privileges(os.getuid(), os.getgid(), False, ())
    landlock.restrict(landlock.find_version(), [])
    seccomp.install_filter(seccomp.build_filter(os.getpid()))
    if _can_open("/proc/self/status"):
        raise OSError("Landlock does not hold")


def _can_open(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError:
        return False
    return True


def _uses_root() -> None:
    if os.geteuid() != 0:
        raise PermissionError("not root")
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("probe", "/proc", "tmpfs", kernel.MS_NOSUID, "size=64k")
    kernel.unshare(CHILD_NAMESPACES | kernel.CLONE_NEWPID)
    kernel.detach("/proc")


def _uses_user_namespace() -> None:
    uid = choose_uid()
    gid = uid if os.geteuid() == 0 else os.getegid()
    privileges.enter_user_namespace(uid, gid)
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("probe", "/dev", "tmpfs", kernel.MS_NOSUID, "size=64k")
    kernel.unshare(CHILD_NAMESPACES | kernel.CLONE_NEWPID)
    _reads_python()


def _reads_python() -> None:
    """The box's user must be able to reach the interpreter: under root's 0700 home it cannot."""
    if not os.access(os.__file__, os.R_OK):
        raise PermissionError(os.__file__)


def _find_remedy() -> str:
    if _works_in_child(_confines_files_and_calls) and not _works_in_child(_reads_python_as_box):
        return REMEDY_PYTHON.format(path=os.__file__)
    return REMEDY


def _works(*attempts: Callable[[], None]) -> bool:
    """Whether every attempt succeeds in a child of its own."""
    return all(_works_in_child(attempt) for attempt in attempts)


def _works_in_child(attempt: Callable[[], None]) -> bool:
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            attempt()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(pid, 0)
    return status == 0


def _reads_python_as_box() -> None:
    if os.geteuid() == 0:
        uid = choose_uid()
        privileges.become(uid, uid)
    _reads_python()


_PROBES: Final[dict[Profile, Callable[[], bool]]] = {
    Profile.P1: lambda: _works(_confines_files_and_calls, _uses_root),
    Profile.P2: lambda: _works(_confines_files_and_calls, _uses_user_namespace),
    Profile.P3: lambda: _works(_confines_files_and_calls, _reads_python_as_box),
}
