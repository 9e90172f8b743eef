"""A learner may be nameless: the outcomes of an erased account, kept for statistics."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("learners") as learners:
        learners.add_column(sa.Column("is_nameless", sa.Boolean, nullable=False, server_default=sa.false()))


def downgrade() -> None:
    with op.batch_alter_table("learners") as learners:
        learners.drop_column("is_nameless")
