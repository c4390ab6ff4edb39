"""The fourth format: what a visit renewed. The table of samples goes, which nothing ever wrote (ADR 0011)."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, and drop the empty table."""
    op.add_column("trial", sa.Column("renewed", sa.String(20), nullable=True))
    op.drop_table("sample")
    if op.get_context().dialect.name == "postgresql":
        for event in ("update", "delete"):
            op.execute(f"DROP FUNCTION sample_no_{event}_refusal()")
