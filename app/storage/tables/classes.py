"""Sections: who is in them, what they assign, what was granted or decided, and the audit."""

from sqlalchemy import (
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)

from app.storage.tables.keys import account_key, assignment_key, metadata, section_key

# `zone` is the IANA name of the time zone in which the section's dates are set and read. `starts_on` and `ends_on`
# are ISO dates. `late_percent_a_day` is what an assignment takes off if it does not say otherwise. Whoever has
# `join_code` may become a learner here; NULL: nobody. Nothing changes in an archived section.
sections = Table(
    "sections",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("title", String(120), nullable=False),
    Column("made_at", Double, nullable=False),
    Column("zone", String(64), nullable=False, server_default="UTC"),
    Column("starts_on", String(10)),
    Column("ends_on", String(10)),
    Column("grace_minutes", Integer, nullable=False, server_default="0"),
    Column("late_percent_a_day", Integer, nullable=False, server_default="10"),
    Column("assistants_extend", Boolean, nullable=False, server_default=false()),
    Column("join_code", String(16), unique=True),
    Column("archived_at", Double),
)

INVITED, ACTIVE, DROPPED, LEFT = "invited", "active", "dropped", "left"

# `status` is "invited" until the person accepts: nobody gets rights over an account by adding it. Whom the staff took
# out is "dropped"; who went by themselves has "left", and only a new offer brings them back. Their work stays.
# `source` is "person", "csv", "code" or the id of an LTI context.
memberships = Table(
    "memberships",
    metadata,
    section_key(primary_key=True),
    account_key(primary_key=True),
    Column("role", String(16), nullable=False),
    Column("status", String(8), nullable=False),
    Column("added_at", Double, nullable=False),
    Column("source", String(32), nullable=False, server_default="person"),
    Column("dropped_at", Double),
)
Index("ix_memberships_account", memberships.c.account)

# Whom the school names in a section, by its own names and numbers. `account` is NULL until the person has joined;
# `token_hash` is of the link by which they say who they are. `platform_ids`: JSON, platform -> its id of the person.
roster = Table(
    "roster",
    metadata,
    Column("id", String(32), primary_key=True),
    section_key(),
    account_key(nullable=True),
    Column("name", String(120), nullable=False),
    Column("email", String(254)),
    Column("student_number", String(64)),
    Column("login", String(120)),
    Column("platform_ids", Text, nullable=False, server_default="{}"),
    Column("source", String(32), nullable=False),
    Column("token_hash", String(64), unique=True),
    Column("added_at", Double, nullable=False),
    Column("dropped_at", Double),
    UniqueConstraint("section", "account"),
)
Index("ix_roster_account", roster.c.account)

# What a section's learners are to do. `kind` is "exercise", "retrieval" or "predictions", `target` the exercise's or
# the chapter's name. `counts` says what earns credit, "right" or "done"; `credit` says whether a part of the cases
# earns a part, "share", or nothing, "whole". A NULL `late_percent_a_day` is the section's; NULL `attempts`: no limit.
assignments = Table(
    "assignments",
    metadata,
    Column("id", String(32), primary_key=True),
    section_key(),
    Column("kind", String(16), nullable=False),
    Column("target", String(80), nullable=False),
    Column("counts", String(8), nullable=False, server_default="right"),
    Column("credit", String(8), nullable=False, server_default="whole"),
    Column("title", String(200), nullable=False),
    Column("points", Double, nullable=False),
    Column("opens_at", Double),
    Column("due_at", Double),
    Column("closes_at", Double),
    Column("late_percent_a_day", Integer),
    Column("attempts", Integer),
    Column("position", Integer, nullable=False),
    Column("published", Boolean, nullable=False, server_default=false()),
    Column("made_at", Double, nullable=False),
    UniqueConstraint("section", "kind", "target"),
)

# What one person was granted beyond the section's dates. A NULL time or number changes nothing.
allowances = Table(
    "allowances",
    metadata,
    assignment_key(primary_key=True),
    account_key(primary_key=True),
    Column("due_at", Double),
    Column("closes_at", Double),
    Column("attempts", Integer),
    Column("excused", Boolean, nullable=False, server_default=false()),
    Column("reason", Text, nullable=False),
    Column("made_by", String(32), ForeignKey("accounts.id", ondelete="SET NULL")),
    Column("made_at", Double, nullable=False),
)
Index("ix_allowances_account", allowances.c.account)
Index("ix_allowances_made_by", allowances.c.made_by)

# Grades are computed; this is what a person decided instead. The newest row counts, and NULL points withdraw the
# decision. Nothing is updated.
overrides = Table(
    "overrides",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    assignment_key(),
    account_key(),
    Column("points", Double),
    Column("reason", Text, nullable=False),
    Column("made_by", String(32), ForeignKey("accounts.id", ondelete="SET NULL")),
    Column("made_at", Double, nullable=False),
    sqlite_autoincrement=True,
)
Index("ix_overrides_assignment_account", overrides.c.assignment, overrides.c.account, overrides.c.number)
Index("ix_overrides_account", overrides.c.account)
Index("ix_overrides_made_by", overrides.c.made_by)

# Only ever added to, until a line is as old as the settings say. Ids and not foreign keys, because a line outlives
# what it is about. Never code, never a secret.
audit = Table(
    "audit",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("at", Double, nullable=False),
    Column("actor", String(32)),
    Column("section", String(32)),
    Column("verb", String(40), nullable=False),
    Column("object", String(80), nullable=False),
    Column("before", Text),
    Column("after", Text),
    Column("reason", Text),
    Column("address_hash", String(16)),
    sqlite_autoincrement=True,
)
Index("ix_audit_section_number", audit.c.section, audit.c.number)
Index("ix_audit_object_number", audit.c.object, audit.c.number)
