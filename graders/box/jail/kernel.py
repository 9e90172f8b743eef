"""The kernel calls that Python does not offer, made through ctypes; each raises OSError with the call's name."""

import ctypes
import os
import platform
from typing import Final

LIBC: Final = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long

CLONE_NEWNS: Final = 0x00020000
CLONE_NEWCGROUP: Final = 0x02000000
CLONE_NEWUTS: Final = 0x04000000
CLONE_NEWIPC: Final = 0x08000000
CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWPID: Final = 0x20000000
CLONE_NEWNET: Final = 0x40000000

MS_RDONLY: Final = 1
MS_NOSUID: Final = 2
MS_NODEV: Final = 4
MS_NOEXEC: Final = 8
MS_REMOUNT: Final = 32
MS_BIND: Final = 4096
MS_REC: Final = 16384
MS_PRIVATE: Final = 1 << 18
MNT_DETACH: Final = 2

PR_SET_PDEATHSIG: Final = 1
PR_SET_DUMPABLE: Final = 4
PR_CAPBSET_READ: Final = 23
PR_CAPBSET_DROP: Final = 24
PR_SET_NAME: Final = 15
PR_SET_CHILD_SUBREAPER: Final = 36
PR_SET_NO_NEW_PRIVS: Final = 38
PR_CAP_AMBIENT: Final = 47
PR_CAP_AMBIENT_CLEAR_ALL: Final = 4

SYS_PIVOT_ROOT: Final = 155
SYS_CAPSET: Final = 126
SYS_SECCOMP: Final = 317
SYS_LANDLOCK_CREATE: Final = 444
SYS_LANDLOCK_ADD: Final = 445
SYS_LANDLOCK_RESTRICT: Final = 446
SYS_CLOSE_RANGE: Final = 436


def check_machine() -> None:
    """Raises OSError on a machine whose system call numbers we do not have: a wrong table would confine nothing."""
    if platform.machine() != "x86_64" or ctypes.sizeof(ctypes.c_void_p) != 8:
        raise OSError(f"the box runs on 64-bit x86_64 only, and this machine is {platform.machine()}")


def call(name: str, number: int, *arguments: object) -> int:
    """Make a raw system call. Integers pass as 64 bits: ctypes would cut them to 32."""
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    return _checked(name, LIBC.syscall(ctypes.c_long(number), *wide))


def _checked(name: str, result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    _checked("unshare", LIBC.unshare(ctypes.c_int(flags)))


def setns(descriptor: int, kind: int) -> None:
    _checked("setns", LIBC.setns(ctypes.c_int(descriptor), ctypes.c_int(kind)))


def mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    result = LIBC.mount(
        source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode() if options else None
    )
    _checked(f"mount {kind or source} on {target}", result)


def detach(target: str) -> None:
    _checked(f"umount {target}", LIBC.umount2(target.encode(), ctypes.c_int(MNT_DETACH)))


def pivot_into(new_root: str) -> None:
    """Make `new_root` the root. pivot_root(".", ".") mounts the old root over the new one; then it is detached."""
    os.chdir(new_root)
    call("pivot_root", SYS_PIVOT_ROOT, ctypes.c_char_p(b"."), ctypes.c_char_p(b"."))
    detach(".")
    os.chdir("/")


def control(name: str, option: int, *values: int) -> int:
    """Call prctl(2). Unused arguments are passed as zero, which newer options require."""
    padded = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    return _checked(name, LIBC.prctl(ctypes.c_int(option), *padded))


def set_process_name(name: str) -> None:
    raw = ctypes.c_char_p(name.encode())
    _checked("prctl name", LIBC.prctl(ctypes.c_int(PR_SET_NAME), raw, *[ctypes.c_ulong(0)] * 3))


def set_hostname(name: str) -> None:
    raw = name.encode()
    _checked("sethostname", LIBC.sethostname(raw, ctypes.c_size_t(len(raw))))


def close_from(lowest: int) -> None:
    call("close_range", SYS_CLOSE_RANGE, lowest, 0xFFFFFFFF, 0)
