"""Tries the parts of each profile, in a separate process that ends after one attempt."""

import os
from typing import Final

from graders.box.jail import kernel, landlock, privileges, seccomp
from graders.box.jail.child import CHILD_NAMESPACES


def confine_files_and_calls(uid: int, gid: int) -> None:
    """The layers that every profile needs: Landlock and seccomp."""
    kernel.check_machine()
    if landlock.find_version() == 0:
        raise OSError("this kernel has no Landlock")
    privileges.give_up_privileges(uid, gid, os.geteuid() == 0, privileges.find_bounding_set())
    landlock.restrict(landlock.find_version(), [])
    seccomp.install_filter(seccomp.build_filter(os.getpid()))
    if _can_open("/proc/self/status"):
        raise OSError("Landlock is on, and /proc/self/status could still be read")


def _can_open(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError:
        return False
    return True


def use_root(uid: int, gid: int) -> None:
    """P1: root may make namespaces and mounts, in this machine's user namespace or a container's."""
    if os.geteuid() != 0:
        raise PermissionError("this process is not root")
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("probe", "/proc", "tmpfs", kernel.MS_NOSUID, "size=64k")
    kernel.unshare(CHILD_NAMESPACES | kernel.CLONE_NEWPID)
    kernel.detach("/proc")


def use_user_namespace(uid: int, gid: int) -> None:
    """P2: the same in a user namespace that has one user."""
    privileges.enter_user_namespace(uid, gid)
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("probe", "/dev", "tmpfs", kernel.MS_NOSUID, "size=64k")
    kernel.unshare(CHILD_NAMESPACES | kernel.CLONE_NEWPID)
    _check_python()


def read_python(uid: int, gid: int) -> None:
    """The box's user must be able to read the interpreter; it cannot if that is in root's 0700 home."""
    if os.geteuid() == 0:
        privileges.become(uid, gid)
    _check_python()


def _check_python() -> None:
    if not os.access(os.__file__, os.R_OK):
        raise PermissionError(os.__file__)


ATTEMPTS: Final = {
    attempt.__name__: attempt for attempt in (confine_files_and_calls, use_root, use_user_namespace, read_python)
}


def main(name: str, uid: int, gid: int) -> None:
    """Make one attempt. Raises what the attempt raises: the launcher reads only the exit status."""
    ATTEMPTS[name](uid, gid)
