"""The third format: results of tests that are more than single trials. Runs of earlier ones have none."""

import sqlalchemy as sa
from alembic import op

from nfvbed.store.migrations.triggers import append_only

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the table, and keep its rows from being changed."""
    op.create_table(
        "result",
        sa.Column("run", sa.String(36), primary_key=True),
        sa.Column("cell", sa.String(120), primary_key=True),
        sa.Column("round", sa.Integer, primary_key=True),
        sa.Column("test", sa.String(64), primary_key=True),
        sa.Column("format", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("placement_class", sa.String(20), nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("warnings", sa.JSON, nullable=False),
        sa.Column("first_sequence", sa.Integer),
        sa.Column("last_sequence", sa.Integer),
        sa.Column("started_at", sa.String(40), nullable=False),
        sa.Column("ended_at", sa.String(40), nullable=False),
        sa.Column("simulated", sa.Boolean, nullable=False),
        sa.Column("payload", sa.JSON, nullable=False),
        sa.ForeignKeyConstraint(["run", "cell"], ["cell.run", "cell.id"]),
    )
    for statement in append_only(op.get_context().dialect.name, "result"):
        op.execute(statement)
