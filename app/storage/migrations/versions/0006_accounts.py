"""Accounts with passwords and linked identities, sessions of accounts, sections with roles, one-time links, audit."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_accounts()
    with op.batch_alter_table("sessions") as sessions:
        sessions.add_column(sa.Column("account", sa.String(32)))
        sessions.add_column(sa.Column("authenticated_at", sa.Double))
        sessions.add_column(sa.Column("method", sa.String(80)))
        sessions.add_column(sa.Column("user_agent", sa.String(120)))
        sessions.add_column(sa.Column("unclaimed", sa.String(64)))
        sessions.create_foreign_key(
            "fk_sessions_account_accounts", "accounts", ["account"], ["id"], ondelete="CASCADE"
        )
        sessions.create_foreign_key(
            "fk_sessions_unclaimed_learners", "learners", ["unclaimed"], ["id"], ondelete="SET NULL"
        )
        sessions.create_index("ix_sessions_account", ["account"])
        sessions.create_index("ix_sessions_unclaimed", ["unclaimed"])
    _create_ways_to_sign_in()
    _create_traces_of_signing_in()
    _create_sections()
    _create_audit()


def _create_accounts() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("learner", sa.String(64), nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("name_key", sa.String(80)),
        sa.Column("is_operator", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("terms_digest", sa.String(12)),
        sa.Column("made_at", sa.Double, nullable=False),
        sa.Column("closed_at", sa.Double),
        sa.PrimaryKeyConstraint("id", name="pk_accounts"),
        sa.UniqueConstraint("learner", name="uq_accounts_learner"),
        sa.UniqueConstraint("name_key", name="uq_accounts_name_key"),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name="fk_accounts_learner_learners", ondelete="CASCADE"
        ),
    )


def _of_account(table: str) -> sa.ForeignKeyConstraint:
    name = f"fk_{table}_account_accounts"
    return sa.ForeignKeyConstraint(["account"], ["accounts.id"], name=name, ondelete="CASCADE")


def _create_ways_to_sign_in() -> None:
    op.create_table(
        "credentials",
        sa.Column("account", sa.String(32), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("secret", sa.String(200), nullable=False),
        sa.Column("changed_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("account", "kind", name="pk_credentials"),
        _of_account("credentials"),
    )
    op.create_table(
        "identities",
        sa.Column("kind", sa.String(8), nullable=False),
        sa.Column("issuer", sa.String(255), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("account", sa.String(32), nullable=False),
        sa.Column("display", sa.String(120), nullable=False),
        sa.Column("linked_at", sa.Double, nullable=False),
        sa.Column("used_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("kind", "issuer", "subject", name="pk_identities"),
        _of_account("identities"),
    )
    op.create_index("ix_identities_account", "identities", ["account"])
    op.create_table(
        "one_time_links",
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("account", sa.String(32), nullable=False),
        sa.Column("made_at", sa.Double, nullable=False),
        sa.Column("expires_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name="pk_one_time_links"),
        _of_account("one_time_links"),
    )
    op.create_index("ix_one_time_links_account", "one_time_links", ["account"])


def _create_traces_of_signing_in() -> None:
    op.create_table(
        "sign_in_attempts",
        sa.Column("state_hash", sa.String(64), nullable=False),
        sa.Column("provider", sa.String(40), nullable=False),
        sa.Column("browser_hash", sa.String(64), nullable=False),
        sa.Column("nonce", sa.String(64), nullable=False),
        sa.Column("verifier", sa.String(128), nullable=False),
        sa.Column("target", sa.String(400), nullable=False),
        sa.Column("account", sa.String(32)),
        sa.Column("expires_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("state_hash", name="pk_sign_in_attempts"),
        _of_account("sign_in_attempts"),
    )
    op.create_table(
        "sign_in_failures",
        sa.Column("number", sa.Integer, autoincrement=True, nullable=False),
        sa.Column("key", sa.String(32), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_sign_in_failures"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_sign_in_failures_key_at", "sign_in_failures", ["key", "at"])


def _create_sections() -> None:
    op.create_table(
        "sections",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("title", sa.String(120), nullable=False),
        sa.Column("made_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sections"),
    )
    op.create_table(
        "memberships",
        sa.Column("section", sa.String(32), nullable=False),
        sa.Column("account", sa.String(32), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("status", sa.String(8), nullable=False),
        sa.Column("added_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("section", "account", name="pk_memberships"),
        sa.ForeignKeyConstraint(
            ["section"], ["sections.id"], name="fk_memberships_section_sections", ondelete="CASCADE"
        ),
        _of_account("memberships"),
    )
    op.create_index("ix_memberships_account", "memberships", ["account"])


def _create_audit() -> None:
    op.create_table(
        "audit",
        sa.Column("number", sa.Integer, autoincrement=True, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("actor", sa.String(32)),
        sa.Column("section", sa.String(32)),
        sa.Column("verb", sa.String(40), nullable=False),
        sa.Column("object", sa.String(80), nullable=False),
        sa.Column("before", sa.Text),
        sa.Column("after", sa.Text),
        sa.Column("address_hash", sa.String(16)),
        sa.PrimaryKeyConstraint("number", name="pk_audit"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_section_number", "audit", ["section", "number"])
    op.create_index("ix_audit_object_number", "audit", ["object", "number"])


def downgrade() -> None:
    """Accounts go, and their learners stay, with a session in each browser that is signed in."""
    for table in ("audit", "memberships", "sections", "sign_in_failures", "sign_in_attempts"):
        op.drop_table(table)
    for table in ("one_time_links", "identities", "credentials"):
        op.drop_table(table)
    with op.batch_alter_table("sessions") as sessions:
        sessions.drop_index("ix_sessions_unclaimed")
        sessions.drop_index("ix_sessions_account")
        sessions.drop_constraint("fk_sessions_unclaimed_learners", type_="foreignkey")
        sessions.drop_constraint("fk_sessions_account_accounts", type_="foreignkey")
        for column in ("account", "authenticated_at", "method", "user_agent", "unclaimed"):
            sessions.drop_column(column)
    op.drop_table("accounts")
