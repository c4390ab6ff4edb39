"""The tables of the store; the newest state that the migrations lead to.

Types are those that SQLite and PostgreSQL share. What is queried has a column; nested values are JSON.
"""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

METADATA = MetaData()

ROW_ID = BigInteger().with_variant(Integer, "sqlite")
"""SQLite numbers rows by itself only in a column of type INTEGER."""

BLOB = Table(
    "blob",
    METADATA,
    Column("sha256", String(64), primary_key=True),
    Column("kind", String(40), nullable=False),
    Column("json", Text, nullable=False),
)

EXPERIMENT = Table("experiment", METADATA, Column("name", String(64), primary_key=True))

RUN = Table(
    "run",
    METADATA,
    Column("id", String(36), primary_key=True),
    Column("experiment", String(64), ForeignKey("experiment.name"), nullable=False),
    Column("site", String(64), nullable=False),
    Column("host_hash", String(64), nullable=False),
    Column("plan_hash", String(64), nullable=False),
    Column("doctor_hash", String(64), nullable=False),
    Column("started_at", String(40), nullable=False),
    Column("ended_at", String(40)),
    Column("status", String(20)),
    Column("reason", Text, nullable=False),
    Index("ix_run_started_at", "started_at", "id"),
)

CELL = Table(
    "cell",
    METADATA,
    Column("run", String(36), ForeignKey("run.id"), primary_key=True),
    Column("id", String(120), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("variant", String(64), nullable=False),
    Column("role", String(20), nullable=False),
    Column("topology", String(20), nullable=False),
    Column("frame_size", String(8), nullable=False),
    Column("flows", Integer, nullable=False),
    Column("bidirectional", Boolean, nullable=False),
    Column("port_kind", String(20), nullable=False),
    Column("config_hash", String(64), nullable=False),
    Column("rig_hash", String(64), nullable=False),
    Column("simulated", Boolean, nullable=False),
    Column("status", String(20)),
    Column("reason", Text, nullable=False),
    Column("vnf", String(64), nullable=False, server_default=""),
    Column("vnf_resolved", String(64), nullable=False, server_default=""),
    Column("lacks", String(20)),
    Index("ix_cell_place", "role", "variant", "topology", "run", "status"),
    Index("ix_cell_simulated", "simulated", "run"),
)

TRIAL = Table(
    "trial",
    METADATA,
    Column("run", String(36), primary_key=True),
    Column("sequence", Integer, primary_key=True),
    Column("format", Integer, nullable=False),
    Column("cell", String(120), nullable=False),
    Column("round", Integer, nullable=False),
    Column("preset", String(20), nullable=False),
    Column("started_at", String(40), nullable=False),
    Column("intended_load_pps", BigInteger),
    Column("offered_load_pps", BigInteger, nullable=False),
    Column("forwarded_rate_pps", BigInteger, nullable=False),
    Column("directions", JSON, nullable=False),
    Column("duration_ns", BigInteger, nullable=False),
    Column("cpu", JSON, nullable=False),
    Column("generator_busy_ns", BigInteger, nullable=False),
    Column("cost", JSON(none_as_null=True)),
    Column("switch_counters", JSON, nullable=False),
    Column("core_distance_ns", JSON(none_as_null=True)),
    Column("engine", JSON, nullable=False),
    Column("simulated", Boolean, nullable=False),
    Column("warnings", JSON, nullable=False),
    Column("status", String(20), nullable=False),
    Column("reason", Text, nullable=False),
    Column("renewed", String(20)),
    ForeignKeyConstraint(["run", "cell"], ["cell.run", "cell.id"]),
    Index("ix_trial_cell", "run", "cell", "status"),
)

RESULT = Table(
    "result",
    METADATA,
    Column("run", String(36), primary_key=True),
    Column("cell", String(120), primary_key=True),
    Column("round", Integer, primary_key=True),
    Column("test", String(64), primary_key=True),
    Column("format", Integer, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("placement_class", String(20), nullable=False),
    Column("status", String(20), nullable=False),
    Column("reason", Text, nullable=False),
    Column("warnings", JSON, nullable=False),
    Column("first_sequence", Integer),
    Column("last_sequence", Integer),
    Column("started_at", String(40), nullable=False),
    Column("ended_at", String(40), nullable=False),
    Column("simulated", Boolean, nullable=False),
    Column("payload", JSON, nullable=False),
    Column("position", Integer, nullable=False, server_default="0"),
    ForeignKeyConstraint(["run", "cell"], ["cell.run", "cell.id"]),
)

HISTOGRAM = Table(
    "histogram",
    METADATA,
    Column("run", String(36), primary_key=True),
    Column("sequence", Integer, primary_key=True),
    Column("direction", Integer, primary_key=True),
    Column("encoded", Text),
    ForeignKeyConstraint(["run", "sequence"], ["trial.run", "trial.sequence"]),
)

FACT = Table(
    "fact",
    METADATA,
    Column("id", ROW_ID, primary_key=True),
    Column("run", String(36), ForeignKey("run.id"), nullable=False, index=True),
    Column("cell", String(120)),
    Column("round", Integer),
    Column("step", String(120), nullable=False),
    Column("duration_ns", BigInteger, nullable=False),
    Column("detail", JSON, nullable=False),
)

ACKNOWLEDGEMENT = Table(
    "acknowledgement",
    METADATA,
    Column("id", ROW_ID, primary_key=True),
    Column("setting", String(400), nullable=False),
    Column("run", String(36), ForeignKey("run.id"), nullable=False),
    Column("reason", Text, nullable=False),
    Column("by", String(120), nullable=False),
    Column("at", String(40), nullable=False),
    Column("expires_at", String(40), nullable=False),
)

ANNOTATION = Table(
    "annotation",
    METADATA,
    Column("id", ROW_ID, primary_key=True),
    Column("run", String(36), ForeignKey("run.id"), nullable=False),
    Column("mark", String(20), nullable=False),
    Column("text", Text, nullable=False),
    Column("by", String(120), nullable=False),
    Column("at", String(40), nullable=False),
    Index("ix_annotation_run", "run", "mark", "id"),
)
