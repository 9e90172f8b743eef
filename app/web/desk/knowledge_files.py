"""A class's first answers as CSV, without names. People have numbers that are drawn anew for each file."""

import csv
import io
import random
from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.learning.gradebook_csv import defuse
from app.storage.records import SectionId
from app.web.edge.identity import RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of
from app.web.views.class_items import list_items, mark_responses

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
    people = list({one.learner for one in responses})
    random.SystemRandom().shuffle(people)
    numbers = {person: number for number, person in enumerate(people, 1)}
    written = io.StringIO()
    lines = csv.writer(written)
    lines.writerow(HEADER)
    items = {slug: list_items(found) for slug, found in context.course.index.by_slug.items()}
    for one in sorted(responses, key=lambda one: (numbers[one.learner], one.chapter, one.item)):
        asked = items.get(one.chapter, {}).get(one.item)
        marked = mark_responses({one.item: asked}, [one]) if asked else []
        right = str(int(marked[0].right)) if marked else ""
        option = " + ".join(sorted(one.options))
        kind = asked.kind if asked else ""
        line = (one.chapter, one.item, kind, right, option, one.confidence or "", one.content_hash)
        lines.writerow((numbers[one.learner], *map(defuse, line), f"{one.at:%Y-%m-%d}"))
    await known.note_download(here, actor_of(context))
    headers = {"content-disposition": 'attachment; filename="first-answers.csv"', "cache-control": "no-store"}
    return Response(
        written.getvalue().encode(errors="replace"), headers=headers, media_type="text/csv; charset=utf-8"
    )
