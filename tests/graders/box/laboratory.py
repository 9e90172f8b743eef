"""Opens boxes without one of their layers, in namespaces of its own, and tells what the self-test missed.

Reads one JSON object per line ({mother, launcher, profile, slots}) and answers each with one: {"missed": [names]}, or
{"error": traceback} where the mistake is its own.
"""

import contextlib
import functools
import json
import os
import resource
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from ablations import JAIL
from outer_namespaces import cover_writable_places, run_apart

from graders.box import cgroups, mothers, self_test
from graders.box.interface import BoxFault, Profile
from graders.box.interpreter import python_command
from graders.box.jail import kernel
from graders.box.slot import Slot, open_boxes
from graders.contract.jobs import Flavour

MS_SHARED: Final = 1 << 20
GROUPS: Final = "unwind-1-laboratory"
HIGH: Final = resource.RLIM_INFINITY
RAISED: Final = {
    "CORE": HIGH, "MEMLOCK": HIGH, "MSGQUEUE": HIGH, "NICE": 40, "RTPRIO": 99, "SIGPENDING": HIGH, "NOFILE": 1 << 20,
    "STACK": HIGH, "NPROC": HIGH,
}  # fmt: skip


def main() -> int:
    return run_apart(serve)


def serve() -> None:
    """Each ablation in a fork of its own, with a mount namespace that its mistakes cannot leave."""
    self_test._run_controls = functools.cache(self_test._run_controls)
    self_test._run_controls()
    for line in sys.stdin:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            answer(json.loads(line), writing)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            said = pipe.read()
        os.waitpid(pid, 0)
        sweep_groups()
        sys.stdout.write((said or json.dumps({"error": "the fork for this ablation died"})) + "\n")
        sys.stdout.flush()


def answer(asked: dict[str, Any], pipe: int) -> None:
    try:
        kernel.unshare(kernel.CLONE_NEWNS)
        cover_writable_places()
        # What the box has to make its own is shared with others to begin with, as on most hosts.
        kernel.mount("", "/", "", kernel.MS_REC | MS_SHARED)
        raise_limits()
        os.setgroups([4, 24])
        exec(asked["launcher"], {})
        mothers.python_command = lambda code: python_command(JAIL + asked["mother"] + code)
        os.write(pipe, json.dumps({"missed": find_missed(Profile(asked["profile"]), asked["slots"])}).encode())
    except BaseException:  # noqa: BLE001 - whatever it is, the test must show it
        os.write(pipe, json.dumps({"error": traceback.format_exc()}).encode())
    finally:
        os._exit(0)


def sweep_groups() -> None:
    """Remove those of a fork that lost its view of them together with its root."""
    ours = cgroups.find_hierarchies(GROUPS)
    for hierarchy in ours:
        for leftover in hierarchy.folder.parent.glob(f"{GROUPS}*"):
            cgroups.remove_hierarchies((replace(hierarchy, folder=leftover),))


def raise_limits() -> None:
    """So that a limit which is not set does not look as if it were; as far as this root may raise it."""
    for name, high in RAISED.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        try:
            resource.setrlimit(kind, (high, high))
        except ValueError:
            resource.setrlimit(kind, (hard, hard))


def find_missed(profile: Profile, slots: int) -> list[str]:
    """The boundaries that did not hold; a box that does not open holds none."""
    # Named after a process that lives in every pid namespace: graders elsewhere sweep away the groups of dead ones.
    cgroups.name_groups = lambda serial: f"{GROUPS}{os.getpid()}-{serial:x}"
    boxes: list[Slot] = []
    try:
        boxes += open_boxes(slots, (Flavour.PLAIN,), profile)
        boundaries = self_test.run_self_test(boxes).boundaries
    except (BoxFault, OSError) as error:
        return [f"the box does not open: {error}"]
    finally:
        for box in boxes:
            with contextlib.suppress(OSError, BoxFault):
                box.close()
    return [f"{boundary.name}: {boundary.proof}" for boundary in boundaries if not boundary.held]


if __name__ == "__main__":
    sys.exit(main())
