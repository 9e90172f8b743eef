"""User, group, capabilities and resource limits: what the zygote drops once, and what each child drops for good."""

import contextlib
import ctypes
import os
import resource
import signal
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from graders.box.jail import kernel
from graders.box.jail.orders import ForkOrder

CAPABILITY_VERSION: Final = 0x20080522
CAP_DAC_OVERRIDE, CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_SETPCAP, CAP_SYS_ADMIN = 1, 5, 6, 7, 8, 21
ZYGOTE_KEEPS: Final = (CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_SETPCAP, CAP_SYS_ADMIN)
# The zygotes forked from the mother build their roots from files that may be in folders closed to other users.
MOTHER_KEEPS: Final = (CAP_DAC_OVERRIDE, *ZYGOTE_KEEPS)
LAST_POSSIBLE: Final = 63

MIB: Final = 1 << 20
# Room for one reservation of the allocator and for files that are mapped late. Programs with torch and numpy, within
# limits of 64 and 512 MiB, ended the same with 0 MiB of slack as with 1024. All of it can become memory: where the
# address space is used up, the kernel lets mprotect make pages writable that RLIMIT_DATA would refuse.
ADDRESS_SLACK_BYTES: Final = 64 * MIB
OPEN_FILES: Final = 128
# A card's driver reserves address space of the size of its memory, and maps private memory that it hardly touches.
CARD_DATA_BYTES: Final = 16 << 30


def enter_user_namespace(uid: int, gid: int) -> None:
    """Become the only user of a new user namespace, mapped to itself: it is root neither inside nor outside."""
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
    """Change from root to an ordinary user; this cannot be undone."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def find_bounding_set() -> tuple[int, ...]:
    """The capabilities that this process could still gain."""
    held = []
    for capability in range(LAST_POSSIBLE + 1):
        try:
            if kernel.control("prctl bounding set", kernel.PR_CAPBSET_READ, capability):
                held.append(capability)
        except OSError:
            break  # beyond the last capability that this kernel knows
    return tuple(held)


def keep_capabilities(kept: tuple[int, ...], bounding_set: tuple[int, ...]) -> None:
    """Keep these capabilities and no others, and remove the others from the bounding set as far as allowed."""
    drop_from_bounding_set([capability for capability in bounding_set if capability not in kept])
    hold_capabilities(kept)


def drop_from_bounding_set(capabilities: Iterable[int]) -> None:
    for capability in capabilities:
        # Without CAP_SETPCAP the set stays, which is harmless: the child may not exec and has no_new_privs.
        with contextlib.suppress(PermissionError):
            kernel.control("prctl drop capability", kernel.PR_CAPBSET_DROP, capability)


def hold_capabilities(held: tuple[int, ...]) -> None:
    kernel.control("prctl ambient", kernel.PR_CAP_AMBIENT, kernel.PR_CAP_AMBIENT_CLEAR_ALL)
    mask = sum(1 << capability for capability in held)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    header = struct.pack("<Ii", CAPABILITY_VERSION, 0)
    data = struct.pack("<6I", low, low, 0, high, high, 0)
    kernel.call("capset", kernel.SYS_CAPSET, ctypes.c_char_p(header), ctypes.c_char_p(data))


def give_up_privileges(uid: int, gid: int, changes_user: bool, bounding_set: tuple[int, ...]) -> None:
    """Make the child an ordinary user without capabilities, for good. Raises PermissionError if it is still root."""
    # The whole set, while CAP_SETPCAP still allows it.
    drop_from_bounding_set(bounding_set)
    hold_capabilities((CAP_SETGID, CAP_SETUID) if changes_user else ())
    if changes_user:
        become(uid, gid)
    hold_capabilities(())
    if 0 in (os.getuid(), os.geteuid(), os.getgid()):
        raise PermissionError("learner code must not run as root")
    kernel.control("prctl dumpable", kernel.PR_SET_DUMPABLE, 0)
    # The child dies with its zygote. Set after the change of user, which clears this setting.
    kernel.control("prctl parent death", kernel.PR_SET_PDEATHSIG, signal.SIGKILL)
    kernel.control("prctl no_new_privs", kernel.PR_SET_NO_NEW_PRIVS, 1)


def set_resource_limits(order: ForkOrder, data_bytes: int, address_bytes: int, stack_bytes: int) -> None:
    """Set every soft limit and its hard limit to one value. `data_bytes`, `address_bytes`: the zygote's own sizes.

    RLIMIT_DATA is a sixteenth below the cgroup's limit, so that Python raises a MemoryError with a line number
    before the kernel kills. `stack_bytes` is the driver's own big stack, which counts as data when it is mapped.
    With a card the address space has no limit, and the launcher or the memory cgroup alone limits memory.
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
    if order.card_bytes:
        limits[resource.RLIMIT_AS] = resource.RLIM_INFINITY
        limits[resource.RLIMIT_DATA] += CARD_DATA_BYTES
    if order.process_limit:
        limits[resource.RLIMIT_NPROC] = order.process_limit
    for kind, value in limits.items():
        ceiling = resource.getrlimit(kind)[1]
        value = value if ceiling == resource.RLIM_INFINITY else ceiling if value < 0 else min(value, ceiling)
        resource.setrlimit(kind, (value, value))
