"""What the staff of one's sections wrote about one's submissions, the newest first."""

from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response

from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContextDep
from app.web.views.comments import CommentView, show_comments

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class MyCommentRow:
    title: str
    href: str
    comment: CommentView


@dataclass(frozen=True)
class MyCommentsPage:
    template: ClassVar[str] = "my_comments.html"
    frame: Frame
    rows: tuple[MyCommentRow, ...]


@router.api_route("/me/comments", methods=["GET", "HEAD"])
async def my_comments(context: RequestContextDep) -> Response:
    """A comment stays new until its submission's page has been opened."""
    learner, course = context.learner, context.course
    found = await context.site.store.comments.of_learner(learner) if learner else ()
    rows = [
        MyCommentRow(
            title=course.exercises[one.exercise].manifest.title,
            href=f"/exercises/{one.exercise}/submissions/{one.submission}#comment-{one.number}",
            comment=show_comments((one,), "")[0],
        )
        for one in sorted(found, key=lambda one: one.number, reverse=True)
        if one.exercise in course.exercises
    ]
    frame = await context.frame("Comments", "What the staff of your sections wrote about your submissions.")
    return context.site.renderer.page(MyCommentsPage(frame, tuple(rows)))
