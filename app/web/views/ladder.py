"""The maturity ladder of a chapter, as its template sees it."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class RungView:
    """One rung of a chapter's maturity ladder. `detail` says what is done and what is missing, in words."""

    name: str
    reached: bool
    done: int
    total: int
    detail: str


@dataclass(frozen=True)
class LadderView:
    """The maturity ladder of a chapter for this learner."""

    template: ClassVar[str] = "ladder"
    rungs: tuple[RungView, ...]
