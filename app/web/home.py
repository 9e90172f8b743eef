"""The home page: one screen that says what this is, lets you run something, and starts the course."""

from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response

from app.web.blocks import CellView
from app.web.page import Frame, Place
from app.web.visit import VisitNow, place_of

router = APIRouter(include_in_schema=False)

SOURCE = """\
import torch

x = torch.tensor(2.0, requires_grad=True)
y = x * x + x
y.backward()
print(x.grad)
"""
"""Small enough to read at a glance, and x is used three times: its gradient is a sum."""

CELL = CellView.of_no_chapter("home", SOURCE, expected="tensor(5.)\n")


@dataclass(frozen=True)
class HomePage:
    """`start` is the first chapter, or None while the course has none; frame.learner.resume is where they left."""

    template: ClassVar[str] = "home.html"
    frame: Frame
    tagline: str
    cell: CellView
    start: Place | None
    chapters_written: int
    chapters_total: int
    exercises_total: int
    claims_held: int
    """How many of the course's sentences are proven by code on the torch named here."""
    torch: str


@router.api_route("/", methods=["GET", "HEAD"])
async def home_page(visit: VisitNow) -> Response:
    course = visit.site.course
    page = HomePage(
        frame=await visit.frame(course.title, course.tagline),
        tagline=course.tagline,
        cell=CELL,
        start=place_of(course.chapters[0]) if course.chapters else None,
        chapters_written=len(course.chapters),
        chapters_total=course.chapter_total,
        exercises_total=len(course.exercises),
        claims_held=sum(evidence.held for evidence in course.evidence.values()),
        torch=course.torch,
    )
    return visit.site.renderer.page(page)
