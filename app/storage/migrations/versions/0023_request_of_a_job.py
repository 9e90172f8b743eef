"""A job keeps the id of the request that submitted it, so that the grader's log can name it."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("submissions", sa.Column("request", sa.String(64)))


def downgrade() -> None:
    op.drop_column("submissions", "request")
