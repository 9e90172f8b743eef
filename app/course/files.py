"""Says which of a course's files may be read: plain ones, of a text's size, that lie in the course itself."""

import stat
from pathlib import Path

MAX_BYTES = 8 << 20


def may_be_read(path: Path, root: Path) -> bool:
    """Not a pipe, which would keep its reader waiting; not a device, which never ends; no way out of the course."""
    try:
        facts = path.stat()
        inside = not path.is_symlink() or path.resolve().is_relative_to(root.resolve())
    except OSError:
        return False
    return inside and stat.S_ISREG(facts.st_mode) and facts.st_size <= MAX_BYTES
