"""The eighth format: what people said of runs, and an index of the simulated ones. Before, that was not possible."""

import sqlalchemy as sa
from alembic import op

from nfvbed.store.migrations.triggers import append_only

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Add the table, keep its rows from being changed, and add the indexes."""
    op.create_table(
        "annotation",
        sa.Column("id", ROW_ID, primary_key=True),
        sa.Column("run", sa.String(36), sa.ForeignKey("run.id"), nullable=False),
        sa.Column("mark", sa.String(20), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("by", sa.String(120), nullable=False),
        sa.Column("at", sa.String(40), nullable=False),
    )
    op.create_index("ix_annotation_run", "annotation", ["run", "mark", "id"])
    op.create_index("ix_cell_simulated", "cell", ["simulated", "run"])
    for statement in append_only(op.get_context().dialect.name, "annotation"):
        op.execute(statement)
