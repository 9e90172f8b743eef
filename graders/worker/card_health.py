"""Whether the card computes rightly and forgets: our own program, run in the box as a learner's would be."""

import json
import logging
import threading
from dataclasses import dataclass
from typing import Final

from graders.box.interface import Box, BoxFault
from graders.contract.jobs import Device, Flavour, RunJob
from graders.contract.limits import Limits
from graders.contract.results import Outcome
from graders.judging.run_job import run_cell

LIMITS: Final = Limits(cpu_seconds=20.0, wall_seconds=40.0, memory_mib=1024, card_mib=4096)

PROGRAM: Final = """
import json, torch
facts = {"torch": torch.__version__, "cuda": torch.version.cuda or ""}
if torch.version.cuda:
    free, total = torch.cuda.mem_get_info()
    # Memory that nobody has written to in this process: what is in it, an earlier one left.
    fresh = torch.empty(min(1 << 30, free // 2) // 8, dtype=torch.int64, device="cuda")
    facts["stale"] = int(torch.count_nonzero(fresh))
    del fresh
    grid = torch.arange(256.0).reshape(16, 16) % 7
    facts["right"] = bool(torch.equal((grid.cuda() @ grid.cuda()).cpu(), grid @ grid))
    facts["name"], facts["memory_mib"] = torch.cuda.get_device_name(), total >> 20
    facts["cards"] = torch.cuda.device_count()
print(json.dumps(facts))
"""

log = logging.getLogger(__name__)


class CardUnfit(Exception):
    """The card must not get another job. The message says what it did, and the remedy."""


@dataclass(frozen=True)
class CardFacts:
    """What a sound card said of itself; `memory_mib` is all of its memory."""

    name: str
    memory_mib: int


def examine_card(box: Box) -> CardFacts:
    """Run the program on the box's card. Raises CardUnfit."""
    job = RunJob(source=PROGRAM, flavour=Flavour.TORCH, device=Device.GPU, want_trace=False, limits=LIMITS)
    try:
        end = run_cell(job, box, lambda kind, body: None, threading.Event())
    except BoxFault as fault:
        raise CardUnfit(f"CUDA does not start in the box: {fault}. {REMEDY}") from fault
    if end.outcome is not Outcome.OK:
        said = f"{end.mistake.type}: {end.mistake.message}" if end.mistake else end.outcome.value
        raise CardUnfit(f"the card's own check ended with {said}. {REMEDY}")
    return read_facts(end.stdout)


def read_facts(printed: str) -> CardFacts:
    """What the program printed. Raises CardUnfit if the card is not as it must be."""
    facts = json.loads(printed)
    if not facts["cuda"]:
        raise CardUnfit(
            f"torch {facts['torch']} is a build without CUDA; install another with `make serve TORCH=cuda`"
        )
    if facts["stale"]:
        raise CardUnfit(f"new memory of the card held {facts['stale']} numbers that an earlier run left. {REMEDY}")
    if not facts["right"]:
        raise CardUnfit(f"the card multiplied two small matrices wrongly. {REMEDY}")
    if facts["cards"] != 1:
        raise CardUnfit(f"a run sees {facts['cards']} cards and must see one; set UNWIND_CARD to the card's number")
    return CardFacts(facts["name"], facts["memory_mib"])


REMEDY: Final = (
    "Look for Xid in the kernel's log; reset the card with `nvidia-smi --gpu-reset`, or restart the machine, "
    "and start the grader again"
)
