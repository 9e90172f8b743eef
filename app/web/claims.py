"""The ledger of claims: every sentence of the course that code proves, with when and where it last held."""

from dataclasses import dataclass
from typing import ClassVar

from app.web.blocks import ClaimView
from app.web.page import Frame, Place


@dataclass(frozen=True)
class ClaimGroup:
    chapter: Place
    claims: tuple[ClaimView, ...]


@dataclass(frozen=True)
class ClaimsPage:
    """`waiting` counts the claims with no evidence yet, those that need other hardware included."""

    template: ClassVar = "claims.html"
    frame: Frame
    groups: tuple[ClaimGroup, ...]
    held: int
    broken: int
    waiting: int
    torch: str
