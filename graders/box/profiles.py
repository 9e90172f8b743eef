"""Which confinement this machine allows: tries each profile in throw-away processes, the strongest first."""

import contextlib
import itertools
import os
import subprocess
from pathlib import Path
from typing import Final

from graders.box.interface import BoxFault, Profile
from graders.box.interpreter import clean_environment, python_command

STRENGTH: Final = (Profile.P1, Profile.P2, Profile.P3)
# From here on, user ids are normally given to no person, service or container.
FREE_UID: Final = 0x70000000
WHOLE_RANGE: Final = 4294967295
SERIALS_A_PROCESS: Final = 64

_serials = itertools.count()

REMEDY: Final = (
    "It needs Linux 5.13 or newer on x86_64 with seccomp and Landlock (CONFIG_SECCOMP_FILTER,"
    " CONFIG_SECURITY_LANDLOCK, and 'landlock' in the kernel's lsm= list)"
)
REMEDY_PYTHON: Final = (
    "The box's user cannot read {path}, perhaps because Python is in root's home:"
    " install Python where every user can read it, or start the worker as the user who owns it"
)


def probe_profile(at_most: Profile | None = None) -> Profile:
    """The strongest profile that works here and is no stronger than `at_most`.

    Raises BoxFault, with the remedy, where not even P3 works.
    """
    allowed = STRENGTH if at_most is None else STRENGTH[STRENGTH.index(at_most) :]
    for profile in allowed:
        if _works(*_NEEDS[profile]):
            return profile
    raise BoxFault(f"nothing on this machine can confine learner code (tried {', '.join(allowed)}). {_find_remedy()}")


def choose_uid() -> int:
    """Under root, a user id that no other process has; otherwise this process's own user id."""
    if os.geteuid() != 0:
        return os.geteuid()
    first, _, count = max(_read_uid_map(), key=lambda extent: extent[2])
    if count >= WHOLE_RANGE:
        return FREE_UID + _next_serial()
    # In a container, the upper end of its range: away from real users and below the user nobody (65534).
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
    """A number that no slot of another live process on this machine uses."""
    return os.getpid() * SERIALS_A_PROCESS + next(_serials) % SERIALS_A_PROCESS


def _read_uid_map() -> list[tuple[int, int, int]]:
    extents = []
    for line in Path("/proc/self/uid_map").read_text().splitlines():
        inside, outside, count = (int(field) for field in line.split())
        extents.append((inside, outside, count))
    return extents


def _works(*attempts: str) -> bool:
    return all(_try(attempt) for attempt in attempts)


def _try(attempt: str) -> bool:
    """Whether it succeeds in a new interpreter. A fork of this one would copy locks that other threads hold."""
    uid = choose_uid()
    gid = uid if os.geteuid() == 0 else os.getegid()
    call = f"from graders.box.jail import probes; probes.main({attempt!r}, {uid}, {gid})"
    done = subprocess.run(python_command(call), env=clean_environment(), cwd="/", capture_output=True, check=False)
    return done.returncode == 0


def _find_remedy() -> str:
    if _try("confine_files_and_calls") and not _try("read_python"):
        return REMEDY_PYTHON.format(path=os.__file__)
    return REMEDY


_NEEDS: Final[dict[Profile, tuple[str, ...]]] = {
    Profile.P1: ("confine_files_and_calls", "use_root"),
    Profile.P2: ("confine_files_and_calls", "use_user_namespace"),
    Profile.P3: ("confine_files_and_calls", "read_python"),
}
