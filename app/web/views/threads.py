"""Questions about the course as pages show them: rows of lists, and the posts of one thread. No I/O.

What others wrote about a prediction or a quiz question is withheld until the reader has answered it themselves.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar
from zoneinfo import ZoneInfo

from markupsafe import Markup

from app.course.block_tree import blocks_of
from app.course.blocks import Cell, Html, Predict
from app.course.model import Course
from app.course.questions.question import QuestionBase
from app.storage.records import NOTHING_YET, AccountId, ChapterHistory, SectionId
from app.storage.thread_queries import Audience, Post, Thread
from app.web.views.note_text import render_note
from app.web.views.spots import Spot, find_spot, find_wording, title_page

EXCERPT_CHARACTERS = 160
ERASED = "an erased account"


@dataclass(frozen=True)
class ThreadRow:
    """`excerpt` is empty where it is withheld; `place_href` where the course has the place no longer."""

    href: str
    title: str
    words: str
    place_href: str
    excerpt: str
    withheld: bool
    section_title: str
    audience: str
    state: str
    replies: int
    unread: int
    newest_at: str


@dataclass(frozen=True)
class BlockThreads:
    """The questions about one block, folded beneath it."""

    template: ClassVar[str] = "threads"
    rows: tuple[ThreadRow, ...]
    unread: int
    withheld: bool


ThreadsOfPage = Mapping[str, BlockThreads]
"""By the address at which a block of the page is reported."""


@dataclass(frozen=True)
class PostView:
    """`text` is set if the reader may edit it, `reason` if it is hidden; `html` is empty if they may not read it.

    `action` takes `act` from staff: endorse, unendorse, hide with `reason`, or show.
    """

    number: int
    who: str
    tags: tuple[str, ...]
    html: Html
    posted_at: str
    edited_at: str
    is_endorsed: bool
    is_hidden: bool
    reason: str
    edit_action: str
    text: str
    action: str


@dataclass(frozen=True)
class ThreadReader:
    """Who looks at a thread. `zone` is the IANA name in which their own days are counted."""

    account: AccountId
    is_staff: bool
    zone: str


def thread_address(section: SectionId, number: int) -> str:
    return f"/questions/{section}/{number}"


def ask_address(page: str, block: str) -> str:
    return f"/ask/{page}/{block}"


def spot_of(course: Course, thread: Thread) -> Spot | None:
    """Where the block of a question is now: the same wording first, as keys of blocks without an id change."""
    now = find_spot(course, thread.page, thread.block)
    if now is not None and now.content_hash == thread.content_hash:
        return now
    return find_wording(course, thread.page, thread.content_hash) or now


def is_answered(course: Course, spot: Spot, history: ChapterHistory) -> bool:
    """Whether the reader has committed everything that a block asks, or whose truth the block shows."""
    chapter = course.index.by_slug.get(spot.page.removeprefix("chapters/"))
    if chapter is None:
        return True
    block = (chapter.blocks[chapter.keys.index(spot.block)],)
    shown_here = {cell.id for cell in blocks_of(Cell, block)}
    shown = (predict for predict in chapter.index.predicts.values() if predict.resolved_by in shown_here)
    predicts = (*blocks_of(Predict, block), *shown)
    answered = {answer.question for answer in history.answers}
    return all(predict.id in history.predictions for predict in predicts) and all(
        question.id in answered for question in blocks_of(QuestionBase, block)
    )


def is_withheld(
    course: Course, thread: Thread, reader: ThreadReader, histories: Mapping[str, ChapterHistory]
) -> bool:
    """Whether posts of others are kept from this reader until they have answered for themselves."""
    spot = spot_of(course, thread)
    if spot is None or reader.is_staff:
        return False
    return not is_answered(course, spot, histories.get(spot.page.removeprefix("chapters/"), NOTHING_YET))


def show_thread(
    course: Course, thread: Thread, reader: ThreadReader, histories: Mapping[str, ChapterHistory]
) -> ThreadRow:
    spot = spot_of(course, thread)
    withheld = is_withheld(course, thread, reader, histories) and thread.asker != reader.account
    words = _plain(thread.opening.text)
    if thread.opening.hidden_at is not None and not reader.is_staff and thread.asker != reader.account:
        words = ""
    return ThreadRow(
        href=thread_address(thread.section, thread.number),
        title=title_page(course, thread.page),
        words=spot.words if spot else "a place that the course no longer has",
        place_href=spot.href if spot else "",
        excerpt="" if withheld else words,
        withheld=withheld,
        section_title=thread.section_title,
        audience=say_audience(thread.audience),
        state="resolved" if thread.is_resolved else "answered" if thread.is_answered else "no answer yet",
        replies=thread.replies,
        unread=thread.unread,
        newest_at=say_time(thread.newest_at, thread.zone, reader.zone),
    )


def _plain(text: str) -> str:
    """The beginning of a post without the marks of Markdown, on one line."""
    # A list shows many, and turning all of a long post into HTML takes up to 10 ms.
    cut = text[: 4 * EXCERPT_CHARACTERS]
    words = " ".join(Markup(render_note(cut)).striptags().split()) or cut
    return words if len(words) <= EXCERPT_CHARACTERS else f"{words[:EXCERPT_CHARACTERS].rstrip()} …"


def say_audience(audience: Audience) -> str:
    return "for the staff" if audience is Audience.STAFF else "for the whole section"


def say_time(moment: datetime, zone: str, own_zone: str) -> str:
    """A time in the section's zone with its name, and in the reader's own beside it where the clocks differ."""
    there, here = moment.astimezone(ZoneInfo(zone)), moment.astimezone(ZoneInfo(own_zone))
    said = f"{there:%Y-%m-%d %H:%M} {zone}"
    if there.utcoffset() == here.utcoffset():
        return said
    day = "" if there.date() == here.date() else f"{here:%Y-%m-%d} "
    return f"{said} ({day}{here:%H:%M} {own_zone})"


def show_post(thread: Thread, post: Post, reader: ThreadReader, *, may_write: bool) -> PostView:
    is_own, is_hidden = post.account == reader.account, post.hidden_at is not None
    address = thread_address(thread.section, thread.number)
    desk = f"/desk/{thread.section}/questions/{thread.number}/posts/{post.number}"
    may_edit = is_own and may_write and not is_hidden
    return PostView(
        number=post.number,
        who=_say_who(thread, post, reader),
        tags=_tags(post, is_own=is_own, is_staff=reader.is_staff),
        html=render_note(post.text) if is_own or reader.is_staff or not is_hidden else "",
        posted_at=say_time(post.posted_at, thread.zone, reader.zone),
        edited_at=say_time(post.edited_at, thread.zone, reader.zone) if post.edited_at else "",
        is_endorsed=post.is_endorsed,
        is_hidden=is_hidden,
        reason=post.hidden_reason,
        edit_action=f"{address}/posts/{post.number}" if may_edit else "",
        text=post.text if may_edit else "",
        action=desk if reader.is_staff and may_write else "",
    )


def _tags(post: Post, *, is_own: bool, is_staff: bool) -> tuple[str, ...]:
    said = ["staff"] if post.by_staff else []
    if post.anonymous and (is_own or is_staff):
        said.append("anonymous to the other learners")
    return tuple(said)


def _say_who(thread: Thread, post: Post, reader: ThreadReader) -> str:
    if post.account == reader.account:
        return "You"
    if post.anonymous and not reader.is_staff:
        # A name on one of two posts by the same person would give away the other.
        asked = post.account is not None and post.account == thread.asker and thread.opening.anonymous
        return "Anonymous, who asked" if asked else "Anonymous"
    return post.name or ERASED
