"""The second format: a cell knows its VNFs. Cells of the first one have none."""

import sqlalchemy as sa
from alembic import op

from nfvbed.store.migrations.triggers import CELL_VNF, cell_fixed, cell_free

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns, and keep them from being changed."""
    dialect = op.get_context().dialect.name
    for statement in cell_free(dialect):
        op.execute(statement)
    for column in CELL_VNF:
        op.add_column("cell", sa.Column(column, sa.String(64), nullable=False, server_default=""))
    for statement in cell_fixed(dialect, CELL_VNF):
        op.execute(statement)
