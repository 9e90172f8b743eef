"""Drafts: the text of an editor, stored so that leaving the page never loses work."""

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from app.course.model import Course
from app.storage.draft_key import DraftKey
from app.web.edge.identity import LearnerContextDep
from app.web.edge.rates import Act
from app.web.edge.source import clean_source
from graders.contract.limits import MAX_SOURCE_BYTES

api = APIRouter(prefix="/api/drafts", tags=["drafts"])


class DraftText(BaseModel):
    model_config = ConfigDict(extra="forbid")
    text: str = Field(max_length=MAX_SOURCE_BYTES)
    over: str | None = Field(default=None, max_length=MAX_SOURCE_BYTES)
    """The stored text that the sender knows. If another is stored, nothing is replaced; null replaces any."""


def may_keep_draft(course: Course, key: str) -> bool:
    """Whether a draft can be stored under the key: an exercise, its diagnosis, or an editable cell of a chapter."""
    match key.split("/"):
        case ["exercises", name]:
            return name in course.exercises
        case ["exercises", name, "diagnosis"]:
            return name in course.exercises and course.exercises[name].manifest.diagnosis is not None
        case ["chapters", slug, cell_id]:
            chapter = course.index.by_slug.get(slug)
            cell = chapter.index.cells.get(cell_id) if chapter else None
            return cell is not None and cell.editable
        case _:
            return False


@api.put("/{key:path}", status_code=204)
async def save_draft(key: str, draft: DraftText, context: LearnerContextDep) -> None:
    """Store the text of an editor: `exercises/NAME`, `exercises/NAME/diagnosis` or `chapters/SLUG/CELL`.

    Answers 409 if another tab or device has stored a text that the sender does not know.
    """
    if not may_keep_draft(context.course, key):
        raise HTTPException(404, "There is no editor of that name.")
    await context.request_context.count_kept(Act.WRITE, draft.text)
    store, text, now = context.site.store, clean_source(draft.text), context.now
    if draft.over is None:
        await store.save_draft(context.learner, DraftKey(key), text, now)
    elif not await store.replace_draft(context.learner, DraftKey(key), text, clean_source(draft.over), now):
        raise HTTPException(409, "Another tab or device has stored a different text since this page was opened.")
