"""The table of what staff write about a submission, for its learner to read."""

from sqlalchemy import Column, Double, ForeignKey, Index, Integer, String, Table, Text

from app.storage.tables.keys import learner_key, metadata, section_key

# About a submission of `learner`, and gone with them. A NULL `line` is the whole of it. `read_at` is when the
# learner was first shown it. `made_by` is NULL once the writer is erased: what they wrote stays with the submission.
comments = Table(
    "comments",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    section_key(),
    learner_key(),
    Column("submission", String(32), nullable=False),
    Column("exercise", String(80), nullable=False),
    Column("line", Integer),
    Column("text", Text, nullable=False),
    Column("made_by", String(32), ForeignKey("accounts.id", ondelete="SET NULL")),
    Column("made_at", Double, nullable=False),
    Column("edited_at", Double),
    Column("read_at", Double),
    sqlite_autoincrement=True,
)
Index("ix_comments_learner_submission", comments.c.learner, comments.c.submission)
Index("ix_comments_section", comments.c.section)
Index("ix_comments_made_by", comments.c.made_by)
