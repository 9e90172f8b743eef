"""Tries one attack on a box, without judging it: whether it held, escaped or could not be run, and why."""

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from graders.attacks.cells import Ending, run_to_end
from graders.attacks.corpus import ESCAPED, BoxAttack, Recorded
from graders.box.interface import BoxFault
from graders.box.slot import Slot
from graders.contract.jobs import Flavour

LOOK: Final = """
import builtins, os, random, sys
assert not hasattr(builtins, "PWNED"), "patched"
try:
    own = {path.split("/")[2] for path in sys.path if path.startswith("/tmp/")}
    assert set(os.listdir("/tmp")) <= own, "files"
except PermissionError:
    pass
"""
COMPUTE: Final = """
import torch
assert not hasattr(torch, "PWNED"), "patched"
x = torch.ones(3, requires_grad=True)
(x * 2).sum().backward()
assert x.grad.tolist() == [2.0, 2.0, 2.0], "torch"
"""
CLEAN: Final = "print('clean')"
NO_TORCH: Final = "torch is not installed here"
TOO_BUSY: Final = "the machine was too busy to run it to its end"


class Result(StrEnum):
    HELD = "held"
    ESCAPED = "escaped"
    FORGED = "forged"
    """A submission passed without a right answer."""
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Attempted:
    """`reason` is a sentence: how the program ended, what it reached, or why it was not run."""

    attack: Recorded
    result: Result
    reason: str


@contextlib.contextmanager
def open_port() -> Iterator[int | None]:
    """A port of this host that answers, which the network's attacks try to reach; None if there is none."""
    try:
        server = socket.create_server(("127.0.0.1", 0))
        port: int = server.getsockname()[1]
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        yield None
        return
    with server:
        yield port


def try_attack(slot: Slot, attack: BoxAttack, port: int | None) -> Attempted:
    """Run it, then an honest program in the same slot, which must find nothing of it."""
    flavour = Flavour.TORCH if Flavour.TORCH in slot.flavours else Flavour.PLAIN
    if attack.needs_torch and flavour is Flavour.PLAIN:
        return Attempted(attack, Result.NOT_RUN, NO_TORCH)
    if attack.needs_port and port is None:
        return Attempted(attack, Result.NOT_RUN, "no port of this host could be opened for it to reach")
    device = Path("/dev/null").stat().st_mode
    try:
        ending = run_to_end(slot, attack.write_program(port), flavour)
    except BoxFault as fault:
        return Attempted(attack, Result.ESCAPED, f"it broke the box: {fault}")
    if reached := _find_escape(attack, ending):
        return Attempted(attack, Result.ESCAPED, reached)
    if Path("/dev/null").stat().st_mode != device:
        return Attempted(attack, Result.ESCAPED, "it changed /dev/null of the host")
    if trace := find_trace(slot, flavour):
        return Attempted(attack, Result.ESCAPED, f"the next run was not clean: {trace}")
    if ending.outcome not in attack.allowed:
        return Attempted(attack, Result.NOT_RUN, TOO_BUSY)
    return Attempted(attack, Result.HELD, f"it ended as {ending.outcome}, and the next run was clean")


def _find_escape(attack: BoxAttack, ending: Ending) -> str:
    if ESCAPED in ending.printed:
        return f"it printed: {ending.printed.strip()[:200]}"
    if ending.outcome in attack.allowed or ending.exit.machine_was_busy:
        return ""
    return f"it ended as {ending.outcome}, where only these are right: {', '.join(sorted(attack.allowed))}"


def find_trace(slot: Slot, flavour: Flavour) -> str:
    """What an earlier run left for the next one, in words; empty if nothing."""
    source = LOOK + (COMPUTE if flavour is Flavour.TORCH else "") + CLEAN
    try:
        ending = run_to_end(slot, source, flavour)
    except BoxFault as fault:
        return str(fault)
    if ending.printed == "clean\n":
        return ""
    return f"{ending.outcome} {ending.exit.stderr.decode(errors='replace')[-200:]}".strip()
