"""The sixth format: what people said of steps in series of runs. Before, that was not possible."""

import sqlalchemy as sa
from alembic import op

from nfvbed.store.migrations.triggers import append_only

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Add the table, and keep its rows from being changed."""
    op.create_table(
        "acknowledgement",
        sa.Column("id", ROW_ID, primary_key=True),
        sa.Column("setting", sa.String(400), nullable=False),
        sa.Column("run", sa.String(36), sa.ForeignKey("run.id"), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("by", sa.String(120), nullable=False),
        sa.Column("at", sa.String(40), nullable=False),
        sa.Column("expires_at", sa.String(40), nullable=False),
    )
    for statement in append_only(op.get_context().dialect.name, "acknowledgement"):
        op.execute(statement)
