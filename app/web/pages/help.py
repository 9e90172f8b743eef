"""The help page: the keys, the limits, the data kept about a reader, and the meaning of each colour."""

from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response

from app.learning.ladder import Rung
from app.learning.review import CARDS_A_DAY, MAX_DAYS, NEW_A_DAY, list_usual_days
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContextDep
from app.web.pages.exercise import LimitRow, show_limits
from graders.contract.limits import CELL_LIMITS

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class KeyRow:
    keys: str
    does: str


@dataclass(frozen=True)
class RungRow:
    name: str
    meaning: str


@dataclass(frozen=True)
class HelpPage:
    template: ClassVar[str] = "help.html"
    frame: Frame
    keys: tuple[KeyRow, ...]
    rungs: tuple[RungRow, ...]
    cell_limits: tuple[LimitRow, ...]
    review: tuple[RungRow, ...]


KEYS = (
    KeyRow("Ctrl or ⌘ + Enter", "run the cell; in an exercise, its public checks"),
    KeyRow("Shift + Enter", "run the cell, and go on to the next"),
    KeyRow("Ctrl or ⌘ + Shift + Enter", "in an exercise: submit"),
    KeyRow("Tab", "in the editor: leave it; once you have typed, indent"),
    KeyRow("Esc, then Tab", "leave the editor"),
    KeyRow("← and →", "previous and next chapter"),
    KeyRow("← →, Home, End, Space", "in a tape: one step, first, last, play"),
    KeyRow("1 to 9, Enter", "in review: choose an answer, send it, go on"),
    KeyRow("/", "search the course"),
    KeyRow("↑ and ↓", "on a block's mark “Note it, or report a mistake”: the mark of another block"),
    KeyRow("?", "these keys"),
)

USUAL_DAYS = ", ".join(map(str, list_usual_days(3)))
REVIEW = (
    RungRow("Right", f"the question comes back later each time: after some {USUAL_DAYS} days, at most {MAX_DAYS}"),
    RungRow("Right, and you called it a guess", "it comes back sooner"),
    RungRow("Wrong, or “I don’t know”", "it is asked again at the end, as practice, and comes back tomorrow"),
    RungRow("How sure you are", "is never graded; your progress page shows what your words were worth"),
    RungRow("One day", f"asks at most {CARDS_A_DAY} questions, {NEW_A_DAY} of them for the first time; others wait"),
)
"""What becomes of an answer in review; a name and what it means, as for a rung."""

RUNGS = tuple(RungRow(rung.value, rung.meaning) for rung in Rung)


@router.api_route("/help", methods=["GET", "HEAD"])
async def help_page(context: RequestContextDep) -> Response:
    frame = await context.frame("Help", "The keys, the limits, what the colours mean, and what is kept about you.")
    return context.site.renderer.page(HelpPage(frame, KEYS, RUNGS, show_limits(CELL_LIMITS), REVIEW))
