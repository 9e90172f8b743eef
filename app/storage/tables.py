"""The website's tables: learners and their work. Submissions are in the ledger's tables.

A learner is a random id; nothing here says who they are. Times are seconds since 1970, UTC.
Deleting a learner deletes all their rows (the foreign keys cascade).
"""

from sqlalchemy import Boolean, Column, Double, ForeignKey, Index, Integer, MetaData, String, Table, Text

from graders.ledger.tables import NAMING_CONVENTION

metadata = MetaData(naming_convention=NAMING_CONVENTION)


def _learner(*, primary_key: bool = False) -> "Column[str]":
    return Column(
        "learner",
        String(64),
        ForeignKey("learners.id", ondelete="CASCADE"),
        primary_key=primary_key,
        nullable=False,
    )


learners = Table(
    "learners",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("created_at", Double, nullable=False),
)

# A learner's session in one browser: the hash of a random token in its cookie. Deleting the row revokes it.
sessions = Table(
    "sessions",
    metadata,
    Column("token_hash", String(64), primary_key=True),
    _learner(),
    Column("made_at", Double, nullable=False),
    Column("seen_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
)
Index("ix_sessions_learner", sessions.c.learner)

# Committed before the truth is shown: nothing updates `option` or `confidence`. A NULL option is "I don't know".
predictions = Table(
    "predictions",
    metadata,
    _learner(primary_key=True),
    Column("chapter", String(80), primary_key=True),
    Column("predict", String(80), primary_key=True),
    Column("option", String(80)),
    Column("confidence", String(16)),
    Column("committed_at", Double, nullable=False),
    Column("resolved_at", Double),
    Column("content_hash", String(16)),
)

# Every attempt is a row. `response` is JSON as the form sent it. An open answer's `ticked` rubric points arrive
# later, and `correct` is NULL until then.
answers = Table(
    "answers",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    _learner(),
    Column("chapter", String(80), nullable=False),
    Column("question", String(80), nullable=False),
    Column("response", Text, nullable=False),
    Column("correct", Boolean),
    Column("ticked", String(200)),
    Column("answered_at", Double, nullable=False),
    Column("content_hash", String(16)),
    sqlite_autoincrement=True,
)
Index("ix_answers_learner_chapter", answers.c.learner, answers.c.chapter, answers.c.number)

drafts = Table(
    "drafts",
    metadata,
    _learner(primary_key=True),
    Column("key", String(200), primary_key=True),
    Column("text", Text, nullable=False),
    Column("saved_at", Double, nullable=False),
)

# The ledger keeps a cell's run for an hour; this table keeps the fact that it happened.
cell_runs = Table(
    "cell_runs",
    metadata,
    Column("id", String(32), primary_key=True),
    _learner(),
    Column("chapter", String(80), nullable=False),
    Column("cell", String(80), nullable=False),
    Column("started_at", Double, nullable=False),
)
Index("ix_cell_runs_learner_chapter", cell_runs.c.learner, cell_runs.c.chapter, cell_runs.c.cell)

readings = Table(
    "readings",
    metadata,
    _learner(primary_key=True),
    Column("chapter", String(80), primary_key=True),
    Column("anchor", String(200), nullable=False),
    Column("seen_at", Double, nullable=False),
    Column("finished_at", Double),
)

hints = Table(
    "hints",
    metadata,
    _learner(primary_key=True),
    Column("exercise", String(80), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("opened_at", Double, nullable=False),
)
