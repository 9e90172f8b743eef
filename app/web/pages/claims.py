"""The page of claims: every sentence of the course that code proves, with when and where it last held."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from fastapi import APIRouter, Query, Response
from markupsafe import Markup

from app.course.claim_status import ClaimStatus
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContextDep
from app.web.edge.links import link_to
from app.web.views.blocks import ClaimView
from app.web.views.presenting import ChapterState, present_claim

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class ClaimGroup:
    chapter: Link
    claims: tuple[ClaimView, ...]


@dataclass(frozen=True)
class ClaimsPage:
    """Claims by status: `elsewhere` held with a GPU, compiler, ranks, `older` on another torch; `waiting` never ran.

    `searched` are the words that filtered `groups`, and `found` is how many claims contain all of them.
    """

    template: ClassVar[str] = "claims.html"
    frame: Frame
    groups: tuple[ClaimGroup, ...]
    held: int
    broken: int
    elsewhere: int
    older: int
    waiting: int
    torch: str
    searched: str
    found: int


@router.api_route("/claims", methods=["GET", "HEAD"])
async def claims_page(context: RequestContextDep, q: Annotated[str, Query(max_length=100)] = "") -> Response:
    """The claims; `q` keeps those whose sentence or myth contains each of its words."""
    course = context.course
    torch = await context.site.torch.version(course.torch)
    states = [ChapterState(course, chapter, torch=torch) for chapter in course.chapters]
    groups = tuple(ClaimGroup(link_to(state.chapter), _claims_of(state)) for state in states)
    counts = Counter(claim.status for group in groups for claim in group.claims)
    searched = " ".join(q.split())
    shown = tuple(replace(group, claims=_keep(group.claims, searched)) for group in groups)
    page = ClaimsPage(
        frame=await context.frame("Claims", "Every sentence of the course that code proves, with its evidence."),
        groups=tuple(group for group in shown if group.claims),
        held=counts[ClaimStatus.HELD],
        broken=counts[ClaimStatus.BROKEN],
        elsewhere=counts[ClaimStatus.OTHER_DEVICE],
        older=counts[ClaimStatus.OTHER_VERSION],
        waiting=counts[ClaimStatus.WAITING],
        torch=torch,
        searched=searched,
        found=sum(len(group.claims) for group in shown),
    )
    return context.site.renderer.page(page)


def _keep(claims: tuple[ClaimView, ...], searched: str) -> tuple[ClaimView, ...]:
    wanted = searched.casefold().split()
    return tuple(claim for claim in claims if all(word in _words_of(claim) for word in wanted))


def _words_of(claim: ClaimView) -> str:
    return Markup(f"{claim.sentence} {claim.myth}").striptags().casefold()


def _claims_of(state: ChapterState) -> tuple[ClaimView, ...]:
    chapter = state.chapter
    return tuple(
        present_claim(claim, state, f"claim_{chapter.slug}_{name}") for name, claim in chapter.index.claims.items()
    )
