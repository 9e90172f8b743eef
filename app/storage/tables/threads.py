"""The tables of questions about the course: threads, their posts, and how far each person has read."""

from sqlalchemy import Boolean, Column, Double, ForeignKey, Index, Integer, String, Table, Text, false

from app.storage.tables.keys import account_key, metadata, section_key


def _writer() -> "Column[str]":
    """A person who may be erased while what they wrote stays, because others answered it."""
    return Column("account", String(32), ForeignKey("accounts.id", ondelete="SET NULL"))


def _thread(*, primary_key: bool = False) -> "Column[int]":
    key = ForeignKey("threads.number", ondelete="CASCADE")
    return Column("thread", Integer, key, primary_key=primary_key, nullable=False, autoincrement=False)


# A question about one place of the course, which `page`, `block` and `content_hash` name as in reports. `audience` is
# "staff" or "section". `account` asked; NULL once the account is erased.
threads = Table(
    "threads",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    section_key(),
    _writer(),
    Column("page", String(120), nullable=False),
    Column("block", String(200), nullable=False),
    Column("content_hash", String(16), nullable=False),
    Column("course_version", String(16), nullable=False),
    Column("audience", String(8), nullable=False),
    Column("asked_at", Double, nullable=False),
    Column("resolved_at", Double),
    sqlite_autoincrement=True,
)
Index("ix_threads_section_page", threads.c.section, threads.c.page)
Index("ix_threads_account", threads.c.account)

# The first post of a thread is the question. `anonymous` hides the name from the other learners, never from staff.
# `by_staff`: the writer was staff of the section when they wrote. `hidden_reason` is what all readers are told.
posts = Table(
    "posts",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    _thread(),
    _writer(),
    Column("by_staff", Boolean, nullable=False, server_default=false()),
    Column("anonymous", Boolean, nullable=False, server_default=false()),
    Column("text", Text, nullable=False),
    Column("posted_at", Double, nullable=False),
    Column("edited_at", Double),
    Column("endorsed_at", Double),
    Column("hidden_at", Double),
    Column("hidden_reason", Text),
    sqlite_autoincrement=True,
)
Index("ix_posts_thread", posts.c.thread, posts.c.number)
Index("ix_posts_account", posts.c.account)

# `read_to` is the number of the newest post that the person has been shown.
thread_reads = Table(
    "thread_reads",
    metadata,
    _thread(primary_key=True),
    account_key(primary_key=True),
    Column("read_to", Integer, nullable=False),
)
Index("ix_thread_reads_account", thread_reads.c.account)
