"""A class's first answers as CSV, without names. People have numbers that are drawn anew for each file."""

import asyncio
import csv
import io
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.course.model import Course
from app.learning.gradebook_csv import defuse
from app.storage.knowledge import FirstResponse
from app.storage.records import SectionId
from app.web.edge.identity import RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of
from app.web.views.class_items import Item, list_items, mark_responses

router = APIRouter(include_in_schema=False)

HEADER = ("person", "chapter", "item", "kind", "right", "option", "confidence", "wording", "day")


@router.get("/desk/{section}/knowledge/files")
async def first_answers(
    context: RequestContextDep, section: str, chapter: Annotated[str, Query(max_length=80)] = ""
) -> Response:
    """One line for each first answer and each prediction, of all chapters or of one.

    It leaves the site, so it is audited and needs a recent sign-in. Days are UTC, without the time.
    """
    await context.count(Act.EXPORT)
    here, known = SectionId(section), context.site.store.knowledge
    responses = (*await known.predictions(here, chapter), *await known.answers(here, chapter))
    # A term's answers take half a second to write, in which other requests must not wait.
    text = await asyncio.to_thread(_write, context.course, responses)
    await known.note_download(here, actor_of(context))
    headers = {"content-disposition": 'attachment; filename="first-answers.csv"', "cache-control": "no-store"}
    return Response(text.encode(errors="replace"), headers=headers, media_type="text/csv; charset=utf-8")


def _write(course: Course, responses: Sequence[FirstResponse]) -> str:
    people = list({one.learner for one in responses})
    random.SystemRandom().shuffle(people)
    numbers = {person: number for number, person in enumerate(people, 1)}
    written = io.StringIO()
    lines = csv.writer(written)
    lines.writerow(HEADER)
    items = {slug: list_items(found) for slug, found in course.index.by_slug.items()}
    rights = _mark(items, responses)
    for one in sorted(responses, key=lambda one: (numbers[one.learner], one.chapter, one.item)):
        asked = items.get(one.chapter, {}).get(one.item)
        right = rights.get((one.chapter, one.item, one.learner), "")
        option = " + ".join(sorted(one.options))
        line = (one.chapter, one.item, asked.kind if asked else "", right, option, one.confidence or "")
        lines.writerow((numbers[one.learner], *map(defuse, (*line, one.content_hash)), f"{one.at:%Y-%m-%d}"))
    return written.getvalue()


def _mark(
    items: Mapping[str, dict[str, Item]], responses: Iterable[FirstResponse]
) -> dict[tuple[str, str, str], str]:
    """By chapter, item and learner: "1" if it is right, "0" if it is wrong. What nobody has judged is left out."""
    by_chapter: dict[str, list[FirstResponse]] = defaultdict(list)
    for one in responses:
        by_chapter[one.chapter].append(one)
    return {
        (chapter, one.item, one.person): str(int(one.right))
        for chapter, given in by_chapter.items()
        for one in mark_responses(items.get(chapter, {}), given)
    }
