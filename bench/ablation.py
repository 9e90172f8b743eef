"""What each layer of the box stops by itself: every attack, against a box with only that layer.

The product has no switch for a layer. Here a line in front of the mother's program disables one. Everything runs in
this bench's own namespaces, which end with it, so that a successful attack reaches nothing. Needs root.
"""

import contextlib
import os
import platform
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "graders" / "box")]

from outer_namespaces import COVERED, cover_writable_places, run_apart  # noqa: E402

from graders.attacks.cells import run_to_end  # noqa: E402
from graders.attacks.corpus import ESCAPED, BoxAttack, read_box_attacks  # noqa: E402
from graders.box import cgroups, mothers  # noqa: E402
from graders.box.interface import BoxFault, Profile  # noqa: E402
from graders.box.interpreter import python_command  # noqa: E402
from graders.box.jail import privileges  # noqa: E402
from graders.box.slot import Slot, open_box  # noqa: E402
from graders.contract.jobs import Flavour  # noqa: E402

NO_LANDLOCK: Final = "from graders.box.jail import landlock; landlock.restrict = lambda version, grants: None\n"
NO_SECCOMP: Final = "from graders.box.jail import seccomp; seccomp.install_filter = lambda code: None\n"


@dataclass(frozen=True)
class Arrangement:
    """The active layers. A separate user without capabilities, and resource limits, are always active."""

    name: str
    profile: Profile
    blunted: str = ""
    has_cgroups: bool = False


ARRANGEMENTS: Final = (
    Arrangement("user and resource limits alone", Profile.P3, NO_LANDLOCK + NO_SECCOMP),
    Arrangement("and Landlock", Profile.P3, NO_SECCOMP),
    Arrangement("and namespaces with its own root", Profile.P1, NO_LANDLOCK + NO_SECCOMP),
    Arrangement("and seccomp", Profile.P3, NO_LANDLOCK),
    Arrangement("and Landlock and seccomp (P3)", Profile.P3),
    Arrangement("all (P1)", Profile.P1, has_cgroups=True),
)


def main() -> int:
    if os.geteuid() != 0:
        sys.exit("this bench takes layers away, and needs root to do that where nothing can be harmed")
    if any(Path(place) in ROOT.parents for place in COVERED):
        sys.exit(f"this bench covers {', '.join(COVERED)}: run it from a copy of the repository that lies elsewhere")
    return run_apart(lambda: measure(read_box_attacks()))


def measure(attacks: Sequence[BoxAttack]) -> None:
    print(f"{len(attacks)} attacks, Linux {platform.release()}, {time.strftime('%Y-%m-%d')}")
    print("| layers | got through | which |")
    print("|---|---|---|")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        for arrangement in ARRANGEMENTS:
            with opened(arrangement) as slot:
                if run_to_end(slot, "print('control')", Flavour.TORCH).outcome != "ok":
                    raise SystemExit(f"an ordinary program does not run with these layers: {arrangement.name}")
                through = [attack.id for attack in attacks if gets_through(slot, attack, port)]
            print(f"| {arrangement.name} | {len(through)} | {' '.join(through)} |", flush=True)


@contextlib.contextmanager
def opened(arrangement: Arrangement) -> Iterator[Slot]:
    """A slot whose zygotes, and those that replace them, descend from a mother with these layers blunted."""
    cover_writable_places()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mothers, "python_command", lambda code: python_command(arrangement.blunted + code))
        if not arrangement.has_cgroups:
            patch.setattr(cgroups, "find_hierarchies", lambda name: ())
        slot = open_box((Flavour.TORCH,), profile=arrangement.profile)
        try:
            yield slot
        finally:
            slot.close()


def gets_through(slot: Slot, attack: BoxAttack, port: int) -> bool:
    """Whether the attack reports success, ends differently from what it should, or breaks the box."""
    try:
        ending = run_to_end(slot, attack.write_program(port), Flavour.TORCH)
    except BoxFault as fault:
        print(f"{attack.id} broke the box: {fault}", file=sys.stderr, flush=True)
        return True
    finally:
        end_strays(slot.uid)
    return ESCAPED in ending.printed or ending.outcome not in attack.allowed


def end_strays(uid: int) -> None:
    """Kills what an attack forked, which outlives it without a pid namespace. No other process has this user."""
    pid = os.fork()
    if pid == 0:
        try:
            privileges.become(uid, uid)
            os.kill(-1, signal.SIGKILL)  # all at once: killed one by one, a fork bomb would grow again
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


if __name__ == "__main__":
    sys.exit(main())
