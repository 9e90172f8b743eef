"""The system calls that learner code may make: an allow-list with argument rules; any other call gets EPERM."""

import ctypes
import errno
from typing import Final

from graders.box.jail import bpf, kernel
from graders.box.jail.bpf import Instruction, Label, Program

AUDIT_ARCH_X86_64: Final = 0xC000003E
X32_BIT: Final = 0x40000000

RETURN_ALLOW: Final = 0x7FFF0000
RETURN_ERRNO: Final = 0x00050000
RETURN_KILL_PROCESS: Final = 0x80000000

SET_MODE_FILTER: Final = 1

# Numbers of x86_64. Real CPU work with torch was seen to use 53 of these.
PLAIN: Final[dict[str, int]] = {
    "read": 0, "write": 1, "open": 2, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "poll": 7, "lseek": 8,
    "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15,
    "pread64": 17, "pwrite64": 18, "readv": 19, "writev": 20, "access": 21, "pipe": 22, "select": 23,
    "sched_yield": 24, "mremap": 25, "msync": 26, "mincore": 27, "dup": 32, "dup2": 33, "pause": 34,
    "nanosleep": 35, "getitimer": 36, "alarm": 37, "setitimer": 38, "getpid": 39, "exit": 60, "uname": 63,
    "fsync": 74, "fdatasync": 75, "ftruncate": 77, "getdents": 78, "getcwd": 79, "chdir": 80,
    "fchdir": 81, "rename": 82, "mkdir": 83, "rmdir": 84, "creat": 85, "unlink": 87, "symlink": 88, "readlink": 89,
    "umask": 95, "gettimeofday": 96, "getrlimit": 97, "getrusage": 98, "times": 100, "getuid": 102,
    "getgid": 104, "geteuid": 107, "getegid": 108, "getppid": 110, "getpgrp": 111, "getgroups": 115,
    "getresuid": 118, "getresgid": 120, "capget": 125, "rt_sigpending": 127, "rt_sigtimedwait": 128,
    "rt_sigsuspend": 130, "sigaltstack": 131, "sched_get_priority_max": 146, "sched_get_priority_min": 147,
    "gettid": 186, "time": 201, "getdents64": 217, "set_tid_address": 218, "restart_syscall": 219,
    "exit_group": 231, "openat": 257, "mkdirat": 258, "newfstatat": 262, "unlinkat": 263, "renameat": 264,
    "symlinkat": 266, "readlinkat": 267, "faccessat": 269, "pselect6": 270, "ppoll": 271, "set_robust_list": 273,
    "fallocate": 285, "dup3": 292, "pipe2": 293, "preadv": 295, "pwritev": 296, "getcpu": 309, "renameat2": 316,
    "getrandom": 318, "membarrier": 324, "statx": 332, "rseq": 334, "faccessat2": 439,
}  # fmt: skip

RULED: Final[dict[str, int]] = {
    "futex": 202, "clock_gettime": 228, "mmap": 9, "madvise": 28, "clone": 56, "clone3": 435, "kill": 62,
    "tgkill": 234, "ioctl": 16, "fcntl": 72, "prctl": 157, "prlimit64": 302, "fadvise64": 221, "getpgid": 121,
    "getsid": 124, "getpriority": 140, "sched_getparam": 143, "sched_getscheduler": 145, "sched_getaffinity": 204,
    "clock_getres": 229, "clock_nanosleep": 230,
}  # fmt: skip
"""Allowed with some arguments; the most frequent calls come first. `truncate` is in no table: it takes a path, and
Landlock controls it only since Linux 6.2."""

# An edit once shortened the table unnoticed. These three entries, from its start and end, must match the kernel's.
KNOWN: Final = {"read": 0, "exit_group": 231, "getrandom": 318}

IOCTLS: Final = (0x5401, 0x541B, 0x5413, 0x5450, 0x5451)  # TCGETS, FIONREAD, TIOCGWINSZ, FIONCLEX, FIOCLEX
FCNTLS: Final = (0, 1, 2, 3, 4, 1030)  # DUPFD, GETFD, SETFD, GETFL, SETFL, DUPFD_CLOEXEC: no locks, leases, seals
PRCTLS: Final = (3, 15, 16, 39)  # GET_DUMPABLE, SET_NAME, GET_NAME, GET_NO_NEW_PRIVS

# A card's driver. The numbers are those of NVIDIA's published kernel modules. Its front end numbers its calls in the
# lowest byte, with a letter above it and sizes above both, so only the low half is compared. Left out are the calls
# that read and write another process's memory (62, 63), the events and counters of tools, and the call that wraps
# another one (211), whose content no filter could see.
CARD_CALLS: Final = (
    0x27, 0x29, 0x2A, 0x2B, 0x34, 0x35, 0x41, 0x4A, 0x4E, 0x4F, 0x54, 0x57, 0x58, 0x5E,
    200, 201, 206, 207, 210, 212, 214, 215, 218,
)  # fmt: skip
CARD_LETTER: Final = ord("F") << 8
UNIFIED_MEMORY_CALLS: Final = (
    0x30000001, 0x30000002, 23, 24, 25, 26, 27, 28, 29, 30, 31, 33, 34, 37, 38, 39, 42, 43, 44, 45, 46, 47, 51, 53,
    65, 66, 68, 70, 72, 73, 75,
)  # fmt: skip
CARD_PLAIN: Final[dict[str, int]] = {"sysinfo": 99, "get_mempolicy": 239, "eventfd2": 290}
"""What the driver's library calls besides, to learn how the memory is laid out and to wait for the card."""

# For posix_fadvise: NORMAL, RANDOM, SEQUENTIAL, WILLNEED, NOREUSE. Not DONTNEED, which empties the page cache
# for every process of the machine.
FILE_ADVICE: Final = (0, 1, 2, 3, 5)

# Smaller numbers are clocks that belong to no process. Greater ones, and negative ones, belong to another process or
# a device.
FIRST_FOREIGN_CLOCK: Final = 12

FUTEX_PRIVATE: Final = 0x80
FUTEX_WAITS: Final = (0, 9, 0x109)  # WAIT, WAIT_BITSET, and this with CLOCK_REALTIME
FUTEX_WAKES: Final = (1, 10)  # WAKE, WAKE_BITSET

# NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE, DONTDUMP, DODUMP, POPULATE_READ, _WRITE.
# Not COLD and PAGEOUT, which lower a measured peak where there is swap; not MERGEABLE: runs would share pages.
ADVICE: Final = (0, 1, 2, 3, 4, 8, 14, 15, 16, 17, 22, 23)

MAP_SHARED_BIT: Final = 0x01
MAP_ANONYMOUS: Final = 0x20
MAP_GROWSDOWN_OR_HUGE: Final = 0x100 | 0x40000
CLONE_THREAD: Final = 0x10000
CLONE_NEW_ANY: Final = 0x7E020000


def build_filter(own_pid: int, has_card: bool = False) -> bytes:
    """Assemble the filter. `own_pid` is the only process that may be signalled: pid 1 in a pid namespace.

    `has_card` adds the calls of a card's driver. A filter does not see which file a call is about: Landlock
    and the root decide which devices there are.

    Raises ValueError if the table of system calls is damaged.
    """
    if any(PLAIN.get(name) != number for name, number in KNOWN.items()):
        raise ValueError(f"the table of system calls is damaged: it must contain {KNOWN}; restore seccomp.PLAIN")
    program: Program = [
        Instruction(bpf.LOAD_WORD, bpf.ARCHITECTURE_OFFSET),
        Instruction(bpf.JUMP_EQUAL, AUDIT_ARCH_X86_64, yes="native"),
        # In the 32-bit table each number means another call, so the only safe answer is to kill the process.
        Instruction(bpf.RETURN, RETURN_KILL_PROCESS),
        Label("native"),
        Instruction(bpf.LOAD_WORD, bpf.NUMBER_OFFSET),
        Instruction(bpf.JUMP_GREATER_OR_EQUAL, X32_BIT, no="x64"),
        Instruction(bpf.RETURN, RETURN_KILL_PROCESS),
        Label("x64"),
        *(item for name, body in _ruled(own_pid, has_card).items() for item in _rule(name, RULED[name], body)),
        *_plain(PLAIN | CARD_PLAIN if has_card else PLAIN),
    ]
    return bpf.assemble([*program, _refuse(errno.EPERM)])


def _refuse(number: int) -> Instruction:
    return Instruction(bpf.RETURN, RETURN_ERRNO | number)


def _allow() -> Instruction:
    return Instruction(bpf.RETURN, RETURN_ALLOW)


def _plain(calls: dict[str, int]) -> Program:
    # Each call has its own comparison and return: a long program, but without far jumps, and compiled once.
    program: Program = []
    for name, number in calls.items():
        program += [Instruction(bpf.JUMP_EQUAL, number, no=f"after {name}"), _allow(), Label(f"after {name}")]
    return program


def _ruled(own_pid: int, has_card: bool) -> dict[str, Program]:
    own = (0, own_pid)
    return {
        "futex": _futex_rule(),
        "clock_gettime": _clock_rule("clock_gettime"),
        "mmap": _mmap_rule(),
        "madvise": _one_of("madvise", 2, ADVICE),
        "clone": _clone_rule(),
        # ENOSYS makes libc fall back to clone, whose flags are an argument that the filter can read.
        "clone3": [_refuse(errno.ENOSYS)],
        "kill": _one_of("kill", 0, (own_pid,)),
        "tgkill": _one_of("tgkill", 0, (own_pid,)),
        "ioctl": _card_ioctls() if has_card else _one_of("ioctl", 1, IOCTLS),
        "fcntl": _one_of("fcntl", 1, FCNTLS),
        "prctl": _one_of("prctl", 0, PRCTLS),
        "prlimit64": _only_asking(own),
        "fadvise64": _one_of("fadvise64", 3, FILE_ADVICE),
        # Without a pid namespace, these calls would show which other processes exist, and facts about them.
        "getpgid": _one_of("getpgid", 0, own),
        "getsid": _one_of("getsid", 0, own),
        "getpriority": _one_of("getpriority", 1, own),
        "sched_getparam": _one_of("sched_getparam", 0, own),
        "sched_getscheduler": _one_of("sched_getscheduler", 0, own),
        "sched_getaffinity": _one_of("sched_getaffinity", 0, own),
        "clock_getres": _clock_rule("clock_getres"),
        "clock_nanosleep": _clock_rule("clock_nanosleep"),
    }


def _rule(name: str, number: int, body: Program) -> Program:
    return [Instruction(bpf.JUMP_EQUAL, number, no=f"not {name}"), *body, Label(f"not {name}")]


def _one_of(name: str, argument: int, values: tuple[int, ...]) -> Program:
    low, _ = bpf.argument_offsets(argument)
    # The kernel reads these arguments as 32-bit integers, so the high half carries nothing.
    checks: Program = [Instruction(bpf.LOAD_WORD, low)]
    checks += [Instruction(bpf.JUMP_EQUAL, value, yes=f"{name} fits") for value in values]
    return [*checks, _refuse(errno.EPERM), Label(f"{name} fits"), _allow()]


def _card_ioctls() -> Program:
    low, _ = bpf.argument_offsets(1)
    exact = [Instruction(bpf.JUMP_EQUAL, value, yes="ioctl fits") for value in (*IOCTLS, *UNIFIED_MEMORY_CALLS)]
    front = [Instruction(bpf.JUMP_EQUAL, CARD_LETTER | number, yes="ioctl fits") for number in CARD_CALLS]
    lowest_half = Instruction(bpf.AND, 0xFFFF)
    load = Instruction(bpf.LOAD_WORD, low)
    return [load, *exact, lowest_half, *front, _refuse(errno.EPERM), Label("ioctl fits"), _allow()]


def _mmap_rule() -> Program:
    low, _ = bpf.argument_offsets(3)
    # Shared anonymous pages and stacks that grow escape RLIMIT_DATA; huge pages escape the memory cgroup.
    return [
        Instruction(bpf.LOAD_WORD, low),
        Instruction(bpf.JUMP_ANY_BIT, MAP_GROWSDOWN_OR_HUGE, yes="mmap refused"),
        Instruction(bpf.JUMP_ANY_BIT, MAP_SHARED_BIT, no="mmap fits"),
        Instruction(bpf.JUMP_ANY_BIT, MAP_ANONYMOUS, no="mmap fits"),
        Label("mmap refused"),
        _refuse(errno.EPERM),
        Label("mmap fits"),
        _allow(),
    ]


def _clone_rule() -> Program:
    low, _ = bpf.argument_offsets(0)
    return [
        Instruction(bpf.LOAD_WORD, low),
        Instruction(bpf.JUMP_ANY_BIT, CLONE_NEW_ANY, yes="clone refused"),
        Instruction(bpf.JUMP_ANY_BIT, CLONE_THREAD, yes="clone fits"),
        Label("clone refused"),
        _refuse(errno.EPERM),
        Label("clone fits"),
        _allow(),
    ]


def _futex_rule() -> Program:
    """Allows private futexes only: a futex on a page of a file that two runs map would connect the runs.

    libstdc++ and pthread_join use shared futexes between threads. A wait on one is answered as if the value had
    changed, so the thread checks again. No thread ever sleeps on a shared futex, so a wake truthfully reports 0.
    """
    low, _ = bpf.argument_offsets(1)
    checks: Program = [
        Instruction(bpf.LOAD_WORD, low),
        Instruction(bpf.JUMP_ANY_BIT, FUTEX_PRIVATE, yes="futex fits"),
    ]
    checks += [Instruction(bpf.JUMP_EQUAL, value, yes="futex waits") for value in FUTEX_WAITS]
    checks += [Instruction(bpf.JUMP_EQUAL, value, yes="futex wakes") for value in FUTEX_WAKES]
    return [
        *checks,
        _refuse(errno.EPERM),
        Label("futex waits"),
        _refuse(errno.EAGAIN),
        Label("futex wakes"),
        _refuse(0),
        Label("futex fits"),
        _allow(),
    ]


def _clock_rule(name: str) -> Program:
    low, _ = bpf.argument_offsets(0)
    return [
        Instruction(bpf.LOAD_WORD, low),
        Instruction(bpf.JUMP_GREATER_OR_EQUAL, FIRST_FOREIGN_CLOCK, no=f"{name} fits"),
        _refuse(errno.EPERM),
        Label(f"{name} fits"),
        _allow(),
    ]


def _only_asking(own: tuple[int, ...]) -> Program:
    process, _ = bpf.argument_offsets(0)
    new_low, new_high = bpf.argument_offsets(2)
    return [
        Instruction(bpf.LOAD_WORD, process),
        *(Instruction(bpf.JUMP_EQUAL, number, yes="prlimit64 own") for number in own),
        _refuse(errno.EPERM),
        Label("prlimit64 own"),
        Instruction(bpf.LOAD_WORD, new_low),
        Instruction(bpf.JUMP_EQUAL, 0, no="prlimit64 refused"),
        Instruction(bpf.LOAD_WORD, new_high),
        Instruction(bpf.JUMP_EQUAL, 0, yes="prlimit64 fits"),
        Label("prlimit64 refused"),
        _refuse(errno.EPERM),
        Label("prlimit64 fits"),
        _allow(),
    ]


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def install_filter(code: bytes) -> None:
    """Confine this thread; this cannot be undone. Raises OSError unless no_new_privs is set."""
    program = _Program(len(code) // 8, code)
    kernel.call("seccomp", kernel.SYS_SECCOMP, SET_MODE_FILTER, 0, ctypes.byref(program))
