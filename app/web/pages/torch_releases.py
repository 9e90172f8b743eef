"""What changed in torch: the claims whose truth depends on the release, from runs on each."""

from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from app.course.blocks import Html
from app.course.model import Course
from app.course.release_changes import Changed, compare_releases, list_claims, list_releases
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContextDep
from app.web.edge.links import link_to

router = APIRouter(include_in_schema=False)

TITLE = "What changed in torch"


@dataclass(frozen=True)
class ReleaseView:
    """`ran_on` is empty for the course's own release, whose evidence stands beside each claim."""

    release: str
    build: str
    ran_on: str
    held: int
    failed: int


@dataclass(frozen=True)
class ChangeView:
    """`results` are in the order of the releases: whether it held, None where it did not run."""

    place: Link
    sentence: Html
    results: tuple[tuple[str, bool | None], ...]
    messages: tuple[tuple[str, str], ...]
    """Each error with the releases that raised it."""


@dataclass(frozen=True)
class ReleasesPage:
    template: ClassVar[str] = "torch_releases.html"
    frame: Frame
    releases: tuple[ReleaseView, ...]
    changes: tuple[ChangeView, ...]
    claims: int
    not_run: tuple[tuple[str, str], ...]


@router.api_route("/course/torch", methods=["GET", "HEAD"])
async def releases_page(context: RequestContextDep) -> Response:
    course = context.course
    if not course.releases.runs:
        raise HTTPException(404, "The claims of this course were run on one release of torch alone.")
    page = ReleasesPage(
        frame=await context.frame(TITLE, "The claims whose truth depends on the release of torch."),
        releases=tuple(_show_release(course, release) for release in list_releases(course)),
        changes=tuple(_show_change(change) for change in compare_releases(course)),
        claims=len(list_claims(course)),
        not_run=tuple(sorted(course.releases.not_run.items())),
    )
    return context.site.renderer.page(page)


def _show_release(course: Course, release: str) -> ReleaseView:
    run = course.releases.runs.get(release)
    if run is None:
        known = [course.evidence[name] for name in list_claims(course) if name in course.evidence]
        held = sum(evidence.held for evidence in known)
        return ReleaseView(release, release, "", held, len(known) - held)
    failed = sum(bool(result.message) for result in run.claims.values())
    return ReleaseView(release, run.build, run.ran_on, len(run.claims) - failed, failed)


def _show_change(change: Changed) -> ChangeView:
    messages: dict[str, list[str]] = {}
    for release, message in change.results.items():
        if message:
            messages.setdefault(message, []).append(release)
    return ChangeView(
        link_to(change.chapter, change.claim.id),
        change.claim.sentence,
        tuple((release, None if message is None else not message) for release, message in change.results.items()),
        tuple((", ".join(releases), message) for message, releases in messages.items()),
    )
