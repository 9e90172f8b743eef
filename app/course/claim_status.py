"""The status of a claim today, from its evidence and the torch that runs here. Pure."""

from enum import StrEnum

from app.course.blocks import Claim
from app.course.model import Evidence


class ClaimStatus(StrEnum):
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


def find_status(claim: Claim, evidence: Evidence | None, torch: str) -> ClaimStatus:
    """`torch` is the version that runs here. A build's suffix, such as +cpu, is no other version."""
    if evidence is None:
        return ClaimStatus.WAITING
    if not evidence.held:
        return ClaimStatus.BROKEN
    if claim.needs == "gpu":
        return ClaimStatus.OTHER_DEVICE
    return ClaimStatus.HELD if _release(evidence.torch) == _release(torch) else ClaimStatus.OTHER_VERSION


def _release(version: str) -> str:
    return version.partition("+")[0]
