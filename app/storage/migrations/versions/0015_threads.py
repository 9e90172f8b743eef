"""Members of a section ask questions about the course."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def _account(table: str) -> sa.ForeignKeyConstraint:
    name = f"fk_{table}_account_accounts"
    return sa.ForeignKeyConstraint(["account"], ["accounts.id"], name=name, ondelete="SET NULL")


def upgrade() -> None:
    _make_threads()
    _make_posts()
    _make_reads()


def _make_threads() -> None:
    op.create_table(
        "threads",
        sa.Column("number", sa.Integer, nullable=False, autoincrement=True),
        sa.Column("section", sa.String(32), nullable=False),
        sa.Column("account", sa.String(32)),
        sa.Column("page", sa.String(120), nullable=False),
        sa.Column("block", sa.String(200), nullable=False),
        sa.Column("content_hash", sa.String(16), nullable=False),
        sa.Column("course_version", sa.String(16), nullable=False),
        sa.Column("audience", sa.String(8), nullable=False),
        sa.Column("asked_at", sa.Double, nullable=False),
        sa.Column("resolved_at", sa.Double),
        sa.PrimaryKeyConstraint("number", name="pk_threads"),
        sa.ForeignKeyConstraint(["section"], ["sections.id"], name="fk_threads_section_sections", ondelete="CASCADE"),
        _account("threads"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_threads_section_page", "threads", ["section", "page"])
    op.create_index("ix_threads_account", "threads", ["account"])


def _make_posts() -> None:
    op.create_table(
        "posts",
        sa.Column("number", sa.Integer, nullable=False, autoincrement=True),
        sa.Column("thread", sa.Integer, nullable=False),
        sa.Column("account", sa.String(32)),
        sa.Column("by_staff", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("anonymous", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("posted_at", sa.Double, nullable=False),
        sa.Column("edited_at", sa.Double),
        sa.Column("endorsed_at", sa.Double),
        sa.Column("hidden_at", sa.Double),
        sa.Column("hidden_reason", sa.Text),
        sa.PrimaryKeyConstraint("number", name="pk_posts"),
        sa.ForeignKeyConstraint(["thread"], ["threads.number"], name="fk_posts_thread_threads", ondelete="CASCADE"),
        _account("posts"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_posts_thread", "posts", ["thread", "number"])
    op.create_index("ix_posts_account", "posts", ["account"])


def _make_reads() -> None:
    op.create_table(
        "thread_reads",
        sa.Column("thread", sa.Integer, nullable=False),
        sa.Column("account", sa.String(32), nullable=False),
        sa.Column("read_to", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("thread", "account", name="pk_thread_reads"),
        sa.ForeignKeyConstraint(
            ["thread"], ["threads.number"], name="fk_thread_reads_thread_threads", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["account"], ["accounts.id"], name="fk_thread_reads_account_accounts", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_thread_reads_account", "thread_reads", ["account"])


def downgrade() -> None:
    op.drop_table("thread_reads")
    op.drop_table("posts")
    op.drop_table("threads")
