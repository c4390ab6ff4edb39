"""Triggers that keep rows as they were written, for SQLite and PostgreSQL."""

REOPENABLE = "('failed', 'interrupted', 'blocked')"
"""How a run may have ended and still be resumed; `ok` is final."""

RUN_FIXED = ("id", "experiment", "site", "host_hash", "plan_hash", "doctor_hash", "started_at")
CELL_FIXED = ("run", "id", "position", "variant", "role", "topology", "frame_size", "flows", "bidirectional")
CELL_HASHES = ("port_kind", "config_hash", "rig_hash", "simulated")
CELL_VNF = ("vnf", "vnf_resolved")
"""Since format 2."""


def appendable_free(dialect: str, table: str) -> list[str]:
    """Return the statements that let rows be changed, for a migration that forbids it again."""
    if dialect == "sqlite":
        return [f"DROP TRIGGER {table}_no_update"]
    return [f"DROP TRIGGER {table}_no_update ON {table}", f"DROP FUNCTION {table}_no_update_refusal()"]


def unchanged(dialect: str, table: str) -> list[str]:
    """Return the triggers that refuse every UPDATE on a table."""
    return _refuse(dialect, f"{table}_no_update", f"UPDATE ON {table}", None, f"{table} is append-only")


def append_only(dialect: str, table: str) -> list[str]:
    """Return the triggers that refuse every UPDATE and DELETE on a table."""
    return [
        *unchanged(dialect, table),
        *_refuse(dialect, f"{table}_no_delete", f"DELETE ON {table}", None, f"{table} is append-only"),
    ]


def cell_fixed(dialect: str, further: tuple[str, ...] = ()) -> list[str]:
    """Return the triggers that let a cell get its status, and refuse any other change.

    Args:
        further: columns that formats after the first one have added.
    """
    changed = _changed((*CELL_FIXED, *CELL_HASHES, *further))
    settled = f"(OLD.status IS NOT NULL AND OLD.status NOT IN {REOPENABLE})"
    return _refuse(dialect, "cell_no_update", "UPDATE ON cell", f"{changed} OR {settled}", "a cell is settled once")


def cell_free(dialect: str) -> list[str]:
    """Return the statements that take that refusal away, for a migration that writes it again."""
    if dialect == "sqlite":
        return ["DROP TRIGGER cell_no_update"]
    return ["DROP TRIGGER cell_no_update ON cell", "DROP FUNCTION cell_no_update_refusal()"]


def settled_once(dialect: str) -> list[str]:
    """Return the triggers that let a cell get its status, and refuse a deletion and any other change."""
    return [
        *cell_fixed(dialect),
        *_refuse(dialect, "cell_no_delete", "DELETE ON cell", None, "cell is append-only"),
    ]


def run_may_end(dialect: str) -> list[str]:
    """Return the triggers that let a run end, be resumed and end again; all else is refused, and changes after `ok`."""
    changed = _changed(RUN_FIXED)
    settled = f"(OLD.status IS NOT NULL AND OLD.status NOT IN {REOPENABLE})"
    return [
        *_refuse(dialect, "run_no_update", "UPDATE ON run", f"{changed} OR {settled}", "a run that ended is final"),
        *_refuse(dialect, "run_no_delete", "DELETE ON run", None, "run is append-only"),
    ]


def _changed(columns: tuple[str, ...]) -> str:
    return "(" + " OR ".join(f"NEW.{column} <> OLD.{column}" for column in columns) + ")"


def _refuse(dialect: str, name: str, event: str, condition: str | None, message: str) -> list[str]:
    when = f"WHEN ({condition}) " if condition else ""
    if dialect == "sqlite":
        return [f"CREATE TRIGGER {name} BEFORE {event} {when}BEGIN SELECT RAISE(ABORT, '{message}'); END"]
    function = f"{name}_refusal"
    return [
        f"CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{message}' USING ERRCODE = 'integrity_constraint_violation'; END $$",
        f"CREATE TRIGGER {name} BEFORE {event} FOR EACH ROW {when}EXECUTE FUNCTION {function}()",
    ]
