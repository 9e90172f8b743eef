"""What the self-test tries inside a box, and outside it as a control. Sent as text, so it imports only the stdlib."""

import contextlib
import ctypes
import errno
import importlib
import json
import os
import resource
import socket
import struct
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long

DENIED = (errno.EPERM, errno.EACCES)
ABSENT = (*DENIED, errno.ENOENT, errno.EROFS)


@dataclass(frozen=True)
class Attempt:
    """`act` succeeds if it returns, is refused if it raises OSError with an errno of `refusals`, else is broken.

    `why_no_control` says why the attempt is not made outside the box; "" if it is.
    """

    name: str
    act: Callable[[], object]
    """A text that it returns says what succeeded."""
    refusals: tuple[int, ...] = DENIED
    why_no_control: str = ""


def call(number: int, *arguments: object) -> int:
    wide = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = int(LIBC.syscall(ctypes.c_long(number), *wide))
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(1)


def call_and_leave(number: int, *arguments: object) -> None:
    """For calls that create a process: the new process exits at once, and must not run the code after this call."""
    reap(call(number, *arguments))


def reap(made: int) -> None:
    """End a new process: exit in it, wait for it in its parent. The attempt succeeded even if waiting is refused."""
    if made == 0:
        os._exit(0)
    with contextlib.suppress(OSError):
        os.waitpid(made, 0)


def link_out() -> bytes:
    place = Path(os.environ.get("TMPDIR", "."), f"link-{os.getpid()}")
    place.symlink_to("/etc/passwd")
    try:
        return read(str(place))
    finally:
        place.unlink()


def spawn() -> None:
    reap(os.posix_spawn("/usr/bin/env", ["env"], {}, file_actions=[(os.POSIX_SPAWN_CLOSE, 1)]))


def execute() -> None:
    """On success the new program replaces this one, so it prints the line that reports the success."""
    sys.stdout.flush()
    line = json.dumps({"name": EXECUTE, "state": "succeeded", "words": "it succeeded"})
    os.execve("/usr/bin/env", ["env", "printf", r"%s\n", line], {"PATH": "/usr/bin:/bin"})


def raise_limit() -> None:
    # A raw system call, because Python's own check would refuse before it asks the kernel.
    call(302, 0, resource.RLIMIT_NOFILE, ctypes.c_char_p(struct.pack("<2Q", 64, 64)), ctypes.c_void_p(None))


def open_socket(family: int, kind: int) -> None:
    socket.socket(family, kind).close()


def pair_sockets() -> None:
    for end in socket.socketpair():
        end.close()


def wait_with_others() -> None:
    """Wait on a futex that could be shared with other processes."""
    moment = struct.pack("<2q", 0, 1000)
    with contextlib.suppress(TimeoutError):
        call(202, BYTES, 0, 0, ctypes.c_char_p(moment))


def read_own_page(number: int, *arguments: int) -> None:
    """A call upon a page of this process's memory."""
    call(number, (ctypes.addressof(PAGES) + 4095) & ~4095, 4096, *arguments)


def rename_between_folders() -> None:
    Path(OPEN, "to-rename").rename(Path(OPEN, "folder", "renamed"))


def forget_file() -> None:
    with open(os.__file__, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def lock_file() -> None:
    import fcntl  # noqa: PLC0415 - at the top of this file, a refusal would break every attempt

    with open(os.__file__, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)


def count_open_files() -> None:
    """Succeeds if a descriptor above 3 is open: it would have leaked in, because only 0 to 3 are ours."""
    for descriptor in range(4, 1024):
        try:
            os.fstat(descriptor)
        except OSError:
            continue
        return
    raise PermissionError(errno.EPERM, "nothing beyond 3 is open")


def be_somebody() -> None:
    """Succeeds for root, for root's group, and for a process that holds a capability or may still gain one."""
    header, data = struct.pack("<Ii", 0x20080522, 0), ctypes.create_string_buffer(24)
    call(125, ctypes.c_char_p(header), data)
    effective = struct.unpack("<6I", data.raw)
    if 0 in (os.getuid(), os.geteuid(), os.getgid()) or any(effective) or LIBC.prctl(39, 0, 0, 0, 0) != 1:
        return
    raise PermissionError(errno.EPERM, f"user {os.getuid()} without capabilities")


def make_every_other_call() -> str:
    """All calls that no list allows, with -1 for every argument, which asks nothing of a call that is let through."""
    through = []
    for number in range(LAST_CALL + 1):
        if number not in (*ALLOWED, *UNFILTERED):
            ctypes.set_errno(0)
            result = LIBC.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6)
            if result == 0 and number in MAKE_PROCESSES:
                os._exit(0)
            if ctypes.get_errno() != errno.EPERM:
                through.append(number)
    if through:
        return f"let through: {', '.join(map(str, through))}"
    raise PermissionError(errno.EPERM, f"{LAST_CALL + 1 - len(ALLOWED) - len(UNFILTERED)} calls")


def see_environment() -> None:
    if set(os.environ) - {"HOME", "PATH", "LANG", "LC_CTYPE", "TMPDIR"}:
        return
    raise PermissionError(errno.EPERM, "only harmless variables")


def import_judge() -> None:
    try:
        importlib.import_module("graders.trusted")
    except ImportError as error:
        raise PermissionError(errno.EACCES, str(error)) from None


EXECUTE = "execute a program"
LAST_CALL = 511
# uretprobe and uprobe: since Linux 6.12 no filter sees them, and a program that calls them itself gets SIGILL.
UNFILTERED = (335, 336)
MAKE_PROCESSES = (56, 57, 58, 435)
ALLOWED: Sequence[int] = ()
"""The launcher sets the numbers that the box allows, with some arguments at least."""
HELD = b"held"
HARMS = "it would change this machine"
BYTES = ctypes.create_string_buffer(256)
PAGES = ctypes.create_string_buffer(8192)
OPEN = "/nowhere"
"""The launcher sets a folder of the host that every user may change, with something in it for each attempt."""
OPEN_FILES = ("to-read", "to-write", "to-remove", "to-rename")
OPEN_FOLDERS = ("folder", "folder-to-remove")
TIMER_ABSTIME, NOWHERE = 1, ctypes.c_void_p(None)
LONG_AGO = ctypes.c_char_p(struct.pack("<2q", 0, 1))
# See clock_getcpuclockid(3): of process 2.
OTHER_CLOCK = (~2 << 3) | 2

ATTEMPTS = (
    Attempt("read /etc/passwd", lambda: read("/etc/passwd"), ABSENT),
    Attempt("read /proc/self/environ", lambda: read("/proc/self/environ"), ABSENT),
    Attempt("read a disk", lambda: read("/dev/vda"), ABSENT),
    Attempt("open a card that it did not ask for", lambda: read("/dev/nvidiactl"), ABSENT),
    Attempt("list the root folder", lambda: list(Path("/").iterdir())),
    Attempt("list /sys", lambda: list(Path("/sys").iterdir()), ABSENT),
    Attempt("write to the standard library", lambda: open(os.__file__, "r+b").close(), ABSENT),
    Attempt("read a file that every user may read", lambda: read(f"{OPEN}/to-read"), ABSENT),
    Attempt("list a folder that every user may list", lambda: list(Path(OPEN).iterdir()), ABSENT),
    Attempt("write to a file that every user may write to", lambda: open(f"{OPEN}/to-write", "r+b").close(), ABSENT),
    Attempt("create a file where every user may", lambda: open(f"{OPEN}/file", "x").close(), ABSENT),
    Attempt("create a folder where every user may", lambda: Path(OPEN, "made").mkdir(), ABSENT),
    Attempt("create a symbolic link where every user may", lambda: Path(OPEN, "link").symlink_to("/"), ABSENT),
    Attempt("remove a file that every user may remove", lambda: Path(OPEN, "to-remove").unlink(), ABSENT),
    Attempt("remove a folder that every user may remove", lambda: Path(OPEN, "folder-to-remove").rmdir(), ABSENT),
    Attempt("rename a file between folders of every user", rename_between_folders, (*ABSENT, errno.EXDEV)),
    Attempt("write to the kernel's random numbers", lambda: open("/dev/urandom", "wb").close()),
    Attempt("create a file in the root folder", lambda: open("/planted", "x").close(), ABSENT, HARMS),
    Attempt("follow a symbolic link out of the scratch folder", link_out, ABSENT),
    Attempt("hard-link a file", lambda: os.link(os.__file__, "hard"), ABSENT, HARMS),
    Attempt("change the mode of a device", lambda: Path("/dev/null").chmod(0), ABSENT, HARMS),
    Attempt("change the times of a file", lambda: os.utime(os.__file__), ABSENT, HARMS),
    Attempt("truncate a file by its path", lambda: call(76, ctypes.c_char_p(b"/nothing/here"), 0)),
    Attempt("take a file from the machine's page cache", forget_file),
    Attempt("open a file by handle", lambda: call(304, -100, ctypes.c_void_p(None), 0)),
    Attempt("lock a shared file", lock_file),
    Attempt("import the judge", import_judge, DENIED),
    Attempt("fork", lambda: reap(os.fork())),
    Attempt("vfork", lambda: call_and_leave(58), DENIED, "a vfork from Python would corrupt its parent"),
    Attempt("clone a process", lambda: call_and_leave(56, 17, 0, 0, 0, 0)),
    Attempt("clone3", lambda: call(435, BYTES, 8), (errno.ENOSYS,)),
    Attempt("start a program in a new process", spawn),
    Attempt("signal every process", lambda: os.kill(-1, 0)),
    Attempt("open a handle on a process", lambda: os.close(call(434, os.getpid(), 0))),
    Attempt("ask for a process's group", lambda: call(121, 2)),
    Attempt("ask for a process's session", lambda: call(124, 2)),
    Attempt("ask for a process's priority", lambda: call(140, 0, 2)),
    Attempt("ask for a process's scheduling parameters", lambda: call(143, 2, BYTES)),
    Attempt("ask how a process is scheduled", lambda: call(145, 2)),
    Attempt("ask for a process's processors", lambda: call(204, 2, 128, BYTES)),
    Attempt("ask for a process's limits", lambda: call(302, 2, 7, 0, BYTES)),
    Attempt("read a process's clock", lambda: call(228, OTHER_CLOCK, BYTES)),
    Attempt("ask how exact a process's clock is", lambda: call(229, OTHER_CLOCK, BYTES)),
    Attempt(
        "sleep by a process's clock", lambda: call(230, OTHER_CLOCK, TIMER_ABSTIME, LONG_AGO, ctypes.c_void_p(None))
    ),
    Attempt("signal a thread of a process", lambda: call(234, 2, 2, 0)),
    Attempt("page out memory", lambda: read_own_page(28, 20)),
    Attempt("put input into a terminal", lambda: call(16, 1, 0x5412, BYTES)),
    Attempt("change how much a pipe holds", lambda: call(72, 1, 1031, 4096)),
    Attempt("let others look into this process", lambda: call(157, 4, 1, 0, 0, 0)),
    Attempt("wait with other processes", wait_with_others, (errno.EAGAIN,)),
    Attempt("trace a process", lambda: call(101, 0, 0, 0, 0)),
    Attempt("read another process's memory", lambda: call(310, os.getpid(), 0, 0, 0, 0, 0)),
    Attempt("become root", lambda: os.setuid(0)),
    Attempt("be root, or have capabilities", be_somebody),
    Attempt("set a resource limit", raise_limit),
    Attempt("gain priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, -5)),
    Attempt("open an internet socket", lambda: open_socket(socket.AF_INET, socket.SOCK_STREAM)),
    Attempt("open a local socket", lambda: open_socket(socket.AF_UNIX, socket.SOCK_STREAM)),
    Attempt("open a netlink socket", lambda: open_socket(socket.AF_NETLINK, socket.SOCK_RAW)),
    Attempt("make a pair of sockets", pair_sockets),
    Attempt("enter a new user namespace", lambda: call(272, 0x10000000)),
    Attempt("mount a file system", lambda: call(165, b"x", b"/tmp", b"tmpfs", 0, b""), DENIED, HARMS),
    Attempt("change the root folder", lambda: call(161, ctypes.c_char_p(b"/"))),
    Attempt("load a BPF program", lambda: call(321, 0, BYTES, 0)),
    Attempt("set up io_uring", lambda: os.close(call(425, 1, BYTES))),
    Attempt("handle page faults", lambda: os.close(call(323, 1))),
    Attempt("use a keyring", lambda: call(250, 0, -3, 1)),
    Attempt("make a file in memory", lambda: os.close(call(319, ctypes.c_char_p(b"x"), 0))),
    Attempt("map shared anonymous memory", lambda: call(9, 0, 4096, 3, 0x21, -1, 0)),
    Attempt("map a stack that grows", lambda: call(9, 0, 4096, 3, 0x122, -1, 0)),
    Attempt("make a System V segment", lambda: call(29, 0, 4096, 0o600), DENIED, HARMS),
    Attempt("turn off address randomisation", lambda: call(135, 0x0040000)),
    Attempt("find a leaked descriptor", count_open_files, DENIED, "an ordinary process may have any files open"),
    Attempt("find a secret in the environment", see_environment),
    Attempt("make any call that is on no list", make_every_other_call, DENIED, HARMS),
    Attempt(EXECUTE, execute),
)


def judge(attempt: Attempt) -> dict[str, object]:
    """{"name", "state": "succeeded", "refused" or "broken", "words": what happened}."""
    try:
        said = attempt.act()
    except OSError as error:
        state = "refused" if error.errno in attempt.refusals else "broken"
        return {"name": attempt.name, "state": state, "words": f"{errno.errorcode.get(error.errno or 0)}: {error}"}
    except Exception as error:  # noqa: BLE001 - a probe that breaks must not look like one that was refused
        return {"name": attempt.name, "state": "broken", "words": f"{type(error).__name__}: {error}"}
    return {"name": attempt.name, "state": "succeeded", "words": said if isinstance(said, str) else "it succeeded"}


def report_inside() -> None:
    for attempt in ATTEMPTS:
        sys.stdout.write(json.dumps(judge(attempt)) + "\n")


def hold() -> None:
    """Wait, as this process is, until the launcher has looked at it."""
    sys.stdout.flush()
    os.write(3, HELD)
    os.read(0, 1)


def report_outside() -> None:
    """Makes each attempt in its own process, because some of them change the process."""
    for attempt in ATTEMPTS:
        if attempt.why_no_control:
            line = {"name": attempt.name, "state": "omitted", "words": attempt.why_no_control}
            sys.stdout.write(json.dumps(line) + "\n")
            continue
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            sys.stdout.write(json.dumps(judge(attempt)) + "\n")
            sys.stdout.flush()
            os._exit(0)
        os.waitpid(pid, 0)
