"""Sections have a zone and dates, a roster, and assignments with allowances and overrides; audit lines a reason."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("sections") as sections:
        sections.add_column(sa.Column("zone", sa.String(64), nullable=False, server_default="UTC"))
        sections.add_column(sa.Column("starts_on", sa.String(10)))
        sections.add_column(sa.Column("ends_on", sa.String(10)))
        sections.add_column(sa.Column("grace_minutes", sa.Integer, nullable=False, server_default="0"))
        sections.add_column(sa.Column("late_percent_a_day", sa.Integer, nullable=False, server_default="10"))
        sections.add_column(sa.Column("assistants_extend", sa.Boolean, nullable=False, server_default=sa.false()))
        sections.add_column(sa.Column("join_code", sa.String(16)))
        sections.add_column(sa.Column("archived_at", sa.Double))
        sections.create_unique_constraint("uq_sections_join_code", ["join_code"])
    with op.batch_alter_table("memberships") as memberships:
        memberships.add_column(sa.Column("source", sa.String(32), nullable=False, server_default="person"))
        memberships.add_column(sa.Column("dropped_at", sa.Double))
    with op.batch_alter_table("audit", table_kwargs={"sqlite_autoincrement": True}) as audit:
        audit.add_column(sa.Column("reason", sa.Text))
    _create_roster()
    _create_assignments()
    _create_allowances()
    _create_overrides()


def _key(table: str, column: str, target: str, ondelete: str = "CASCADE") -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{target}.id"], name=f"fk_{table}_{column}_{target}", ondelete=ondelete
    )


def _create_roster() -> None:
    op.create_table(
        "roster",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("section", sa.String(32), nullable=False),
        sa.Column("account", sa.String(32)),
        sa.Column("name", sa.String(120), nullable=False),
        sa.Column("email", sa.String(254)),
        sa.Column("student_number", sa.String(64)),
        sa.Column("login", sa.String(120)),
        sa.Column("platform_ids", sa.Text, nullable=False, server_default="{}"),
        sa.Column("source", sa.String(32), nullable=False),
        sa.Column("token_hash", sa.String(64)),
        sa.Column("added_at", sa.Double, nullable=False),
        sa.Column("dropped_at", sa.Double),
        sa.PrimaryKeyConstraint("id", name="pk_roster"),
        sa.UniqueConstraint("token_hash", name="uq_roster_token_hash"),
        sa.UniqueConstraint("section", "account", name="uq_roster_section_account"),
        _key("roster", "section", "sections"),
        _key("roster", "account", "accounts"),
    )
    op.create_index("ix_roster_account", "roster", ["account"])


def _create_assignments() -> None:
    op.create_table(
        "assignments",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("section", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("target", sa.String(80), nullable=False),
        sa.Column("counts", sa.String(8), nullable=False, server_default="right"),
        sa.Column("credit", sa.String(8), nullable=False, server_default="whole"),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("points", sa.Double, nullable=False),
        sa.Column("opens_at", sa.Double),
        sa.Column("due_at", sa.Double),
        sa.Column("closes_at", sa.Double),
        sa.Column("late_percent_a_day", sa.Integer),
        sa.Column("attempts", sa.Integer),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("published", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("made_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_assignments"),
        sa.UniqueConstraint("section", "kind", "target", name="uq_assignments_section_kind_target"),
        _key("assignments", "section", "sections"),
    )


def _create_allowances() -> None:
    op.create_table(
        "allowances",
        sa.Column("assignment", sa.String(32), nullable=False),
        sa.Column("account", sa.String(32), nullable=False),
        sa.Column("due_at", sa.Double),
        sa.Column("closes_at", sa.Double),
        sa.Column("attempts", sa.Integer),
        sa.Column("excused", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("made_by", sa.String(32)),
        sa.Column("made_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("assignment", "account", name="pk_allowances"),
        _key("allowances", "assignment", "assignments"),
        _key("allowances", "account", "accounts"),
        _key("allowances", "made_by", "accounts", "SET NULL"),
    )
    op.create_index("ix_allowances_account", "allowances", ["account"])
    op.create_index("ix_allowances_made_by", "allowances", ["made_by"])


def _create_overrides() -> None:
    op.create_table(
        "overrides",
        sa.Column("number", sa.Integer, autoincrement=True, nullable=False),
        sa.Column("assignment", sa.String(32), nullable=False),
        sa.Column("account", sa.String(32), nullable=False),
        sa.Column("points", sa.Double),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("made_by", sa.String(32)),
        sa.Column("made_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_overrides"),
        _key("overrides", "assignment", "assignments"),
        _key("overrides", "account", "accounts"),
        _key("overrides", "made_by", "accounts", "SET NULL"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_overrides_assignment_account", "overrides", ["assignment", "account", "number"])
    op.create_index("ix_overrides_account", "overrides", ["account"])
    op.create_index("ix_overrides_made_by", "overrides", ["made_by"])


def downgrade() -> None:
    for table in ("overrides", "allowances", "assignments", "roster"):
        op.drop_table(table)
    with op.batch_alter_table("audit", table_kwargs={"sqlite_autoincrement": True}) as audit:
        audit.drop_column("reason")
    with op.batch_alter_table("memberships") as memberships:
        memberships.drop_column("dropped_at")
        memberships.drop_column("source")
    with op.batch_alter_table("sections") as sections:
        sections.drop_constraint("uq_sections_join_code", type_="unique")
        for column in ("archived_at", "join_code", "assistants_extend", "late_percent_a_day", "grace_minutes"):
            sections.drop_column(column)
        for column in ("ends_on", "starts_on", "zone"):
            sections.drop_column(column)
