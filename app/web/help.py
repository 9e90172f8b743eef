"""The help page: the keys, the limits, what is kept about a reader, and what each colour means."""

from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response

from app.web.exercise import LimitRow, show_limits
from app.web.page import Frame
from app.web.visit import VisitNow
from graders.contract.limits import CELL_LIMITS

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class KeyRow:
    keys: str
    does: str


@dataclass(frozen=True)
class HelpPage:
    template: ClassVar[str] = "help.html"
    frame: Frame
    keys: tuple[KeyRow, ...]
    cell_limits: tuple[LimitRow, ...]


KEYS = (
    KeyRow("Ctrl or ⌘ + Enter", "run the cell; in an exercise, its public checks"),
    KeyRow("Shift + Enter", "run the cell, and go on to the next"),
    KeyRow("Ctrl or ⌘ + Shift + Enter", "in an exercise: submit"),
    KeyRow("Esc, then Tab", "leave the editor"),
    KeyRow("← and →", "previous and next chapter"),
    KeyRow("← →, Home, End, Space", "in a tape: one step, to its ends, play"),
    KeyRow("?", "these keys"),
)


@router.api_route("/help", methods=["GET", "HEAD"])
async def help_page(visit: VisitNow) -> Response:
    frame = await visit.frame("Help", "The keys, the limits, what the colours mean, and what is kept about you.")
    return visit.site.renderer.page(HelpPage(frame, KEYS, show_limits(CELL_LIMITS)))
