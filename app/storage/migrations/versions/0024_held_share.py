"""A submission keeps how much of its bound of memory a passed program held, for the ranking of a lab."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("submissions", sa.Column("held_share", sa.Double))
    where = sa.text("kind = 'grade' AND held_share IS NOT NULL")
    columns = ["exercise", "learner", "held_share"]
    op.create_index("ix_submissions_held", "submissions", columns, sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    op.drop_index("ix_submissions_held", "submissions")
    op.drop_column("submissions", "held_share")
