"""A learner's grades in each of their sections, each with the reason why it is what it is."""

from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response

from app.web.edge.assigned import find_all_assigned, find_regraded
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContextDep
from app.web.views.grade_table import GradeTable, show_grades
from app.web.views.regraded import RegradedRow, show_regraded

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class GradesPage:
    template: ClassVar[str] = "grades.html"
    frame: Frame
    sections: tuple[GradeTable, ...]
    regraded: tuple[RegradedRow, ...]
    """Submissions that were judged again."""


@router.api_route("/me/grades", methods=["GET", "HEAD"])
async def my_grades(context: RequestContextDep) -> Response:
    assigned = await find_all_assigned(context)
    page = GradesPage(
        frame=await context.frame("Your grades", "What your sections assign, and what you have earned."),
        sections=tuple(
            show_grades(
                context.course,
                one.title,
                one.policy,
                one.assignments,
                one.work,
                one.account,
                now=context.now,
                own_zone=one.own_zone,
            )
            for one in assigned
        ),
        regraded=show_regraded(await find_regraded(context)),
    )
    return context.site.renderer.page(page)
