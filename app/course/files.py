"""Decides which of a course's files may be read: regular files within the course that are small enough to be text."""

import stat
from pathlib import Path

MAX_BYTES = 8 << 20


def may_be_read(path: Path, root: Path) -> bool:
    """Refuses a pipe, which could block its reader, a device, which may never end, and a link out of the course."""
    try:
        facts = path.stat()
        inside = not path.is_symlink() or path.resolve().is_relative_to(root.resolve())
    except OSError:
        return False
    return inside and stat.S_ISREG(facts.st_mode) and facts.st_size <= MAX_BYTES
