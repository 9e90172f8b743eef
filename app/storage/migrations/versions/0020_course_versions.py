"""A prediction and an answer keep the version of the course that their learner saw."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

TABLES = ("predictions", "answers")


def upgrade() -> None:
    for table in TABLES:
        op.add_column(table, sa.Column("course_version", sa.String(16)))


def downgrade() -> None:
    for table in TABLES:
        op.drop_column(table, "course_version")
