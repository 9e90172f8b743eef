"""Questions about the course: asked by the members of a section, answered by its staff or by each other."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, delete, exists, func, insert, or_, select, update

from app.access.permissions import SECTION_STAFF, Role
from app.storage.audit import Actor, write_line
from app.storage.records import AccountId, SectionId
from app.storage.statements import change, fetch, insert_into
from app.storage.tables import ACTIVE, memberships, posts, sections, thread_reads, threads
from app.storage.thread_queries import (
    Audience,
    OpenSection,
    Post,
    Thread,
    ThreadFilter,
    Unread,
    count_threads,
    read_open_sections,
    read_posts,
    read_threads,
    read_unread,
)
from graders.ledger.database import Database

MAX_OPEN_OF_ONE = 30
"""How many questions that are not resolved one person may have in a section."""
MAX_POSTS = 200
"""In one thread. All of them are on one page."""


@dataclass(frozen=True)
class NewThread:
    """A question that is to be asked. Its place is named as in app.course.spots."""

    section: SectionId
    page: str
    block: str
    content_hash: str
    course_version: str
    audience: Audience


@dataclass(frozen=True)
class NewPost:
    account: AccountId
    text: str
    anonymous: bool
    at: datetime


class Threads:
    """Reads and writes threads. Each method is one transaction, or one read.

    What the account may not see does not exist for it: such a thread gives None, or False.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def ask(self, thread: NewThread, post: NewPost) -> int | None:
        """Store a question; returns its number. None if the account has too many open ones, or is not a member.

        The same text about the same place counts as a form that was sent twice, and is stored once.
        """
        return await self._database.write(_ask, thread, post)

    async def reply(self, section: SectionId, number: int, post: NewPost) -> int | None:
        """Add a post; returns its number. The same text twice in a row is stored once. None if the thread is full."""
        return await self._database.write(_reply, section, number, post)

    async def edit(self, section: SectionId, number: int, post: int, text: str, actor: Actor) -> bool:
        """Change a post of the actor's own that is not hidden."""
        return await self._database.write(_edit, section, number, post, text, actor)

    async def resolve(self, section: SectionId, number: int, *, resolved: bool, actor: Actor) -> bool:
        """Mark the thread as resolved, or as open again. The person who asked may do it, and staff."""
        return await self._database.write(_resolve, section, number, resolved, actor)

    async def endorse(self, section: SectionId, number: int, post: int, *, endorsed: bool, actor: Actor) -> bool:
        """Mark a post as right, or take that back. For staff: whether the actor is, the caller has decided."""
        return await self._database.write(_endorse, section, number, post, endorsed, actor)

    async def hide(self, section: SectionId, number: int, post: int, reason: str, actor: Actor) -> bool:
        """Hide a post from learners, or show it again if the reason is empty. Audited. For staff, as `endorse`."""
        return await self._database.write(_hide, section, number, post, reason, actor)

    async def find(self, section: SectionId, number: int, account: AccountId) -> Thread | None:
        wanted = ThreadFilter(section, number=number)
        found = await self._database.read(read_threads, account, wanted)
        return found[0] if found else None

    async def posts(self, number: int) -> tuple[Post, ...]:
        """The posts of a thread that `find` has found."""
        return await self._database.read(read_posts, number)

    async def list(self, account: AccountId, wanted: ThreadFilter, most: int, after: int = 0) -> tuple[Thread, ...]:
        return await self._database.read(read_threads, account, wanted, most, after)

    async def count(self, account: AccountId, wanted: ThreadFilter) -> int:
        return await self._database.read(count_threads, account, wanted)

    async def open_sections(self, account: AccountId) -> tuple[OpenSection, ...]:
        """Where the account may ask."""
        return await self._database.read(read_open_sections, account)

    async def unread(self, account: AccountId) -> Unread:
        return await self._database.read(read_unread, account)

    async def keep_read(self, number: int, account: AccountId, read_to: int) -> None:
        """Note that the account has been shown the posts up to this one."""
        await self._database.write(_keep_read, number, account, read_to)

    async def read_all(self, section: SectionId, account: AccountId) -> None:
        """Note that the account has seen everything that stands in the section now."""
        await self._database.write(_read_all, section, account)


def _ask(connection: Connection, thread: NewThread, post: NewPost) -> int | None:
    role = _role(connection, thread.section, post.account)
    if role is None:
        return None
    mine = (threads.c.account == post.account) & (threads.c.section == thread.section)
    here = (threads.c.page == thread.page) & (threads.c.block == thread.block)
    said = exists().where(posts.c.thread == threads.c.number, posts.c.text == post.text)
    if same := fetch(connection, select(threads.c.number).where(mine, here, said)):
        return int(same[0].number)
    open_ones = select(func.count()).select_from(threads).where(mine, threads.c.resolved_at.is_(None))
    if connection.execute(open_ones).scalar_one() >= MAX_OPEN_OF_ONE:
        return None
    row = {
        "section": thread.section,
        "account": post.account,
        "page": thread.page,
        "block": thread.block,
        "content_hash": thread.content_hash,
        "course_version": thread.course_version,
        "audience": thread.audience.value,
        "asked_at": post.at.timestamp(),
    }
    number: int = connection.execute(insert(threads).values(row).returning(threads.c.number)).scalar_one()
    _add(connection, number, post, role)
    return number


def _role(connection: Connection, section: SectionId, account: AccountId) -> Role | None:
    """What the account is in the section now; None if it is no active member, or if the section is archived."""
    mine = (memberships.c.section == section) & (memberships.c.account == account) & (memberships.c.status == ACTIVE)
    query = select(memberships.c.role).join_from(memberships, sections)
    found = fetch(connection, query.where(mine, sections.c.archived_at.is_(None)))
    return Role(found[0].role) if found else None


def _add(connection: Connection, thread: int, post: NewPost, role: Role) -> int:
    is_staff = role in SECTION_STAFF
    row = {
        "thread": thread,
        "account": post.account,
        "by_staff": is_staff,
        "anonymous": post.anonymous and not is_staff,
        "text": post.text,
        "posted_at": post.at.timestamp(),
    }
    number: int = connection.execute(insert(posts).values(row).returning(posts.c.number)).scalar_one()
    return number


def _find(connection: Connection, section: SectionId, number: int, account: AccountId) -> Thread | None:
    found = read_threads(connection, account, ThreadFilter(section, number=number))
    return found[0] if found else None


def _reply(connection: Connection, section: SectionId, number: int, post: NewPost) -> int | None:
    role = _role(connection, section, post.account)
    if role is None or _find(connection, section, number, post.account) is None:
        return None
    written = read_posts(connection, number)
    if written and (written[-1].account, written[-1].text) == (post.account, post.text):
        return written[-1].number
    if len(written) >= MAX_POSTS:
        return None
    return _add(connection, number, post, role)


def _edit(connection: Connection, section: SectionId, number: int, post: int, text: str, actor: Actor) -> bool:
    if actor.account is None or _role(connection, section, actor.account) is None:
        return False
    if _find(connection, section, number, actor.account) is None:
        return False
    mine = (posts.c.number == post) & (posts.c.thread == number) & (posts.c.account == actor.account)
    changed = update(posts).where(mine, posts.c.hidden_at.is_(None), posts.c.text != text)
    change(connection, changed.values(text=text, edited_at=actor.at.timestamp(), endorsed_at=None))
    return bool(fetch(connection, select(posts.c.number).where(mine, posts.c.hidden_at.is_(None))))


def _resolve(connection: Connection, section: SectionId, number: int, resolved: bool, actor: Actor) -> bool:
    if actor.account is None:
        return False
    role, thread = _role(connection, section, actor.account), _find(connection, section, number, actor.account)
    is_theirs = thread is not None and thread.asker == actor.account
    if thread is None or role is None or not (is_theirs or role in SECTION_STAFF):
        return False
    at = actor.at.timestamp() if resolved else None
    return change(connection, update(threads).where(threads.c.number == number).values(resolved_at=at)) == 1


def _this_post(section: SectionId, number: int, post: int) -> ColumnElement[bool]:
    within = select(threads.c.number).where(threads.c.section == section, threads.c.number == number)
    return (posts.c.number == post) & posts.c.thread.in_(within)


def _endorse(
    connection: Connection, section: SectionId, number: int, post: int, endorsed: bool, actor: Actor
) -> bool:
    at = actor.at.timestamp() if endorsed else None
    this = _this_post(section, number, post) & posts.c.hidden_at.is_(None)
    return change(connection, update(posts).where(this).values(endorsed_at=at)) == 1


def _hide(connection: Connection, section: SectionId, number: int, post: int, reason: str, actor: Actor) -> bool:
    is_hidden = posts.c.hidden_at.is_not(None)
    this = _this_post(section, number, post) & (~is_hidden if reason else is_hidden)
    at = actor.at.timestamp() if reason else None
    values = {"hidden_at": at, "hidden_reason": reason or None, "endorsed_at": None}
    if change(connection, update(posts).where(this).values(values)) == 0:
        return False
    verb = "hide a post" if reason else "show a post again"
    write_line(connection, actor, verb, f"post {post} of question {number}", section=section, reason=reason or None)
    return True


def _keep_read(connection: Connection, number: int, account: AccountId, read_to: int) -> None:
    statement = insert_into(connection, thread_reads).values(thread=number, account=account, read_to=read_to)
    newer = statement.excluded.read_to > thread_reads.c.read_to
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["thread", "account"], set_={"read_to": statement.excluded.read_to}, where=newer
        )
    )


def _read_all(connection: Connection, section: SectionId, account: AccountId) -> None:
    newest = select(posts.c.thread, func.max(posts.c.number).label("newest")).group_by(posts.c.thread)
    newest = newest.where(posts.c.thread.in_(select(threads.c.number).where(threads.c.section == section)))
    for row in fetch(connection, newest):
        _keep_read(connection, row.thread, account, row.newest)


def forget_posts(connection: Connection, account: AccountId) -> None:
    """Delete what an account wrote, except where somebody else wrote later in the same thread.

    Those posts stay without their writer once the account is deleted. A thread goes when nobody is left in it.
    """
    later = posts.alias("later")
    by_another = or_(later.c.account.is_(None), later.c.account != account)
    answered = exists().where(later.c.thread == posts.c.thread, later.c.number > posts.c.number, by_another)
    change(connection, delete(posts).where(posts.c.account == account, ~answered))
    others = exists().where(
        posts.c.thread == threads.c.number, posts.c.account.is_not(None), posts.c.account != account
    )
    change(connection, delete(threads).where(~others))
