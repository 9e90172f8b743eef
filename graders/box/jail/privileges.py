"""User, group, capabilities: what the zygote gives up once, and what every child gives up for good."""

import contextlib
import ctypes
import os
import resource
import signal
import struct
from pathlib import Path
from typing import Final

from graders.box.jail import kernel
from graders.box.jail.orders import ForkOrder

CAPABILITY_VERSION: Final = 0x20080522
CAP_DAC_OVERRIDE, CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_SETPCAP, CAP_SYS_ADMIN = 1, 5, 6, 7, 8, 21
ZYGOTE_KEEPS: Final = (CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_SETPCAP, CAP_SYS_ADMIN)
# Her forks build their roots, of files that may lie where only their owner may look.
MOTHER_KEEPS: Final = (CAP_DAC_OVERRIDE, *ZYGOTE_KEEPS)
LAST_POSSIBLE: Final = 63

MIB: Final = 1 << 20
ADDRESS_SLACK_BYTES: Final = 1024 * MIB
OPEN_FILES: Final = 128


def enter_user_namespace(uid: int, gid: int) -> None:
    """Become, without root, the one user of a new user namespace, mapped to itself: never to 0 on either side."""
    if os.geteuid() == 0:
        become(uid, gid)
        # After a change of user /proc/self belongs to root until the process is dumpable again.
        kernel.control("prctl dumpable", kernel.PR_SET_DUMPABLE, 1)
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0:
        raise PermissionError("a user namespace of one user must not map the host's root")
    kernel.unshare(kernel.CLONE_NEWUSER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


def become(uid: int, gid: int) -> None:
    """Change from root to an ordinary user, with no way back."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def find_bounding_set() -> tuple[int, ...]:
    """The capabilities that this process could still come to hold."""
    held = []
    for capability in range(LAST_POSSIBLE + 1):
        try:
            if kernel.control("prctl bounding set", kernel.PR_CAPBSET_READ, capability):
                held.append(capability)
        except OSError:
            break  # beyond the last capability that this kernel knows
    return tuple(held)


def keep_capabilities(kept: tuple[int, ...], bounding_set: tuple[int, ...]) -> None:
    """Hold these capabilities and no others, and forbid that any other ever comes back."""
    for capability in bounding_set:
        if capability not in kept:
            # Without CAP_SETPCAP the set stays, and is worth nothing under no_new_privs without exec.
            with contextlib.suppress(PermissionError):
                kernel.control("prctl drop capability", kernel.PR_CAPBSET_DROP, capability)
    kernel.control("prctl ambient", kernel.PR_CAP_AMBIENT, kernel.PR_CAP_AMBIENT_CLEAR_ALL)
    mask = sum(1 << capability for capability in kept)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    header = struct.pack("<Ii", CAPABILITY_VERSION, 0)
    data = struct.pack("<6I", low, low, 0, high, high, 0)
    kernel.call("capset", kernel.SYS_CAPSET, ctypes.c_char_p(header), ctypes.c_char_p(data))


def give_up_privileges(uid: int, gid: int, changes_user: bool, bounding_set: tuple[int, ...]) -> None:
    """The child's last words as anyone: afterwards it is an ordinary user without capabilities, for good."""
    keep_capabilities((CAP_SETGID, CAP_SETUID, CAP_SETPCAP) if changes_user else (), bounding_set)
    if changes_user:
        become(uid, gid)
    keep_capabilities((), ())
    if 0 in (os.getuid(), os.geteuid(), os.getgid()):
        raise PermissionError("learner code must not run as root")
    kernel.control("prctl dumpable", kernel.PR_SET_DUMPABLE, 0)
    # After the change of user, which clears it: whoever kills the zygote kills the child.
    kernel.control("prctl parent death", kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.control("prctl no_new_privs", kernel.PR_SET_NO_NEW_PRIVS, 1)


def set_resource_limits(order: ForkOrder, data_bytes: int, address_bytes: int, stack_bytes: int) -> None:
    """Set every limit soft = hard. `data_bytes`, `address_bytes`: what the zygote had before the fork.

    RLIMIT_DATA lies a sixteenth below the cgroup's limit, so that Python sees a MemoryError with a line number
    before the kernel kills. `stack_bytes` is the driver's own big stack, which counts as data when it is mapped.
    """
    own = order.memory_bytes - max(order.memory_bytes // 16, 4 * MIB)
    limits = {
        resource.RLIMIT_CPU: order.cpu_seconds,
        resource.RLIMIT_DATA: data_bytes + stack_bytes + own,
        resource.RLIMIT_AS: address_bytes + stack_bytes + order.memory_bytes + ADDRESS_SLACK_BYTES,
        resource.RLIMIT_FSIZE: order.disk_bytes,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_STACK: 8 * MIB,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_NICE: 0,
        resource.RLIMIT_RTPRIO: 0,
        resource.RLIMIT_SIGPENDING: 64,
    }
    if order.process_limit:
        limits[resource.RLIMIT_NPROC] = order.process_limit
    for kind, value in limits.items():
        ceiling = resource.getrlimit(kind)[1]
        value = value if ceiling == resource.RLIM_INFINITY else min(value, ceiling)
        resource.setrlimit(kind, (value, value))
