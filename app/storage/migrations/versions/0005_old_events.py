"""Events can be found by their age, so that they need not be kept for ever."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    where = sa.text("kind != 'finished'")
    op.create_index("ix_events_passing", "events", ["at"], sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    op.drop_index("ix_events_passing", "events")
