"""One question or prediction: which answers were chosen, by which third of the class, before an edit and after."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from app.course.language.plain_text import words_of
from app.learning.items import ENOUGH_FOR_THIRDS, ItemStatistics, Thirds
from app.storage.knowledge import FirstResponse
from app.storage.records import SectionId
from app.web.desk.knowledge import HERE, need_chapter
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContextDep
from app.web.views.class_items import (
    Item,
    list_items,
    measure_items,
    say_discrimination,
    say_flag,
    say_percent,
    say_share,
)

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class OptionRow:
    """`thirds` has the share of each third of the class that chose it, with the same in words; empty: too few."""

    words: str
    is_key: bool
    count: int
    share: str
    thirds: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class WordingRow:
    """First answers to one wording of the question."""

    words: str
    answered: int
    right: int
    share: str
    discrimination: str


@dataclass(frozen=True)
class ItemPage:
    template: ClassVar[str] = "knowledge_item.html"
    frame: Frame
    navigation: SectionNavigation
    chapter: Link
    words: str
    question_href: str
    kind: str
    answered: int
    right: int
    share: str
    discrimination: str
    flag: str
    options: tuple[OptionRow, ...]
    enough_for_thirds: int
    wordings: tuple[WordingRow, ...]
    problem: str = ""


@router.api_route("/desk/{section}/knowledge/chapters/{slug}/{item}", methods=["GET", "HEAD"])
async def item_page(context: RequestContextDep, section: str, slug: str, item: str) -> Response:
    chapter, here = need_chapter(context, slug), SectionId(section)
    asked = list_items(chapter).get(item)
    if asked is None:
        raise HTTPException(404, "The chapter has no question of that name now.")
    navigation, known = await navigate(context, here, HERE), context.site.store.knowledge
    # The rest score needs the whole chapter.
    responses = (*await known.predictions(here, slug), *await known.answers(here, slug))
    found = measure_items(chapter, responses)[item]
    page = ItemPage(
        frame=await context.frame(f"{chapter.title}: {navigation.section_title}", "First answers to one question."),
        navigation=navigation,
        chapter=Link(f"/desk/{section}/knowledge/chapters/{slug}", f"{chapter.number} {chapter.title}".strip()),
        words=asked.words,
        question_href=f"/chapters/{slug}#{item}",
        kind=asked.kind,
        answered=found.answered,
        right=found.right,
        share=say_share(found.share),
        discrimination=say_discrimination(found),
        flag=say_flag(found),
        options=_list_options(asked, found),
        enough_for_thirds=ENOUGH_FOR_THIRDS,
        wordings=tuple(
            _show_wording(asked, measure_items(chapter, kept)[item], is_now=digest == asked.content_hash)
            for digest, kept in _split_by_wording(responses, asked)
        ),
    )
    return context.site.renderer.page(page)


def _list_options(asked: Item, found: ItemStatistics) -> tuple[OptionRow, ...]:
    return tuple(
        OptionRow(
            words=words_of(option.html),
            is_key=option.right,
            count=found.options.get(option.id, 0),
            share=say_percent(found.options.get(option.id, 0) / found.answered) if found.answered else "",
            thirds=_show_thirds(found.thirds.get(option.id)),
        )
        for option in (asked.options if found.options else ())
    )


def _show_thirds(found: Thirds | None) -> tuple[tuple[float, str], ...]:
    return () if found is None else tuple((share, say_percent(share)) for share in found)


def _split_by_wording(responses: Sequence[FirstResponse], asked: Item) -> list[tuple[str, tuple[FirstResponse, ...]]]:
    """The answers of those who met one wording of the question, with all that they answered elsewhere.

    Oldest wording first; empty if there was only one.
    """
    met = {one.learner: one.content_hash for one in responses if one.item == asked.id}
    digests = list(dict.fromkeys(one.content_hash for one in responses if one.item == asked.id))
    if len(digests) < 2:
        return []
    return [
        (digest, tuple(one for one in responses if one.item != asked.id or met[one.learner] == digest))
        for digest in digests
    ]


def _show_wording(asked: Item, found: ItemStatistics, *, is_now: bool) -> WordingRow:
    return WordingRow(
        words="as it is now" if is_now else "an earlier wording",
        answered=found.answered,
        right=found.right,
        share=say_share(found.share),
        discrimination=say_discrimination(found),
    )
