"""Learning platforms that speak LTI: registrations, keys, launches, courses, line items and the grades' outbox."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

TABLES = (
    "lti_registrations",
    "lti_deployments",
    "lti_keys",
    "lti_logins",
    "lti_tickets",
    "lti_contexts",
    "lti_members",
    "lti_lineitems",
    "lti_scores",
)


def _key(table: str, column: str, target: str, ondelete: str = "CASCADE") -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{target}.id"], name=f"fk_{table}_{column}_{target}", ondelete=ondelete
    )


def upgrade() -> None:
    _create_registrations()
    _create_launches()
    _create_contexts()
    _create_grades()


def _create_registrations() -> None:
    op.create_table(
        "lti_registrations",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("issuer", sa.String(255), nullable=False),
        sa.Column("client_id", sa.String(255), nullable=False),
        sa.Column("auth_url", sa.String(1000), nullable=False),
        sa.Column("token_url", sa.String(1000), nullable=False),
        sa.Column("token_audience", sa.String(1000), nullable=False),
        sa.Column("jwks_url", sa.String(1000), nullable=False),
        sa.Column("frame_origins", sa.Text, nullable=False),
        sa.Column("is_open", sa.Boolean, nullable=False, server_default=sa.true()),
        sa.Column("made_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_lti_registrations"),
        sa.UniqueConstraint("issuer", "client_id", name="uq_lti_registrations_issuer_client_id"),
    )
    op.create_table(
        "lti_deployments",
        sa.Column("registration", sa.String(32), nullable=False),
        sa.Column("deployment_id", sa.String(255), nullable=False),
        sa.Column("seen_at", sa.Double, nullable=False),
        sa.Column("allowed_at", sa.Double),
        sa.PrimaryKeyConstraint("registration", "deployment_id", name="pk_lti_deployments"),
        _key("lti_deployments", "registration", "lti_registrations"),
    )
    op.create_table(
        "lti_keys",
        sa.Column("kid", sa.String(64), nullable=False),
        sa.Column("locked", sa.Text, nullable=False),
        sa.Column("made_at", sa.Double, nullable=False),
        sa.Column("signs_from", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("kid", name="pk_lti_keys"),
    )


def _create_launches() -> None:
    op.create_table(
        "lti_logins",
        sa.Column("state_hash", sa.String(64), nullable=False),
        sa.Column("registration", sa.String(32), nullable=False),
        sa.Column("browser_hash", sa.String(64), nullable=False),
        sa.Column("nonce", sa.String(64), nullable=False),
        sa.Column("asked", sa.Text, nullable=False),
        sa.Column("expires_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("state_hash", name="pk_lti_logins"),
        _key("lti_logins", "registration", "lti_registrations"),
    )
    op.create_table(
        "lti_tickets",
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("registration", sa.String(32), nullable=False),
        sa.Column("purpose", sa.String(8), nullable=False),
        sa.Column("launch", sa.Text, nullable=False),
        sa.Column("expires_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name="pk_lti_tickets"),
        _key("lti_tickets", "registration", "lti_registrations"),
    )


def _create_contexts() -> None:
    op.create_table(
        "lti_contexts",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("registration", sa.String(32), nullable=False),
        sa.Column("deployment_id", sa.String(255), nullable=False),
        sa.Column("context_id", sa.String(255), nullable=False),
        sa.Column("title", sa.String(255), nullable=False),
        sa.Column("section", sa.String(32)),
        sa.Column("memberships_url", sa.String(1000), nullable=False),
        sa.Column("lineitems_url", sa.String(1000), nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("synced_at", sa.Double),
        sa.PrimaryKeyConstraint("id", name="pk_lti_contexts"),
        sa.UniqueConstraint(
            "registration",
            "deployment_id",
            "context_id",
            name="uq_lti_contexts_registration_deployment_id_context_id",
        ),
        _key("lti_contexts", "registration", "lti_registrations"),
        _key("lti_contexts", "section", "sections", "SET NULL"),
    )
    op.create_index("ix_lti_contexts_section", "lti_contexts", ["section"])
    op.create_table(
        "lti_members",
        sa.Column("context", sa.String(32), nullable=False),
        sa.Column("account", sa.String(32), nullable=False),
        sa.Column("subject", sa.String(255), nullable=False),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("launched_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("context", "account", name="pk_lti_members"),
        _key("lti_members", "context", "lti_contexts"),
        _key("lti_members", "account", "accounts"),
    )
    op.create_index("ix_lti_members_account", "lti_members", ["account"])


def _create_grades() -> None:
    op.create_table(
        "lti_lineitems",
        sa.Column("context", sa.String(32), nullable=False),
        sa.Column("assignment", sa.String(32), nullable=False),
        sa.Column("url", sa.String(1000), nullable=False),
        sa.PrimaryKeyConstraint("context", "assignment", name="pk_lti_lineitems"),
        _key("lti_lineitems", "context", "lti_contexts"),
        _key("lti_lineitems", "assignment", "assignments"),
    )
    op.create_index("ix_lti_lineitems_assignment", "lti_lineitems", ["assignment"])
    op.create_table(
        "lti_scores",
        sa.Column("context", sa.String(32), nullable=False),
        sa.Column("assignment", sa.String(32), nullable=False),
        sa.Column("account", sa.String(32), nullable=False),
        sa.Column("points", sa.Double),
        sa.Column("maximum", sa.Double, nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("changed_at", sa.Double, nullable=False),
        sa.Column("due_at", sa.Double, nullable=False),
        sa.Column("lease_until", sa.Double),
        sa.Column("sent_at", sa.Double),
        sa.Column("stamp", sa.Double),
        sa.Column("problem", sa.Text),
        sa.PrimaryKeyConstraint("context", "assignment", "account", name="pk_lti_scores"),
        sa.ForeignKeyConstraint(
            ["context", "assignment"],
            ["lti_lineitems.context", "lti_lineitems.assignment"],
            name="fk_lti_scores_context_assignment_lti_lineitems",
            ondelete="CASCADE",
        ),
        _key("lti_scores", "account", "accounts"),
    )
    op.create_index("ix_lti_scores_state_due_at", "lti_scores", ["state", "due_at"])
    op.create_index("ix_lti_scores_account", "lti_scores", ["account"])


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)
