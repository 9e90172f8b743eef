"""A section's gradebook: a page of learners at a time, or all of them for a print."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Response

from app.access.permissions import Permission, is_allowed
from app.learning.grading import Assignment, Policy
from app.storage.gradebook import GradebookPerson
from app.storage.records import SectionId
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.views.gradebook import GradeLine, Grades, HeadCell, Sort, show_head, show_lines, sort_people
from app.web.views.grades import grade_all

router = APIRouter(include_in_schema=False)

SHOWN = 50
MAX_PAGE = 10_000


@dataclass(frozen=True)
class GradebookPage:
    """`lines` are of one page, or of everybody if `is_whole`. The hrefs are empty where there is nothing to go to."""

    template: ClassVar[str] = "gradebook.html"
    frame: Frame
    navigation: SectionNavigation
    head: tuple[HeadCell, ...]
    lines: tuple[GradeLine, ...]
    people: int
    first: int
    unpublished: int
    waiting: int
    """How many people on the roster have not joined, as far as the roster knows."""
    unmatched: int
    """How many learners are no line of the roster, although it has lines left."""
    sort: Sort
    is_whole: bool
    action: str
    newer_href: str
    older_href: str
    whole_href: str
    files_href: str
    regrades_href: str
    """These two are empty for somebody who may only look."""
    problem: str = ""


@dataclass(frozen=True)
class OpenedBook:
    """A section's learners and its published assignments."""

    people: tuple[GradebookPerson, ...]
    assigned: tuple[Assignment, ...]
    unpublished: int
    policy: Policy


async def open_book(context: RequestContext, section: SectionId) -> OpenedBook:
    store = context.site.store
    everything = await store.assignments.of_section(section)
    published = tuple(one for one in everything if one.published)
    people = await store.gradebook.learners(section)
    return OpenedBook(people, published, len(everything) - len(published), await store.assignments.policy(section))


async def grade_people(
    context: RequestContext, section: SectionId, book: OpenedBook, people: Sequence[GradebookPerson]
) -> Grades:
    """The grades of some of the book's people."""
    accounts = [person.account for person in people]
    work = await context.site.store.assignments.class_work(section, book.assigned, accounts)
    # A class's grades take a third of a second, in which other requests must not wait.
    return await asyncio.to_thread(grade_all, context.course, book.policy, book.assigned, accounts, work, context.now)


@router.api_route("/desk/{section}/gradebook", methods=["GET", "HEAD"])
async def gradebook(
    context: RequestContextDep,
    section: str,
    sort: Annotated[Sort, Query()] = Sort.NAME,
    page: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 1,
    whole: Annotated[bool, Query()] = False,
) -> Response:
    here = SectionId(section)
    navigation, book = await navigate(context, here, "Gradebook"), await open_book(context, here)
    first = 0 if whole else (page - 1) * SHOWN
    waiting = await context.site.store.gradebook.count_waiting(here)
    chosen = await _choose(context, here, book, sort, slice(first, None if whole else first + SHOWN))
    address = f"/desk/{section}/gradebook"
    may_decide = is_allowed(Permission.DECIDE_GRADES, (navigation.reader.role,))
    shown = GradebookPage(
        frame=await context.frame(navigation.page_title, "The grades of the section's learners."),
        navigation=navigation,
        head=show_head(book.assigned, book.policy),
        lines=chosen,
        people=len(book.people),
        first=first + 1,
        unpublished=book.unpublished,
        waiting=waiting,
        unmatched=sum(not person.roster_id for person in book.people) if waiting else 0,
        sort=sort,
        is_whole=whole,
        action=address,
        newer_href="" if whole or page == 1 else _page(address, sort, page - 1),
        older_href="" if whole or first + SHOWN >= len(book.people) else _page(address, sort, page + 1),
        whole_href="" if whole else f"{address}?{urlencode({'sort': sort.value, 'whole': 'true'})}",
        files_href=f"{address}/files" if may_decide else "",
        regrades_href=f"/desk/{section}/regrades" if may_decide else "",
    )
    return context.site.renderer.page(shown)


async def _choose(
    context: RequestContext, section: SectionId, book: OpenedBook, sort: Sort, which: slice
) -> tuple[GradeLine, ...]:
    """The lines of one page. An order by total needs everybody's grades, one by name only the page's."""
    people: Sequence[GradebookPerson]
    if sort is Sort.TOTAL:
        grades = await grade_people(context, section, book, book.people)
        people = sort_people(book.people, book.assigned, grades)[which]
    else:
        people = book.people[which]
        grades = await grade_people(context, section, book, people)
    return show_lines(section, people, book.assigned, grades)


def _page(address: str, sort: Sort, page: int) -> str:
    return f"{address}?{urlencode({'sort': sort.value, 'page': page})}"
