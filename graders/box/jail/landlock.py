"""Landlock: which files a process may touch, as a layer that does not rely on how the root was built."""

import ctypes
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from graders.box.jail import kernel

WRITE_FILE: Final = 1 << 1
READ_FILE: Final = 1 << 2
READ_DIR: Final = 1 << 3
REMOVE_DIR: Final = 1 << 4
REMOVE_FILE: Final = 1 << 5
MAKE_DIR: Final = 1 << 7
MAKE_REGULAR: Final = 1 << 8
MAKE_SYMLINK: Final = 1 << 12
REFER: Final = 1 << 13
TRUNCATE: Final = 1 << 14
IOCTL_DEV: Final = 1 << 15

READ: Final = READ_FILE | READ_DIR
SCRATCH: Final = (
    READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REGULAR | MAKE_SYMLINK | REFER | TRUNCATE
)

# How many file rights each version of the interface knows (index = version).
RIGHTS_OF_VERSION: Final = (0, 13, 14, 15, 15, 16)
NET_VERSION: Final = 4
SCOPE_VERSION: Final = 6
NET_BIND_AND_CONNECT: Final = 3
SCOPE_SIGNALS_AND_ABSTRACT_SOCKETS: Final = 3

VERSION_FLAG: Final = 1
RULE_PATH_BENEATH: Final = 1


@dataclass(frozen=True)
class Grant:
    """The rights at a path and beneath it."""

    path: str
    rights: int


def grant_reading(path: str) -> Grant:
    """Grants listing for folders only, because the kernel refuses that right for a file."""
    return Grant(path, READ if Path(path).is_dir() else READ_FILE)


def find_version() -> int:
    """The kernel's Landlock version, 0 where it has none."""
    try:
        return kernel.call("landlock version", kernel.SYS_LANDLOCK_CREATE, ctypes.c_void_p(None), 0, VERSION_FLAG)
    except OSError:
        return 0


def restrict(version: int, grants: list[Grant]) -> None:
    """Allow this thread the grants and no other files; this cannot be undone.

    Raises OSError unless no_new_privs is set, and if a granted path does not exist.
    """
    handled = (1 << RIGHTS_OF_VERSION[min(version, 5)]) - 1
    fields = [handled]
    if version >= NET_VERSION:
        fields.append(NET_BIND_AND_CONNECT)
    if version >= SCOPE_VERSION:
        fields.append(SCOPE_SIGNALS_AND_ABSTRACT_SOCKETS)
    attributes = struct.pack(f"<{len(fields)}Q", *fields)
    ruleset = kernel.call(
        "landlock_create_ruleset", kernel.SYS_LANDLOCK_CREATE, ctypes.c_char_p(attributes), len(attributes), 0
    )
    for grant in grants:
        _add(ruleset, grant, handled)
    kernel.call("landlock_restrict_self", kernel.SYS_LANDLOCK_RESTRICT, ruleset, 0)
    os.close(ruleset)


def _add(ruleset: int, grant: Grant, handled: int) -> None:
    descriptor = os.open(grant.path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("<Qi", grant.rights & handled, descriptor)
        kernel.call(
            f"landlock_add_rule {grant.path}",
            kernel.SYS_LANDLOCK_ADD,
            ruleset,
            RULE_PATH_BENEATH,
            ctypes.c_char_p(rule),
            0,
        )
    finally:
        os.close(descriptor)
