"""Which questions about the course a person may see, and what the lists show of them.

Every query here is for one account, and keeps the threads of sections in which that account is active now.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, assert_never

from sqlalchemy import ColumnElement, Connection, Row, ScalarSelect, Select, exists, func, or_, select

from app.access.permissions import SECTION_STAFF
from app.storage.records import AccountId, SectionId
from app.storage.statements import fetch, moment, optional_moment
from app.storage.tables import ACTIVE, accounts, memberships, posts, sections, thread_reads, threads


class Audience(StrEnum):
    """Who sees a thread, besides the person who asked."""

    STAFF = "staff"
    SECTION = "section"


class ThreadState(StrEnum):
    OPEN = "open"
    UNANSWERED = "unanswered"
    UNREAD = "unread"
    """With posts that are new to a reader who follows them: staff of the section, and those who have written."""
    MINE = "mine"
    """Those in which the reader has written."""
    ALL = "all"


@dataclass(frozen=True)
class ThreadFilter:
    """`section` None: all of the reader's sections. A thread has each of `words` somewhere."""

    section: SectionId | None = None
    page: str = ""
    number: int | None = None
    state: ThreadState = ThreadState.ALL
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Post:
    """`account` is None, and `name` empty, once the account is erased; `hidden_reason` is empty if it is shown."""

    number: int
    account: AccountId | None
    name: str
    by_staff: bool
    anonymous: bool
    text: str
    posted_at: datetime
    edited_at: datetime | None
    is_endorsed: bool
    hidden_at: datetime | None
    hidden_reason: str


@dataclass(frozen=True)
class Thread:
    """A question with what a list shows of it; `opening` is the question itself. `unread` counts posts of others."""

    number: int
    section: SectionId
    section_title: str
    zone: str
    """The section's, as an IANA name."""
    asker: AccountId | None
    page: str
    block: str
    content_hash: str
    audience: Audience
    is_resolved: bool
    is_answered: bool
    replies: int
    unread: int
    newest_at: datetime
    opening: Post


@dataclass(frozen=True)
class Unread:
    """`may_ask`: the account is active in some section. `threads` have posts that it has not seen."""

    may_ask: bool = False
    threads: int = 0


@dataclass(frozen=True)
class OpenSection:
    """One in which the account may ask."""

    id: SectionId
    title: str


_opening = posts.alias("opening")
_seen = posts.c.hidden_at.is_(None)
_of_thread = posts.c.thread == threads.c.number


def _sections_of(account: AccountId, *more: ColumnElement[bool]) -> Select[Any]:
    mine = (memberships.c.account == account) & (memberships.c.status == ACTIVE)
    return select(memberships.c.section).where(mine, *more)


def _is_staff(account: AccountId) -> ColumnElement[bool]:
    staff = memberships.c.role.in_([role.value for role in SECTION_STAFF])
    return threads.c.section.in_(_sections_of(account, staff))


def _visible(account: AccountId) -> ColumnElement[bool]:
    to_all = (threads.c.audience == Audience.SECTION.value) & _opening.c.hidden_at.is_(None)
    return threads.c.section.in_(_sections_of(account)) & or_(
        to_all, threads.c.account == account, _is_staff(account)
    )


def _followed(account: AccountId) -> ColumnElement[bool]:
    has_written = exists().where(_of_thread, posts.c.account == account)
    return or_(has_written, _is_staff(account))


def _unread(account: AccountId) -> ScalarSelect[Any]:
    """How many posts of others are newer than the last one that the account was shown, and than its membership."""
    # Without `correlate`, these would be of any thread: they are two levels below the query that has `threads`.
    reads = select(thread_reads.c.read_to).correlate(threads)
    reads = reads.where(thread_reads.c.thread == threads.c.number, thread_reads.c.account == account)
    added = select(memberships.c.added_at).correlate(threads)
    added = added.where(memberships.c.section == threads.c.section, memberships.c.account == account)
    by_others = or_(posts.c.account.is_(None), posts.c.account != account)
    newer = posts.c.number > func.coalesce(reads.scalar_subquery(), 0)
    since = posts.c.posted_at >= added.scalar_subquery()
    counted = select(func.count()).select_from(posts).where(_of_thread, _seen, by_others, newer, since)
    return counted.correlate(threads).scalar_subquery()


def _answered() -> ColumnElement[bool]:
    from_staff = posts.c.by_staff & (posts.c.number != _opening.c.number)
    return exists().where(_of_thread, _seen, or_(from_staff, posts.c.endorsed_at.is_not(None)))


def _first() -> ScalarSelect[Any]:
    return select(func.min(posts.c.number)).where(_of_thread).correlate(threads).scalar_subquery()


def _conditions(account: AccountId, wanted: ThreadFilter) -> list[ColumnElement[bool]]:
    found = [_visible(account)]
    if wanted.section is not None:
        found.append(threads.c.section == wanted.section)
    if wanted.page:
        found.append(threads.c.page == wanted.page)
    if wanted.number is not None:
        found.append(threads.c.number == wanted.number)
    found += [
        exists().where(_of_thread, _seen, func.lower(posts.c.text).contains(word.lower(), autoescape=True))
        for word in wanted.words
    ]
    return found + _in_state(account, wanted.state)


def _in_state(account: AccountId, state: ThreadState) -> list[ColumnElement[bool]]:
    match state:
        case ThreadState.OPEN:
            return [threads.c.resolved_at.is_(None)]
        case ThreadState.UNANSWERED:
            return [threads.c.resolved_at.is_(None), ~_answered()]
        case ThreadState.UNREAD:
            return [_followed(account), _unread(account) > 0]
        case ThreadState.MINE:
            return [exists().where(_of_thread, posts.c.account == account)]
        case ThreadState.ALL:
            return []
        case _:
            assert_never(state)


def read_threads(
    connection: Connection, account: AccountId, wanted: ThreadFilter, most: int | None = None, after: int = 0
) -> tuple[Thread, ...]:
    """The threads that the account may see and the filter keeps, the one written in last first."""
    shown = select(func.count()).select_from(posts).where(_of_thread, _seen).correlate(threads).scalar_subquery()
    newest = select(func.max(posts.c.posted_at)).where(_of_thread).correlate(threads).scalar_subquery()
    query = (
        select(
            threads,
            sections.c.title.label("section_title"),
            sections.c.zone,
            _opening.c.number.label("first"),
            shown.label("shown"),
            newest.label("newest_at"),
            _unread(account).label("unread"),
            _answered().label("is_answered"),
        )
        .join_from(threads, sections)
        .join(_opening, _opening.c.number == _first())
        .where(*_conditions(account, wanted))
        .order_by(newest.desc(), threads.c.number.desc())
        .limit(most)
        .offset(after or None)
    )
    rows = fetch(connection, query)
    openings = _read_posts(connection, posts.c.number.in_([row.first for row in rows])) if rows else ()
    by_number = {post.number: post for post in openings}
    return tuple(_as_thread(row, by_number[row.first]) for row in rows)


def count_threads(connection: Connection, account: AccountId, wanted: ThreadFilter) -> int:
    query = select(func.count()).select_from(threads).join(_opening, _opening.c.number == _first())
    return int(fetch(connection, query.where(*_conditions(account, wanted)))[0][0])


def read_unread(connection: Connection, account: AccountId) -> Unread:
    if not fetch(connection, _sections_of(account).limit(1)):
        return Unread()
    return Unread(True, count_threads(connection, account, ThreadFilter(state=ThreadState.UNREAD)))


def read_open_sections(connection: Connection, account: AccountId) -> tuple[OpenSection, ...]:
    """The sections in which the account may write: those that are not archived."""
    query = select(sections).where(sections.c.id.in_(_sections_of(account)), sections.c.archived_at.is_(None))
    rows = fetch(connection, query.order_by(sections.c.title, sections.c.id))
    return tuple(OpenSection(SectionId(row.id), row.title) for row in rows)


def read_posts(connection: Connection, thread: int) -> tuple[Post, ...]:
    """All posts of a thread, in their order, hidden ones included."""
    return _read_posts(connection, posts.c.thread == thread)


def _read_posts(connection: Connection, which: ColumnElement[bool]) -> tuple[Post, ...]:
    query = select(posts, accounts.c.name).join_from(posts, accounts, isouter=True).where(which)
    rows: Sequence[Row[Any]] = fetch(connection, query.order_by(posts.c.number))
    return tuple(
        Post(
            number=row.number,
            account=None if row.account is None else AccountId(row.account),
            name=row.name or "",
            by_staff=row.by_staff,
            anonymous=row.anonymous,
            text=row.text,
            posted_at=moment(row.posted_at),
            edited_at=optional_moment(row.edited_at),
            is_endorsed=row.endorsed_at is not None,
            hidden_at=optional_moment(row.hidden_at),
            hidden_reason=row.hidden_reason or "",
        )
        for row in rows
    )


def _as_thread(row: Row[Any], opening: Post) -> Thread:
    return Thread(
        number=row.number,
        section=SectionId(row.section),
        section_title=row.section_title,
        zone=row.zone,
        asker=None if row.account is None else AccountId(row.account),
        page=row.page,
        block=row.block,
        content_hash=row.content_hash,
        audience=Audience(row.audience),
        is_resolved=row.resolved_at is not None,
        is_answered=row.is_answered,
        replies=row.shown - (opening.hidden_at is None),
        unread=row.unread,
        newest_at=moment(row.newest_at),
        opening=opening,
    )
