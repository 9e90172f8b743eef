"""The status of a claim today, from its evidence and the installed version of torch. Pure."""

import re
from enum import StrEnum

from app.course.blocks import Claim
from app.course.model import Evidence

TORCH, NUMPY = re.compile(r"\btorch\b"), re.compile(r"\bnumpy\b")


class ClaimStatus(StrEnum):
    """Pages show only `held` as true."""

    HELD = "held"
    """It held on the installed version of torch."""
    OTHER_VERSION = "other-version"
    """It held on another version of torch and has not been run on this one."""
    OTHER_DEVICE = "other-device"
    """It needs what the box here lacks, and held where that is; the evidence kept is that of the last such run."""
    BROKEN = "broken"
    WAITING = "waiting"
    """Its present code has never been run."""


def find_status(claim: Claim, evidence: Evidence | None, torch: str) -> ClaimStatus:
    """`torch` is the installed version. A build's suffix, such as +cpu, is ignored."""
    if evidence is None:
        return ClaimStatus.WAITING
    if not evidence.held:
        return ClaimStatus.BROKEN
    if claim.needs != "cpu":
        return ClaimStatus.OTHER_DEVICE
    if not uses_torch(claim):
        return ClaimStatus.HELD
    return ClaimStatus.HELD if read_release(evidence.torch) == read_release(torch) else ClaimStatus.OTHER_VERSION


def uses_torch(claim: Claim) -> bool:
    """Whether the version of torch can matter to a claim."""
    return bool(TORCH.search(claim.code))


def name_surroundings(claim: Claim, evidence: Evidence) -> str:
    """What a claim's code ran on, as far as it can matter: a version of torch, or of Python."""
    if uses_torch(claim):
        return f"torch {evidence.torch}"
    return f"Python {evidence.python}{' with numpy' if NUMPY.search(claim.code) else ''}"


def read_release(version: str) -> str:
    """2.13.0 for 2.13.0+cpu."""
    return version.partition("+")[0]
