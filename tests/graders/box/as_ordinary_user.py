"""Run a command as an ordinary user who can read Python, even where Python lies in root's home: for trying P2 and P3.

sudo python tests/graders/box/as_ordinary_user.py python -m graders self-test
"""

import os
import sys
import sysconfig
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY))

from graders.box.jail import kernel, privileges  # noqa: E402

ORDINARY_ID = 54321


def main() -> None:
    kernel.unshare(kernel.CLONE_NEWNS)
    kernel.mount("", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    reveal(Path(sysconfig.get_config_var("installed_base")))
    privileges.become(ORDINARY_ID, ORDINARY_ID)
    kernel.control("prctl dumpable", kernel.PR_SET_DUMPABLE, 1)
    os.environ |= {"HOME": "/tmp", "PYTHONDONTWRITEBYTECODE": "1"}
    os.execvp(sys.argv[1], sys.argv[1:])


def reveal(prefix: Path) -> None:
    """Cover the first closed folder above `prefix` with an open one that holds `prefix` alone."""
    closed = next((folder for folder in reversed(prefix.parents) if not folder.stat().st_mode & 0o005), None)
    if closed is None:
        return
    handle = os.open(prefix, os.O_PATH)
    kernel.mount("revealed", str(closed), "tmpfs", kernel.MS_NOSUID, "mode=755,size=1m")
    prefix.mkdir(parents=True, mode=0o755)
    kernel.mount(f"/proc/self/fd/{handle}", str(prefix), "", kernel.MS_BIND | kernel.MS_REC)
    os.close(handle)


if __name__ == "__main__":
    main()
