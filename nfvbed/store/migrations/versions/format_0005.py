"""The fifth format: a cell names what it lacks. Before, the first words of its reason said that it lacks its VNF."""

import sqlalchemy as sa
from alembic import op

from nfvbed.store.migrations.triggers import CELL_VNF, cell_fixed, cell_free

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, and fill it from the reasons."""
    dialect = op.get_context().dialect.name
    for statement in cell_free(dialect):
        op.execute(statement)
    op.add_column("cell", sa.Column("lacks", sa.String(20), nullable=True))
    op.execute("UPDATE cell SET lacks = 'vnf' WHERE reason LIKE 'the VNF cannot run here:%'")
    for statement in cell_fixed(dialect, CELL_VNF):
        op.execute(statement)
