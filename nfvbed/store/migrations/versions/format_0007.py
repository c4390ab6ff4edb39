"""The seventh format: results know their place in a run, and indexes keep pages quick over a million trials."""

import sqlalchemy as sa
from alembic import op

from nfvbed.store.migrations.triggers import appendable_free, unchanged

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Number the results as they were added, and add the indexes."""
    dialect = op.get_context().dialect.name
    op.add_column("result", sa.Column("position", sa.Integer, nullable=False, server_default="0"))
    if dialect == "sqlite":
        for statement in appendable_free(dialect, "result"):
            op.execute(statement)
        # Other engines have no results of an older format: nothing wrote to them.
        op.execute(
            "UPDATE result SET position = "
            "(SELECT count(*) FROM result AS other WHERE other.run = result.run AND other.rowid < result.rowid)"
        )
        for statement in unchanged(dialect, "result"):
            op.execute(statement)
    op.create_index("ix_run_started_at", "run", ["started_at", "id"])
    op.create_index("ix_cell_place", "cell", ["role", "variant", "topology", "run", "status"])
    op.create_index("ix_trial_cell", "trial", ["run", "cell", "status"])
