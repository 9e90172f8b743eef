"""A slot for the whole session, and a way to run a cell in it and see how that ended."""

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from graders.box.errand import Cause, Errand, Exit, Profile
from graders.box.profiles import probe_profile
from graders.box.slot import Slot, open_box
from graders.contract.jobs import Flavour
from graders.contract.limits import Limits

DOCUMENT_BYTES = 256 * 1024
TEST_LIMITS = Limits(cpu_seconds=1, wall_seconds=2, memory_mib=512, output_kib=64, disk_mib=16)
SIGSYS = 31


@dataclass(frozen=True)
class Ending:
    """How a cell ended: the box's facts, and what the process said of itself."""

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


def make_errand(source: str, flavour: Flavour, limits: Limits, **more: Any) -> Errand:
    caps = {"document_bytes": DOCUMENT_BYTES}
    payload = json.dumps({"source": source, "setup": "", "want_trace": False, "caps": caps}).encode()
    return Errand(flavour, "cell", payload, limits, **more)


RunCell = Callable[..., Ending]


@pytest.fixture(scope="session")
def profile() -> Profile:
    """The best profile of this machine, or no stronger than UNWIND_PROFILE."""
    wished = os.environ.get("UNWIND_PROFILE")
    return probe_profile(Profile(wished) if wished else None)


@pytest.fixture(scope="session")
def box(profile: Profile) -> Iterator[Slot]:
    slot = open_box(profile=profile)
    yield slot
    slot.close()


@pytest.fixture
def run_cell(box: Slot) -> RunCell:
    def run(source: str, flavour: Flavour = Flavour.PLAIN, limits: Limits = TEST_LIMITS, **more: Any) -> Ending:
        running = box.start(make_errand(source, flavour, limits, **more))
        try:
            document = running.receive_at_most(DOCUMENT_BYTES)
            ending = running.wait()
        finally:
            running.stop()
        try:
            return Ending(ending, json.loads(document))
        except ValueError:
            return Ending(ending, None)

    return run
