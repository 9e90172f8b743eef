"""Runs one program as a free cell and reports how it ended: the box's facts, and what the process says of itself."""

import json
from dataclasses import dataclass
from typing import Any, Final

from graders.box.interface import BoxRequest, Cause, Driver, Exit
from graders.box.slot import Slot
from graders.contract.jobs import Flavour
from graders.contract.limits import Limits

DOCUMENT_BYTES: Final = 256 * 1024
ATTACK_LIMITS: Final = Limits(cpu_seconds=1, wall_seconds=2, memory_mib=512, output_kib=64, disk_mib=16)
SIGSYS: Final = 31


@dataclass(frozen=True)
class Ending:
    exit: Exit
    document: dict[str, Any] | None

    @property
    def printed(self) -> str:
        return self.exit.stdout.decode(errors="replace")

    @property
    def outcome(self) -> str:
        match self.exit.cause:
            case Cause.CPU_LIMIT | Cause.WALL_LIMIT:
                return "time_limit"
            case Cause.SIGNALLED:
                return "forbidden" if self.exit.signal == SIGSYS else "crashed"
            case Cause.EXITED:
                return self._said
            case cause:
                return str(cause)

    @property
    def _said(self) -> str:
        if self.document is None:
            return "no_result"
        return "ok" if self.document["ok"] else "runtime_error"


def make_request(source: str, flavour: Flavour, limits: Limits, **more: Any) -> BoxRequest:
    caps = {"document_bytes": DOCUMENT_BYTES}
    payload = json.dumps({"source": source, "setup": "", "want_trace": False, "caps": caps}).encode()
    return BoxRequest(flavour, Driver.CELL, payload, limits, **more)


def run_to_end(slot: Slot, source: str, flavour: Flavour, limits: Limits = ATTACK_LIMITS, **more: Any) -> Ending:
    """Raises BoxFault."""
    running = slot.start(make_request(source, flavour, limits, **more))
    try:
        document = running.receive_at_most(DOCUMENT_BYTES)
        ending = running.wait()
    finally:
        running.stop()
    try:
        return Ending(ending, json.loads(document))
    except ValueError:
        return Ending(ending, None)
