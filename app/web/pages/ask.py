"""Ask about a place of the course: the form, for people who are in a section, and what it stores."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse

from app.storage.records import SectionId
from app.storage.thread_queries import Audience, OpenSection
from app.storage.threads import MAX_OPEN_OF_ONE, NewPost, NewThread
from app.web.edge.asking import gather_beside
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.pages.report import SpotDep
from app.web.views.spots import Spot, report_address
from app.web.views.threads import BlockThreads, ask_address, thread_address

router = APIRouter(include_in_schema=False)

MAX_CHARACTERS = 4000
"""Of one post."""
NO_SECTION = "Questions go to a section, and your account is in none that is open. Join one first."


@dataclass(frozen=True)
class Asked:
    """What the form holds. Its fields send `section`, `audience`, `anonymous`, `text` and `content_hash`."""

    section: str = ""
    audience: Audience = Audience.STAFF
    anonymous: bool = False
    text: str = ""
    content_hash: str = ""


@dataclass(frozen=True)
class AskPage:
    """`sections` are those in which the reader may ask; with none, `problem` says so and there is no form."""

    template: ClassVar[str] = "ask.html"
    frame: Frame
    href: str
    title: str
    words: str
    action: str
    content_hash: str
    sections: tuple[OpenSection, ...]
    asked: Asked
    beside: BlockThreads | None
    max_characters: int
    problem: str


@router.api_route("/ask/{place:path}", methods=["GET", "HEAD"])
async def ask_form(context: RequestContextDep, spot: SpotDep) -> Response:
    return await _show(context, spot, Asked(content_hash=spot.content_hash))


@router.post("/ask/{place:path}")
async def ask(
    context: RequestContextDep,
    spot: SpotDep,
    section: Annotated[str, Form(max_length=32)] = "",
    audience: Annotated[Audience, Form()] = Audience.STAFF,
    anonymous: Annotated[bool, Form()] = False,
    text: Annotated[str, Form()] = "",
    content_hash: Annotated[str, Form(pattern=r"^[0-9a-f]{16}$")] = "",
) -> Response:
    """Store a question. Its hash is of the wording that the form was opened on, which may be an older one."""
    assert context.account is not None
    text = clean_post(text)
    asked = Asked(section, audience, anonymous, text, content_hash or spot.content_hash)
    allowed = {one.id for one in await context.site.store.threads.open_sections(context.account.id)}
    if problem := find_problem(text):
        return await _show(context, spot, asked, problem)
    if section not in allowed:
        return await _show(context, spot, asked, "Choose one of your sections." if allowed else NO_SECTION)
    await context.count(Act.ASK)
    await context.count_kept(Act.WRITE, text)
    to = SectionId(section)
    thread = NewThread(to, spot.page, spot.block, asked.content_hash, context.course.version, audience)
    number = await context.site.store.threads.ask(thread, NewPost(context.account.id, text, anonymous, context.now))
    if number is None:
        sentence = f"You have {MAX_OPEN_OF_ONE} open questions in this section. Mark some as resolved first."
        return await _show(context, spot, asked, sentence)
    return RedirectResponse(thread_address(to, number), 303)


def clean_post(text: str) -> str:
    """A form sends each line break as two characters, and the browser's own limit counts one."""
    return text.replace("\r\n", "\n").strip()


def find_problem(text: str) -> str:
    if not text:
        return "There is no text yet; write what you want to say."
    if len(text) > MAX_CHARACTERS:
        return f"The text has {len(text)} characters; write at most {MAX_CHARACTERS}."
    return ""


async def _show(context: RequestContext, spot: Spot, asked: Asked, problem: str = "") -> Response:
    assert context.account is not None
    sections = await context.site.store.threads.open_sections(context.account.id)
    beside = await gather_beside(context, spot.page)
    page = AskPage(
        frame=await context.frame("Ask about this", "Ask your section about a place of the course."),
        href=spot.href,
        title=spot.title,
        words=spot.words,
        action=ask_address(spot.page, spot.block),
        content_hash=asked.content_hash,
        sections=sections,
        asked=asked,
        beside=beside.get(report_address(spot.page, spot.block)),
        max_characters=MAX_CHARACTERS,
        problem=problem or ("" if sections else NO_SECTION),
    )
    return context.site.renderer.page(page, 422 if problem else 200)
