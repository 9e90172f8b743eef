"""The ledger of claims: every sentence of the course that code proves, with when and where it last held."""

from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response

from app.course.blocks import Claim
from app.course.standing import Standing
from app.course.walk import blocks_of
from app.web.blocks import ClaimView
from app.web.merging import Reader, merge_claim
from app.web.page import Frame, Place
from app.web.visit import VisitNow, place_of

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class ClaimGroup:
    chapter: Place
    claims: tuple[ClaimView, ...]


@dataclass(frozen=True)
class ClaimsPage:
    """How many claims stand how: `elsewhere` held on a GPU machine, `older` on another torch, `waiting` never ran."""

    template: ClassVar[str] = "claims.html"
    frame: Frame
    groups: tuple[ClaimGroup, ...]
    held: int
    broken: int
    elsewhere: int
    older: int
    waiting: int
    torch: str


@router.api_route("/claims", methods=["GET", "HEAD"])
async def claims_page(visit: VisitNow) -> Response:
    course = visit.site.course
    torch = await visit.site.torch.version(course.torch)
    readers = [Reader(course, chapter, torch=torch) for chapter in course.chapters]
    groups = tuple(ClaimGroup(place_of(reader.chapter), _claims_of(reader)) for reader in readers)
    counts = Counter(claim.standing for group in groups for claim in group.claims)
    page = ClaimsPage(
        frame=await visit.frame("Claims", "Every sentence of the course that code proves, with its evidence."),
        groups=tuple(group for group in groups if group.claims),
        held=counts[Standing.HELD],
        broken=counts[Standing.BROKEN],
        elsewhere=counts[Standing.OTHER_DEVICE],
        older=counts[Standing.OTHER_VERSION],
        waiting=counts[Standing.WAITING],
        torch=torch,
    )
    return visit.site.renderer.page(page)


def _claims_of(reader: Reader) -> tuple[ClaimView, ...]:
    chapter = reader.chapter
    return tuple(
        merge_claim(claim, reader, f"claim_{chapter.slug}_{claim.id}") for claim in blocks_of(Claim, chapter.blocks)
    )
