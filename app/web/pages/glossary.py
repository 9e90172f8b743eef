"""The glossary: every term of the course with its definition, and the places that use it."""

from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from app.course.blocks import Html
from app.course.model import Course, Term
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContextDep
from app.web.edge.links import link_to

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class TermView:
    """`uses` lead to the chapters that use the term, to the first place in each."""

    anchor: str
    name: str
    html: Html
    uses: tuple[Link, ...]


@dataclass(frozen=True)
class GlossaryPage:
    template: ClassVar[str] = "glossary.html"
    frame: Frame
    terms: tuple[TermView, ...]


@router.api_route("/glossary", methods=["GET", "HEAD"])
async def glossary_page(context: RequestContextDep) -> Response:
    course = context.course
    if not course.glossary:
        raise HTTPException(404, "This course has no glossary.")
    frame = await context.frame("Glossary", "The words of the course, and where they are used.")
    return context.site.renderer.page(
        GlossaryPage(frame, tuple(_show_term(course, term) for term in course.glossary))
    )


def _show_term(course: Course, term: Term) -> TermView:
    written = course.index.by_slug
    uses = tuple(link_to(written[slug], anchor) for slug, anchor in term.uses if slug in written)
    return TermView(term.id, term.name, term.html, uses)
