"""The first format: runs, cells, trials, histograms, samples, facts and blobs; rows that cannot be changed."""

import sqlalchemy as sa
from alembic import op

from nfvbed.store.migrations.triggers import append_only, run_may_end, settled_once

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Create everything."""
    _create_runs()
    _create_trials()
    _create_notes()
    dialect = op.get_context().dialect.name
    for table in ("blob", "trial", "histogram", "sample", "fact"):
        for statement in append_only(dialect, table):
            op.execute(statement)
    for statement in (*settled_once(dialect), *run_may_end(dialect)):
        op.execute(statement)


def _create_runs() -> None:
    op.create_table(
        "blob",
        sa.Column("sha256", sa.String(64), primary_key=True),
        sa.Column("kind", sa.String(40), nullable=False),
        sa.Column("json", sa.Text, nullable=False),
    )
    op.create_table("experiment", sa.Column("name", sa.String(64), primary_key=True))
    op.create_table(
        "run",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("experiment", sa.String(64), sa.ForeignKey("experiment.name"), nullable=False),
        sa.Column("site", sa.String(64), nullable=False),
        sa.Column("host_hash", sa.String(64), nullable=False),
        sa.Column("plan_hash", sa.String(64), nullable=False),
        sa.Column("doctor_hash", sa.String(64), nullable=False),
        sa.Column("started_at", sa.String(40), nullable=False),
        sa.Column("ended_at", sa.String(40)),
        sa.Column("status", sa.String(20)),
        sa.Column("reason", sa.Text, nullable=False),
    )
    op.create_table(
        "cell",
        sa.Column("run", sa.String(36), sa.ForeignKey("run.id"), primary_key=True),
        sa.Column("id", sa.String(120), primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("variant", sa.String(64), nullable=False),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("topology", sa.String(20), nullable=False),
        sa.Column("frame_size", sa.String(8), nullable=False),
        sa.Column("flows", sa.Integer, nullable=False),
        sa.Column("bidirectional", sa.Boolean, nullable=False),
        sa.Column("port_kind", sa.String(20), nullable=False),
        sa.Column("config_hash", sa.String(64), nullable=False),
        sa.Column("rig_hash", sa.String(64), nullable=False),
        sa.Column("simulated", sa.Boolean, nullable=False),
        sa.Column("status", sa.String(20)),
        sa.Column("reason", sa.Text, nullable=False),
    )


def _create_trials() -> None:
    op.create_table(
        "trial",
        sa.Column("run", sa.String(36), primary_key=True),
        sa.Column("sequence", sa.Integer, primary_key=True),
        sa.Column("format", sa.Integer, nullable=False),
        sa.Column("cell", sa.String(120), nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("preset", sa.String(20), nullable=False),
        sa.Column("started_at", sa.String(40), nullable=False),
        sa.Column("intended_load_pps", sa.BigInteger),
        sa.Column("offered_load_pps", sa.BigInteger, nullable=False),
        sa.Column("forwarded_rate_pps", sa.BigInteger, nullable=False),
        sa.Column("directions", sa.JSON, nullable=False),
        sa.Column("duration_ns", sa.BigInteger, nullable=False),
        sa.Column("cpu", sa.JSON, nullable=False),
        sa.Column("generator_busy_ns", sa.BigInteger, nullable=False),
        sa.Column("cost", sa.JSON),
        sa.Column("switch_counters", sa.JSON, nullable=False),
        sa.Column("core_distance_ns", sa.JSON),
        sa.Column("engine", sa.JSON, nullable=False),
        sa.Column("simulated", sa.Boolean, nullable=False),
        sa.Column("warnings", sa.JSON, nullable=False),
        sa.Column("status", sa.String(20), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(["run", "cell"], ["cell.run", "cell.id"]),
    )
    op.create_table(
        "histogram",
        sa.Column("run", sa.String(36), primary_key=True),
        sa.Column("sequence", sa.Integer, primary_key=True),
        sa.Column("direction", sa.Integer, primary_key=True),
        sa.Column("encoded", sa.Text),
        sa.ForeignKeyConstraint(["run", "sequence"], ["trial.run", "trial.sequence"]),
    )


def _create_notes() -> None:
    op.create_table(
        "sample",
        sa.Column("id", ROW_ID, primary_key=True),
        sa.Column("run", sa.String(36), nullable=False),
        sa.Column("sequence", sa.Integer, nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("at_ns", sa.BigInteger, nullable=False),
        sa.Column("value", sa.Double, nullable=False),
        sa.ForeignKeyConstraint(["run", "sequence"], ["trial.run", "trial.sequence"]),
    )
    op.create_table(
        "fact",
        sa.Column("id", ROW_ID, primary_key=True),
        sa.Column("run", sa.String(36), sa.ForeignKey("run.id"), nullable=False, index=True),
        sa.Column("cell", sa.String(120)),
        sa.Column("round", sa.Integer),
        sa.Column("step", sa.String(120), nullable=False),
        sa.Column("duration_ns", sa.BigInteger, nullable=False),
        sa.Column("detail", sa.JSON, nullable=False),
    )
