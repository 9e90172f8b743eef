"""The ledger of claims: every sentence of the course that code proves, with when and where it last held."""

from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response

from app.course.model import Chapter, Claim, Course
from app.web.blocks import ClaimView
from app.web.merging import merge_claim, walk_blocks
from app.web.page import Frame, Place
from app.web.visit import VisitNow, place_of

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class ClaimGroup:
    chapter: Place
    claims: tuple[ClaimView, ...]


@dataclass(frozen=True)
class ClaimsPage:
    """`waiting` counts the claims with no evidence yet, those that need other hardware included."""

    template: ClassVar[str] = "claims.html"
    frame: Frame
    groups: tuple[ClaimGroup, ...]
    held: int
    broken: int
    waiting: int
    torch: str


@router.api_route("/claims", methods=["GET", "HEAD"])
async def claims_page(visit: VisitNow) -> Response:
    course = visit.site.course
    groups = tuple(ClaimGroup(place_of(chapter), _claims_of(course, chapter)) for chapter in course.chapters)
    evidence = [claim.evidence for group in groups for claim in group.claims]
    page = ClaimsPage(
        frame=await visit.frame("Claims", "Every sentence of the course that code proves, with its evidence."),
        groups=tuple(group for group in groups if group.claims),
        held=sum(found is not None and found.held for found in evidence),
        broken=sum(found is not None and not found.held for found in evidence),
        waiting=sum(found is None for found in evidence),
        torch=course.torch,
    )
    return visit.site.renderer.page(page)


def _claims_of(course: Course, chapter: Chapter) -> tuple[ClaimView, ...]:
    blocks = walk_blocks(chapter.blocks)
    found = (block for block in blocks if isinstance(block, Claim))
    return tuple(merge_claim(block, course, chapter, f"claim_{chapter.slug}_{block.id}") for block in found)
