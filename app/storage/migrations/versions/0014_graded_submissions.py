"""An index with all that grades are made of."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

COLUMNS = [
    "exercise",
    "learner",
    "number",
    "submitted_at",
    "outcome",
    "cases_passed",
    "cases_total",
    "id",
    "kind",
    "state",
]


def upgrade() -> None:
    where = sa.text("kind = 'grade' AND state = 'finished'")
    op.create_index("ix_submissions_graded", "submissions", COLUMNS, sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    op.drop_index("ix_submissions_graded", "submissions")
