"""Questions about the course: a person's list of them, and one thread with its posts."""

import contextlib
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fastapi import APIRouter, Form, Path, Query, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.storage.records import SectionId
from app.storage.thread_queries import Audience, Post, Thread, ThreadFilter, ThreadState
from app.storage.threads import MAX_POSTS, NewPost
from app.web.edge.asking import find_readers, read_histories, show_rows
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of
from app.web.pages.ask import MAX_CHARACTERS, clean_post, find_problem
from app.web.views.threads import (
    PostView,
    ThreadReader,
    ThreadRow,
    is_withheld,
    show_post,
    show_thread,
    thread_address,
)
from graders.ledger import StorageRefused

router = APIRouter(include_in_schema=False)

SHOWN = 50
NO_THREAD = "There is no such question here, or none that you may read."
MAX_NUMBER = 2**31 - 1
"""The database's largest number of a thread or a post."""

NumberDep = Annotated[int, Path(ge=1, le=MAX_NUMBER)]


@dataclass(frozen=True)
class QuestionsPage:
    """`rows` are those of `found` from the place `first` on. `inboxes` are of the sections in which one teaches."""

    template: ClassVar[str] = "questions.html"
    frame: Frame
    inboxes: tuple[Link, ...]
    rows: tuple[ThreadRow, ...]
    first: int
    found: int
    everybody: bool
    newer_href: str
    older_href: str


@dataclass(frozen=True)
class ThreadPage:
    """`action` takes a reply, `state_action` `resolved`; both are empty where the reader may not.

    `withheld` is the number of posts of others that the reader sees after answering the place themselves.
    """

    template: ClassVar[str] = "thread.html"
    frame: Frame
    thread: ThreadRow
    posts: tuple[PostView, ...]
    withheld: int
    is_resolved: bool
    is_staff: bool
    to_staff: bool
    action: str
    state_action: str
    inbox_href: str
    text: str
    max_characters: int
    problem: str


@router.api_route("/questions", methods=["GET", "HEAD"])
async def questions_page(
    context: RequestContextDep,
    everybody: Annotated[bool, Query()] = False,
    after: Annotated[int, Query(ge=0, le=MAX_NUMBER)] = 0,
) -> Response:
    """The threads in which the reader has written, or with `everybody` all that they may read."""
    assert context.account is not None
    account, threads = context.account.id, context.site.store.threads
    wanted = ThreadFilter(state=ThreadState.ALL if everybody else ThreadState.MINE)
    found = await threads.count(account, wanted)
    address = f"/questions?everybody={str(everybody).lower()}&after="
    roles = await context.site.store.sections.of_account(account)
    page = QuestionsPage(
        frame=await context.frame("Questions", "What you and your sections asked about the course."),
        inboxes=tuple(Link(f"/desk/{role.section}/questions", role.title) for role in roles if role.is_staff),
        rows=await show_rows(context, wanted, SHOWN, after),
        first=after + 1,
        found=found,
        everybody=everybody,
        newer_href=f"{address}{max(0, after - SHOWN)}" if after else "",
        older_href=f"{address}{after + SHOWN}" if after + SHOWN < found else "",
    )
    return context.site.renderer.page(page)


@router.api_route("/questions/{section}/{number}", methods=["GET", "HEAD"])
async def thread_page(context: RequestContextDep, section: str, number: NumberDep) -> Response:
    return await _show(context, await _need(context, section, number))


@router.post("/questions/{section}/{number}")
async def reply(
    context: RequestContextDep,
    section: str,
    number: NumberDep,
    text: Annotated[str, Form()] = "",
    anonymous: Annotated[bool, Form()] = False,
) -> Response:
    assert context.account is not None
    thread, text = await _need(context, section, number), clean_post(text)
    if problem := find_problem(text):
        return await _show(context, thread, text, problem)
    await context.count(Act.ASK)
    await context.count_kept(Act.WRITE, text)
    post = NewPost(context.account.id, text, anonymous, context.now)
    written = await context.site.store.threads.reply(thread.section, number, post)
    if written is None:
        sentence = f"Nothing can be added: the section is archived, or the question has {MAX_POSTS} posts."
        return await _show(context, thread, text, sentence)
    return RedirectResponse(f"{thread_address(thread.section, number)}#post-{written}", 303)


@router.post("/questions/{section}/{number}/posts/{post}")
async def edit(
    context: RequestContextDep, section: str, number: NumberDep, post: NumberDep, text: Annotated[str, Form()] = ""
) -> Response:
    thread, text = await _need(context, section, number), clean_post(text)
    if problem := find_problem(text):
        return await _show(context, thread, problem=problem)
    await context.count(Act.ASK)
    await context.count_kept(Act.WRITE, text)
    if not await context.site.store.threads.edit(thread.section, number, post, text, actor_of(context)):
        raise HTTPException(404, "You have no such post here that can be changed.")
    return RedirectResponse(f"{thread_address(thread.section, number)}#post-{post}", 303)


@router.post("/questions/{section}/{number}/state")
async def resolve(
    context: RequestContextDep, section: str, number: NumberDep, resolved: Annotated[Literal["yes", "no"], Form()]
) -> Response:
    thread = await _need(context, section, number)
    await context.count(Act.WRITE)
    marked = context.site.store.threads.resolve(
        thread.section, number, resolved=resolved == "yes", actor=actor_of(context)
    )
    if not await marked:
        raise HTTPException(403, "Only the person who asked and the staff mark a question as resolved.")
    return RedirectResponse(thread_address(thread.section, number), 303)


async def _need(context: RequestContext, section: str, number: int) -> Thread:
    assert context.account is not None
    thread = await context.site.store.threads.find(SectionId(section), number, context.account.id)
    if thread is None:
        raise HTTPException(404, NO_THREAD)
    return thread


async def _show(context: RequestContext, thread: Thread, text: str = "", problem: str = "") -> Response:
    reader = (await find_readers(context))[thread.section]
    histories = await read_histories(context)
    posts = await context.site.store.threads.posts(thread.number)
    withheld = is_withheld(context.course, thread, reader, histories)
    shown = tuple(post for post in posts if not withheld or post.account == reader.account)
    if not withheld:
        await _keep_read(context, thread, reader, posts)
    open_sections = {one.id for one in await context.site.store.threads.open_sections(reader.account)}
    may_write, address = thread.section in open_sections, thread_address(thread.section, thread.number)
    may_resolve = may_write and (reader.is_staff or thread.asker == reader.account)
    row = show_thread(context.course, thread, reader, histories)
    page = ThreadPage(
        frame=await context.frame("A question", "A question about the course, and what was answered."),
        thread=row,
        posts=tuple(show_post(thread, post, reader, may_write=may_write) for post in shown),
        withheld=len(posts) - len(shown),
        is_resolved=thread.is_resolved,
        is_staff=reader.is_staff,
        to_staff=thread.audience is Audience.STAFF,
        action=address if may_write else "",
        state_action=f"{address}/state" if may_resolve else "",
        inbox_href=f"/desk/{thread.section}/questions" if reader.is_staff else "",
        text=text,
        max_characters=MAX_CHARACTERS,
        problem=problem,
    )
    return context.site.renderer.page(page, 422 if problem else 200)


async def _keep_read(context: RequestContext, thread: Thread, reader: ThreadReader, posts: tuple[Post, ...]) -> None:
    """A page must appear even if nothing can be written; the question then stays unread."""
    if context.request.method != "HEAD" and thread.unread:
        with contextlib.suppress(StorageRefused):
            await context.site.store.threads.keep_read(thread.number, reader.account, posts[-1].number)
