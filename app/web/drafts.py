"""Drafts: what stands in an editor, kept so that leaving never loses work."""

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from app.course.model import Course
from app.web.rates import Act
from app.web.runs import find_cell
from app.web.source import clean_source
from app.web.visit import WriterNow, find_chapter
from graders.contract.limits import MAX_SOURCE_BYTES

api = APIRouter(prefix="/api/drafts", tags=["drafts"])


class DraftText(BaseModel):
    model_config = ConfigDict(extra="forbid")
    text: str = Field(max_length=MAX_SOURCE_BYTES)


def is_place(course: Course, place: str) -> bool:
    """Whether a draft can be kept there: an exercise, what is said of its fault, or an editable cell of a chapter."""
    match place.split("/"):
        case ["exercises", name]:
            return name in course.exercises
        case ["exercises", name, "diagnosis"]:
            return name in course.exercises and course.exercises[name].manifest.diagnosis is not None
        case ["chapters", slug, cell_id]:
            chapter = find_chapter(course, slug)
            cell = find_cell(chapter, cell_id) if chapter else None
            return cell is not None and cell.editable
        case _:
            return False


@api.put("/{place:path}", status_code=204)
async def save_draft(place: str, draft: DraftText, writer: WriterNow) -> None:
    """Keep the text of an editor: `exercises/NAME`, `exercises/NAME/diagnosis` or `chapters/SLUG/CELL`."""
    if not is_place(writer.site.course, place):
        raise HTTPException(404, "There is no editor of that name.")
    await writer.visit.count(Act.WRITE)
    await writer.site.store.save_draft(writer.learner, place, clean_source(draft.text), writer.now)
