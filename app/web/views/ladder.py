"""The data of the template for a chapter's maturity ladder."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class RungView:
    """One rung of a chapter's maturity ladder. `detail` is a sentence on what is done and what is missing."""

    name: str
    reached: bool
    done: int
    total: int
    detail: str


@dataclass(frozen=True)
class LadderView:
    """The maturity ladder of a chapter for this learner. `dates` says when its questions come back; may be empty."""

    template: ClassVar[str] = "ladder"
    rungs: tuple[RungView, ...]
    dates: str = ""
