"""What is kept about a reader, who sees it, for how long; and the operator's own terms."""

from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response

from app.access.session_limits import ANONYMOUS, LEARNERS, STAFF
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContextDep

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class PrivacyPage:
    template: ClassVar[str] = "privacy.html"
    frame: Frame
    terms: tuple[str, ...]
    anonymous_days: int
    learner_days: int
    staff_hours: int
    audit_days: int
    section_months: int
    """0: never."""


@router.api_route("/privacy", methods=["GET", "HEAD"])
async def privacy_page(context: RequestContextDep) -> Response:
    page = PrivacyPage(
        frame=await context.frame("Privacy", "What is kept about you, who sees it, and for how long."),
        terms=context.site.terms.paragraphs if context.site.terms else (),
        anonymous_days=ANONYMOUS.idle.days,
        learner_days=LEARNERS.idle.days,
        audit_days=context.site.settings.audit_days,
        section_months=context.site.settings.section_months,
        staff_hours=int(STAFF.idle.total_seconds() // 3600),
    )
    return context.site.renderer.page(page)
