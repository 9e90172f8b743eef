"""What a request needs to show questions about the course: who reads, and what they have answered themselves."""

from collections.abc import Mapping

from app.storage.records import ChapterHistory
from app.storage.thread_queries import ThreadFilter
from app.web.edge.identity import RequestContext
from app.web.views.spots import report_address
from app.web.views.threads import BlockThreads, ThreadReader, ThreadRow, ThreadsOfPage, show_thread, spot_of

SHOWN_BESIDE = 200
"""Threads on one page of the course."""


async def find_readers(context: RequestContext) -> Mapping[str, ThreadReader]:
    """The signed-in person as a reader of each of their sections, by the section's id."""
    assert context.account is not None
    assert context.learner is not None
    zone = (await context.site.store.review_cards.deck(context.learner)).zone
    roles = await context.site.store.sections.of_account(context.account.id)
    return {role.section: ThreadReader(context.account.id, role.is_staff, zone) for role in roles if role.is_active}


async def show_rows(
    context: RequestContext, wanted: ThreadFilter, most: int, after: int = 0
) -> tuple[ThreadRow, ...]:
    """The threads that the filter keeps and the reader may see, as rows."""
    assert context.account is not None
    threads = await context.site.store.threads.list(context.account.id, wanted, most, after)
    readers, histories = await find_readers(context), await read_histories(context)
    return tuple(show_thread(context.course, thread, readers[thread.section], histories) for thread in threads)


async def read_histories(context: RequestContext) -> Mapping[str, ChapterHistory]:
    return await context.site.store.histories(context.learner) if context.learner else {}


async def gather_beside(context: RequestContext, page: str) -> ThreadsOfPage:
    """The questions about a page of the course, beneath the blocks that they are about now."""
    if context.account is None:
        return {}
    threads = await context.site.store.threads.list(context.account.id, ThreadFilter(page=page), SHOWN_BESIDE)
    if not threads:
        return {}
    readers, histories = await find_readers(context), await read_histories(context)
    rows: dict[str, list[ThreadRow]] = {}
    for thread in threads:
        spot = spot_of(context.course, thread)
        if spot is not None:
            row = show_thread(context.course, thread, readers[thread.section], histories)
            rows.setdefault(report_address(spot.page, spot.block), []).append(row)
    return {
        href: BlockThreads(tuple(found), sum(row.unread > 0 for row in found), any(row.withheld for row in found))
        for href, found in rows.items()
    }
