"""How a claim stands today, told from its evidence and from the torch that runs here. Pure."""

from enum import StrEnum

from app.course.blocks import Claim
from app.course.model import Evidence


class Standing(StrEnum):
    """Only `held` is shown as true."""

    HELD = "held"
    """It held on the version of torch that runs here."""
    OTHER_VERSION = "other-version"
    """It held on another version of torch, and nobody has run it on this one."""
    OTHER_DEVICE = "other-device"
    """It needs a GPU, and held on a machine that has one; what is kept is the last such machine's evidence."""
    BROKEN = "broken"
    WAITING = "waiting"
    """It was never run as it stands."""


def stand(claim: Claim, evidence: Evidence | None, torch: str) -> Standing:
    """`torch` is the version that runs here. A build's suffix, such as +cpu, is no other version."""
    if evidence is None:
        return Standing.WAITING
    if not evidence.held:
        return Standing.BROKEN
    if claim.needs == "gpu":
        return Standing.OTHER_DEVICE
    return Standing.HELD if _release(evidence.torch) == _release(torch) else Standing.OTHER_VERSION


def _release(version: str) -> str:
    return version.partition("+")[0]
