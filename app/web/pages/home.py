"""The home page: one screen that says what this is, lets you run something, and starts the course."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from app.course.model import Course, Start
from app.drawing.tasks import DrawPicture
from app.web.edge.compressed import send_json
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.site import Site
from app.web.views.blocks import CellView
from app.web.views.tapes import ask_played, complete_graph

router = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/api/home", tags=["graphs"])

SOURCE = """\
import torch

x = torch.tensor(2.0, requires_grad=True)
y = x * x + x
y.backward()
print(x.grad)
"""
"""A program small enough to read at a glance. It uses x three times, so the gradient of x is a sum."""

CELL = CellView.of_no_chapter("home", SOURCE, expected="tensor(5.)\n")

PICTURE = "home-picture"
TRACE = Path(__file__).with_name("home_trace.json")
"""A recorded run of the program, so that the page shows its graph before anything runs; a test records it again."""


@dataclass(frozen=True)
class HomePage:
    """`starts` says where to begin, the usual way first; frame.learner.resume is where a reader left off."""

    template: ClassVar[str] = "home.html"
    frame: Frame
    tagline: str
    lead: str
    cell: CellView | None
    """Only in a course with the player, because it shows a graph of torch's."""
    starts: tuple[Start, ...]
    chapters_written: int
    chapters_total: int
    exercises_total: int
    claims_held: int
    """How many of the course's sentences are proven by code on the torch named here."""
    torch: str


@router.api_route("/", methods=["GET", "HEAD"])
async def home_page(context: RequestContextDep) -> Response:
    course = context.course
    page = HomePage(
        frame=await context.frame(course.title, course.tagline),
        tagline=course.tagline,
        lead=course.lead,
        cell=await _show_cell(context.site) if "play" in course.pages else None,
        starts=find_ways_in(course),
        chapters_written=len(course.numbered_chapters),
        chapters_total=course.chapter_total,
        exercises_total=len(course.exercises),
        claims_held=sum(evidence.held for evidence in course.evidence.values()),
        torch=course.torch,
    )
    return context.site.renderer.page(page)


def find_ways_in(course: Course) -> tuple[Start, ...]:
    """Where the course says that readers begin, or its first chapter; empty if nothing is written."""
    if course.starts or not course.numbered_chapters:
        return course.starts
    first = course.numbered_chapters[0]
    return (Start("", "", f"/chapters/{first.slug}", f"{first.number} {first.title}"),)


async def _show_cell(site: Site) -> CellView:
    picture = await site.figures.kept(TRACE, DrawPicture(source=SOURCE, id_prefix=PICTURE))
    if picture is None:
        return CELL
    return replace(CELL, picture=picture.svg, picture_text=picture.text, tape_href="/api/home/tape")


@api.get("/tape")
async def home_tape(context: RequestContextDep) -> Response:
    """The home page's graph with its tape, for stepping; nothing runs."""
    await context.count(Act.DRAW)
    played = await context.site.figures.kept_played(TRACE, ask_played(SOURCE, PICTURE, context.course))
    if played is None:
        raise HTTPException(404, "There is no graph to draw.")
    # A graph this small has no folds to open.
    return await send_json(context.request, complete_graph(played, "").encode(), kept=True)
