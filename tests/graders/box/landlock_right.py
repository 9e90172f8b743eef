"""Does what one Landlock right allows, without Landlock and then without that right; prints how each ended.

python tests/graders/box/landlock_right.py RIGHT FOLDER
"""

import errno
import os
import signal
import socket
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from graders.box.jail import kernel, landlock
from graders.box.jail.landlock import Grant

EVERY_RIGHT: Final = (1 << 16) - 1
Act = Callable[[Path], object]


def bind_socket(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as own:
        own.bind(str(folder / "socket"))


def listen_to_port(folder: Path) -> None:
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))


def execute(folder: Path) -> None:
    program = folder / "program"
    program.write_bytes(Path("/bin/true").read_bytes())
    program.chmod(0o755)
    os.close(os.open(program, os.O_RDONLY))
    os.execv(program, ["true"])


ACTS: Final[dict[str, tuple[int, Act]]] = {
    "execute": (0, execute),
    "write file": (1, lambda folder: open(folder / "file", "r+b").close()),
    "read file": (2, lambda folder: open(folder / "file", "rb").close()),
    "read folder": (3, lambda folder: list(folder.iterdir())),
    "remove folder": (4, lambda folder: (folder / "empty").rmdir()),
    "remove file": (5, lambda folder: (folder / "file").unlink()),
    "make character device": (6, lambda folder: os.mknod(folder / "null", stat.S_IFCHR | 0o600, os.makedev(1, 3))),
    "make folder": (7, lambda folder: (folder / "made").mkdir()),
    "make file": (8, lambda folder: open(folder / "made", "xb").close()),
    "make socket": (9, bind_socket),
    "make pipe": (10, lambda folder: os.mkfifo(folder / "pipe")),
    "make block device": (11, lambda folder: os.mknod(folder / "disk", stat.S_IFBLK | 0o600, os.makedev(7, 0))),
    "make symbolic link": (12, lambda folder: (folder / "link").symlink_to("file")),
    "refer": (13, lambda folder: (folder / "file").rename(folder / "empty" / "file")),
    "truncate": (14, lambda folder: os.truncate(folder / "file", 0)),
    "net": (16, listen_to_port),
    "scope": (16, lambda folder: os.kill(os.getppid(), 0)),
}
"""Right -> its bit, beyond all bits where it is not about files, and what it allows."""


def main() -> None:
    name, folder = sys.argv[1], Path(sys.argv[2])
    bit, act = ACTS[name]
    for has_landlock in (False, True):
        place = folder / str(has_landlock)
        (place / "empty").mkdir(parents=True)
        (place / "file").write_text("here")
        pid = os.fork()
        if pid == 0:
            os._exit(try_without(bit, act, place) if has_landlock else attempt(act, place))
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        sys.stdout.write(errno.errorcode.get(status, "done") + "\n")
        sys.stdout.flush()


def try_without(bit: int, act: Act, folder: Path) -> int:
    kernel.control("no_new_privs", kernel.PR_SET_NO_NEW_PRIVS, 1)
    landlock.restrict(landlock.find_version(), [Grant("/", EVERY_RIGHT & ~(1 << bit))])
    return attempt(act, folder)


def attempt(act: Act, folder: Path) -> int:
    try:
        act(folder)
    except OSError as error:
        return error.errno or 1
    return 0


if __name__ == "__main__":
    signal.alarm(20)
    main()
