"""The glossary: every term of the course with its definition, and the places that use it."""

from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from app.course.blocks import Html
from app.course.model import Course, Term
from app.web.page import Frame, Place
from app.web.visit import VisitNow, find_chapter, place_of

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class TermView:
    """`uses` are places in chapters, one a chapter: the first there."""

    anchor: str
    name: str
    html: Html
    uses: tuple[Place, ...]


@dataclass(frozen=True)
class GlossaryPage:
    template: ClassVar[str] = "glossary.html"
    frame: Frame
    terms: tuple[TermView, ...]


@router.api_route("/glossary", methods=["GET", "HEAD"])
async def glossary_page(visit: VisitNow) -> Response:
    course = visit.site.course
    if not course.glossary:
        raise HTTPException(404, "This course has no glossary.")
    frame = await visit.frame("Glossary", "The words of the course, and where they are used.")
    return visit.site.renderer.page(GlossaryPage(frame, tuple(_show_term(course, term) for term in course.glossary)))


def _show_term(course: Course, term: Term) -> TermView:
    first: dict[str, str] = {}
    for slug, anchor in term.uses:
        first.setdefault(slug, anchor)
    found = [(find_chapter(course, slug), anchor) for slug, anchor in first.items()]
    places = tuple(place_of(chapter, anchor) for chapter, anchor in found if chapter is not None)
    return TermView(term.id, term.name, term.html, places)
