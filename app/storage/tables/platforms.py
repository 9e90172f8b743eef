"""Learning platforms that speak LTI: registrations, their courses and links, and the grades that go back to them."""

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
    true,
)

from app.storage.tables.keys import account_key, assignment_key, metadata


def _registration_key(*, primary_key: bool = False) -> "Column[str]":
    key = ForeignKey("lti_registrations.id", ondelete="CASCADE")
    return Column("registration", String(32), key, primary_key=primary_key, nullable=False)


def _context_key() -> "Column[str]":
    key = ForeignKey("lti_contexts.id", ondelete="CASCADE")
    return Column("context", String(32), key, primary_key=True)


# A platform may have several registrations here, with a client id each. An empty `token_audience` is `token_url`.
# `frame_origins`: JSON, who may show our pages in a frame.
lti_registrations = Table(
    "lti_registrations",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("name", String(80), nullable=False),
    Column("issuer", String(255), nullable=False),
    Column("client_id", String(255), nullable=False),
    Column("auth_url", String(1000), nullable=False),
    Column("token_url", String(1000), nullable=False),
    Column("token_audience", String(1000), nullable=False),
    Column("jwks_url", String(1000), nullable=False),
    Column("frame_origins", Text, nullable=False),
    Column("is_open", Boolean, nullable=False, server_default=true()),
    Column("made_at", Double, nullable=False),
    UniqueConstraint("issuer", "client_id"),
)

# An installation of the tool at a platform. A NULL `allowed_at` waits for an operator's yes.
lti_deployments = Table(
    "lti_deployments",
    metadata,
    _registration_key(primary_key=True),
    Column("deployment_id", String(255), primary_key=True),
    Column("seen_at", Double, nullable=False),
    Column("allowed_at", Double),
)

# The site's own keys. `locked` is the private key, encrypted with one derived from the site's secret.
lti_keys = Table(
    "lti_keys",
    metadata,
    Column("kid", String(64), primary_key=True),
    Column("locked", Text, nullable=False),
    Column("made_at", Double, nullable=False),
    Column("signs_from", Double, nullable=False),
)

# A launch that a platform was asked to confirm. `asked`: JSON, what it was begun with, so that it can begin again.
lti_logins = Table(
    "lti_logins",
    metadata,
    Column("state_hash", String(64), primary_key=True),
    _registration_key(),
    Column("browser_hash", String(64), nullable=False),
    Column("nonce", String(64), nullable=False),
    Column("asked", Text, nullable=False),
    Column("expires_at", Double, nullable=False),
)

# A checked launch on its way from a frame to a page of its own, or from the picker back. `launch` is JSON.
lti_tickets = Table(
    "lti_tickets",
    metadata,
    Column("token_hash", String(64), primary_key=True),
    _registration_key(),
    Column("purpose", String(8), nullable=False),
    Column("launch", Text, nullable=False),
    Column("expires_at", Double, nullable=False),
)

# A course at a platform. `section` is NULL until one of its instructors says which section it is. An address is empty
# until a launch has named it. `scopes`: JSON.
lti_contexts = Table(
    "lti_contexts",
    metadata,
    Column("id", String(32), primary_key=True),
    _registration_key(),
    Column("deployment_id", String(255), nullable=False),
    Column("context_id", String(255), nullable=False),
    Column("title", String(255), nullable=False),
    Column("section", String(32), ForeignKey("sections.id", ondelete="SET NULL")),
    Column("memberships_url", String(1000), nullable=False),
    Column("lineitems_url", String(1000), nullable=False),
    Column("scopes", Text, nullable=False),
    Column("synced_at", Double),
    UniqueConstraint("registration", "deployment_id", "context_id"),
)
Index("ix_lti_contexts_section", lti_contexts.c.section)

# Who has come from a course, as what. `subject` is the platform's id of the person.
lti_members = Table(
    "lti_members",
    metadata,
    _context_key(),
    account_key(primary_key=True),
    Column("subject", String(255), nullable=False),
    Column("role", String(16), nullable=False),
    Column("launched_at", Double, nullable=False),
)
Index("ix_lti_members_account", lti_members.c.account)

# Where an assignment's grades go in a course, which may link the same assignment from several places.
lti_lineitems = Table(
    "lti_lineitems",
    metadata,
    _context_key(),
    assignment_key(primary_key=True),
    Column("url", String(1000), nullable=False),
)
Index("ix_lti_lineitems_assignment", lti_lineitems.c.assignment)

# The outbox: the newest grade of a person in a course, and how far it got. NULL `points`: a grade that was taken
# away. `state` is "due", "sent" or "stopped"; `stamp` is the newest timestamp that was sent, by the platform's rules
# never the same twice. A sender holds the row until `lease_until`.
lti_scores = Table(
    "lti_scores",
    metadata,
    Column("context", String(32), primary_key=True),
    Column("assignment", String(32), primary_key=True),
    account_key(primary_key=True),
    Column("points", Double),
    Column("maximum", Double, nullable=False),
    Column("state", String(8), nullable=False),
    Column("tries", Integer, nullable=False),
    Column("changed_at", Double, nullable=False),
    Column("due_at", Double, nullable=False),
    Column("lease_until", Double),
    Column("sent_at", Double),
    Column("stamp", Double),
    Column("problem", Text),
    ForeignKeyConstraint(
        ["context", "assignment"], ["lti_lineitems.context", "lti_lineitems.assignment"], ondelete="CASCADE"
    ),
)
Index("ix_lti_scores_state_due_at", lti_scores.c.state, lti_scores.c.due_at)
Index("ix_lti_scores_account", lti_scores.c.account)
