"""The table of who sees the course as somebody else at this moment."""

from sqlalchemy import Column, Double, ForeignKey, Index, String, Table

from app.storage.tables.keys import account_key, metadata, section_key

# One for a session, and gone with it. `account` is whom its person sees the course as; NULL is a learner of the
# section who has done nothing, at `at`.
viewings = Table(
    "viewings",
    metadata,
    Column("token_hash", String(64), ForeignKey("sessions.token_hash", ondelete="CASCADE"), primary_key=True),
    section_key(),
    account_key(nullable=True),
    Column("at", Double),
    Column("expires_at", Double, nullable=False),
)
Index("ix_viewings_section", viewings.c.section)
Index("ix_viewings_account", viewings.c.account)
