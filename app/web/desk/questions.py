"""The questions of a section for its staff: the inbox, and what staff do with a post."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Path, Query, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.storage.records import SectionId
from app.storage.thread_queries import ThreadFilter, ThreadState
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.edge.asking import show_rows
from app.web.edge.course_search import MAX_QUERY
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of
from app.web.views.threads import ThreadRow, thread_address

router = APIRouter(include_in_schema=False)

SHOWN = 50
MAX_WORDS = 8
MAX_REASON = 300
MAX_NUMBER = 2**31 - 1

NumberDep = Annotated[int, Path(ge=1, le=MAX_NUMBER)]


@dataclass(frozen=True)
class InboxPage:
    """`action` is the list's address: a filter by GET, and by POST "I have read all of them"."""

    template: ClassVar[str] = "inbox.html"
    frame: Frame
    navigation: SectionNavigation
    action: str
    rows: tuple[ThreadRow, ...]
    first: int
    found: int
    unread: int
    state: ThreadState
    states: tuple[ThreadState, ...]
    searched: str
    newer_href: str
    older_href: str
    max_query: int
    problem: str = ""


@router.api_route("/desk/{section}/questions", methods=["GET", "HEAD"])
async def inbox(
    context: RequestContextDep,
    section: str,
    state: Annotated[ThreadState, Query()] = ThreadState.OPEN,
    q: Annotated[str, Query(max_length=MAX_QUERY)] = "",
    after: Annotated[int, Query(ge=0, le=MAX_NUMBER)] = 0,
) -> Response:
    assert context.account is not None
    account, threads, here = context.account.id, context.site.store.threads, SectionId(section)
    searched = " ".join(q.split())
    if searched:
        await context.count(Act.SEARCH)
    wanted = ThreadFilter(here, state=state, words=tuple(searched.split()[:MAX_WORDS]))
    found, address = await threads.count(account, wanted), f"/desk/{section}/questions"
    navigation = await navigate(context, here, "Questions")
    page = InboxPage(
        frame=await context.frame(navigation.page_title, "What the people of the section asked about the course."),
        navigation=navigation,
        action=address,
        rows=await show_rows(context, wanted, SHOWN, after),
        first=after + 1,
        found=found,
        unread=await threads.count(account, ThreadFilter(here, state=ThreadState.UNREAD)),
        state=state,
        states=tuple(ThreadState),
        searched=searched,
        newer_href=_page(address, state, searched, max(0, after - SHOWN)) if after else "",
        older_href=_page(address, state, searched, after + SHOWN) if after + SHOWN < found else "",
        max_query=MAX_QUERY,
    )
    return context.site.renderer.page(page)


def _page(address: str, state: ThreadState, searched: str, after: int) -> str:
    return f"{address}?{urlencode({'state': state.value, 'q': searched, 'after': after})}"


@router.post("/desk/{section}/questions")
async def read_all(context: RequestContextDep, section: str) -> Response:
    """Everything in the section counts as read by this person."""
    assert context.account is not None
    await context.count(Act.WRITE)
    await context.site.store.threads.read_all(SectionId(section), context.account.id)
    return RedirectResponse(f"/desk/{section}/questions", 303)


@router.post("/desk/{section}/questions/{number}/posts/{post}")
async def judge_post(
    context: RequestContextDep,
    section: str,
    number: NumberDep,
    post: NumberDep,
    act: Annotated[Literal["endorse", "unendorse", "hide", "show"], Form()],
    reason: Annotated[str, Form()] = "",
) -> Response:
    """Endorse a post as right, or hide it from the learners with a reason that they read."""
    await context.count(Act.WRITE)
    here, reason = SectionId(section), " ".join(reason.split())
    if act == "hide" and not 0 < len(reason) <= MAX_REASON:
        raise HTTPException(422, f"Say in 1 to {MAX_REASON} characters why the post is hidden; its readers see it.")
    if not await _judge(context, here, number, post, act, reason):
        raise HTTPException(404, "There is no such post here that could be changed so; it may have been already.")
    return RedirectResponse(f"{thread_address(here, number)}#post-{post}", 303)


async def _judge(
    context: RequestContext,
    section: SectionId,
    number: int,
    post: int,
    act: Literal["endorse", "unendorse", "hide", "show"],
    reason: str,
) -> bool:
    threads, actor = context.site.store.threads, actor_of(context)
    if act in ("endorse", "unendorse"):
        return await threads.endorse(section, number, post, endorsed=act == "endorse", actor=actor)
    return await threads.hide(section, number, post, reason if act == "hide" else "", actor)
