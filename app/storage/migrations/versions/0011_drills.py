"""Graphs that were drawn for drills, and which learner was asked which of them."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "drill_graphs",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("drill", sa.String(80), nullable=False),
        sa.Column("digest", sa.String(16), nullable=False),
        sa.Column("level", sa.Integer, nullable=False),
        sa.Column("seed", sa.Integer, nullable=False),
        sa.Column("values", sa.Text, nullable=False),
        sa.Column("trace", sa.Text, nullable=False),
        sa.Column("nodes", sa.Integer, nullable=False),
        sa.Column("torch", sa.String(40), nullable=False),
        sa.Column("made_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_drill_graphs"),
    )
    op.create_index("ix_drill_graphs_drill_level", "drill_graphs", ["drill", "level", "made_at"])
    op.create_table(
        "drill_asks",
        sa.Column("learner", sa.String(64), nullable=False),
        sa.Column("graph", sa.String(32), nullable=False),
        sa.Column("asked_at", sa.Double, nullable=False),
        sa.Column("answered_at", sa.Double),
        sa.PrimaryKeyConstraint("learner", "graph", name="pk_drill_asks"),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name="fk_drill_asks_learner_learners", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["graph"], ["drill_graphs.id"], name="fk_drill_asks_graph_drill_graphs", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_drill_asks_graph", "drill_asks", ["graph"])


def downgrade() -> None:
    op.drop_table("drill_asks")
    op.drop_table("drill_graphs")
