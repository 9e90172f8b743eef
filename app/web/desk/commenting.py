"""Writing, changing and deleting a comment on a submission. Each is its writer's, and each act is in the audit."""

from typing import Annotated

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.storage.comments import MAX_OF_ONE_SUBMISSION, NewComment
from app.web.desk.handed_in import Found, RefusedComment, need_handed_in, show_handed_in
from app.web.edge.identity import RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of
from app.web.views.comments import MAX_CHARACTERS

router = APIRouter(include_in_schema=False)

MAX_NUMBER = 2**31 - 1
"""The database's largest number of a comment."""
NOT_YOURS = "There is no such comment of yours here."


@router.post("/desk/{section}/submissions/{submission}/comments")
async def comment(
    context: RequestContextDep,
    section: str,
    submission: str,
    text: Annotated[str, Form()] = "",
    line: Annotated[str, Form(max_length=20)] = "",
) -> Response:
    found, text = await need_handed_in(context, section, submission), text.strip()
    await context.count_kept(Act.COMMENT, text)
    problem = _find_problem(found, text, line.strip())
    if not problem:
        new = NewComment(found.submission.id, found.job.exercise, int(line) if line.strip() else None, text)
        if await context.site.store.comments.add(found.section, found.learner, new, actor_of(context)):
            return RedirectResponse(f"/desk/{section}/submissions/{submission}#comments", 303)
        problem = f"This submission has {MAX_OF_ONE_SUBMISSION} comments, and that is as many as it may have."
    return await show_handed_in(context, found, refused=RefusedComment(text, line, problem))


@router.post("/desk/{section}/submissions/{submission}/comments/{number}")
async def edit(
    context: RequestContextDep, section: str, submission: str, number: int, text: Annotated[str, Form()] = ""
) -> Response:
    found, text = await need_handed_in(context, section, submission), text.strip()
    await context.count_kept(Act.COMMENT, text)
    if problem := _find_problem(found, text, ""):
        return await show_handed_in(context, found, refused=RefusedComment("", "", problem))
    comments = context.site.store.comments
    if not await comments.edit(found.section, found.submission.id, _check(number), text, actor_of(context)):
        raise HTTPException(404, NOT_YOURS)
    return RedirectResponse(f"/desk/{section}/submissions/{submission}#comment-{number}", 303)


@router.post("/desk/{section}/submissions/{submission}/comments/{number}/delete")
async def delete(context: RequestContextDep, section: str, submission: str, number: int) -> Response:
    found = await need_handed_in(context, section, submission)
    await context.count(Act.COMMENT)
    comments = context.site.store.comments
    if not await comments.delete(found.section, found.submission.id, _check(number), actor_of(context)):
        raise HTTPException(404, NOT_YOURS)
    return RedirectResponse(f"/desk/{section}/submissions/{submission}#comments", 303)


def _check(number: int) -> int:
    if not 0 < number <= MAX_NUMBER:
        raise HTTPException(404, NOT_YOURS)
    return number


def _find_problem(found: Found, text: str, line: str) -> str:
    """What keeps the comment from being stored, as a sentence; empty if nothing does."""
    if not text:
        return "The comment is empty; write what its reader should know."
    if len(text) > MAX_CHARACTERS:
        return f"The comment has {len(text)} characters; say it in at most {MAX_CHARACTERS}."
    last = found.job.source.rstrip("\n").count("\n") + 1
    if line and not (line.isascii() and line.isdigit() and len(line) < 10 and 1 <= int(line) <= last):
        return (
            f"This submission has no line “{line}”; its lines are 1 to {last}. Leave the field empty for the whole."
        )
    return ""
