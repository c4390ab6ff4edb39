"""The migrations lead to the tables that the code uses, whole or not at all."""

import io
import json
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, inspect, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.pool import NullPool

from nfvbed.records import MissingPrerequisite, Status
from nfvbed.store import Store, migrate
from nfvbed.store.connect import locate
from nfvbed.store.rows import cell_row
from nfvbed.store.schema import METADATA
from tests.stores import Stores
from tests.unit.conftest import UPGRADE
from tests.unit.store.store_records import RUN_ID, cell_record, result_record, run_record, trial_record


@pytest.fixture(autouse=True)
def _every_file_is_migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "_upgrade", UPGRADE)


def test_the_formats_are_those_of_the_migrations() -> None:
    scripts = ScriptDirectory.from_config(migrate._config())
    assert [script.revision for script in scripts.walk_revisions()][::-1] == list(migrate.FORMATS)


def test_the_migrations_lead_to_the_schema(place: str) -> None:
    with engine_of(place).connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
        if connection.dialect.name == "sqlite":
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def engine_of(place: str) -> Engine:
    """Return an engine that keeps no connection."""
    return create_engine(locate(place).url, poolclass=NullPool)


def old_store(path: str | Path) -> None:
    """Make a store of the first format, with a run in it, as the first nfvbed wrote it."""
    upgrade(path, "0001")
    with engine_of(str(path)).begin() as connection:
        insert_run(connection)


def upgrade(path: str | Path, to: str) -> None:
    """Migrate a store to an older format than the newest."""
    config = migrate._config()
    with engine_of(str(path)).begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, to)


def insert_run(connection: Connection) -> None:
    """Write the columns that format 1 has."""
    run = run_record(status=Status.BLOCKED, reason="placement", ended_at="2024-01-01T00:02:00.000+00:00").model_dump(
        mode="json"
    )
    cell = cell_row(cell_record(status=Status.BLOCKED), 0)
    cell = {key: value for key, value in cell.items() if not key.startswith("vnf")}
    for table, row in (("experiment", {"name": "demo"}), ("run", run), ("cell", cell)):
        names = ", ".join(row)
        values = ", ".join(f":{name}" for name in row)
        connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({values})"), row)


@pytest.fixture(name="old")
def _old(stores: Stores) -> str:
    place = stores.blank()
    if "://" not in place:
        Path(place).parent.mkdir()
    old_store(place)
    return place


def test_an_old_store_goes_on(old: str) -> None:
    path = old
    with Store.open(path, read_only=True) as store:
        assert store.run(RUN_ID).reason == "placement"
        assert store.writer() is None
    with Store.open(path) as store:
        (cell,) = store.cells(RUN_ID)
        assert (cell.vnf, cell.vnf_resolved) == ("", "")
        assert cell == cell_record(status=Status.BLOCKED)
        store.add_cell(cell_record(id="ovs-dpdk/pvp+native/64", vnf="native", vnf_resolved="process-io"))
        store.add_trial(trial_record())
        store.add_result(result_record())
        store.set_cell_status(RUN_ID, cell.id, Status.OK, "")
    with Store.open(path, read_only=True) as store:
        assert [cell.vnf_resolved for cell in store.cells(RUN_ID)] == ["", "process-io"]
        assert store.trials(RUN_ID) == [trial_record()]
        assert store.results(RUN_ID) == [result_record()]


def test_an_old_cell_that_lacked_its_vnf_says_so_in_a_field(old: str) -> None:
    reason = "the VNF cannot run here: vloop (process-io)"
    with engine_of(old).begin() as connection:
        connection.execute(text("UPDATE cell SET status = 'unsupported', reason = :reason"), {"reason": reason})
    with Store.open(old) as store:
        (cell,) = store.cells(RUN_ID)
    assert (cell.lacks, cell.reason) == (MissingPrerequisite.VNF, reason)


@pytest.mark.parametrize("column", ["vnf", "vnf_resolved", "topology"])
def test_the_columns_of_a_migrated_cell_are_kept_from_change(old: str, column: str) -> None:
    Store.open(old).close()
    with engine_of(old).connect() as connection, pytest.raises(IntegrityError, match="settled once"):
        connection.execute(text(f"UPDATE cell SET {column} = 'x'"))


def test_a_migration_that_fails_leaves_nothing(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    from nfvbed.store.migrations import triggers

    path = stores.blank()
    with monkeypatch.context() as patch:
        patch.setattr(triggers, "REOPENABLE", "(nonsense")
        with pytest.raises(Exception, match="syntax|near"):
            Store.open(path)
    assert inspect(engine_of(path)).get_table_names() == []
    Store.open(path).close()


def test_results_of_an_old_store_are_numbered_as_they_were_added(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    old_store(path)
    upgrade(path, "0005")
    names = ("z", "a", "m")
    with engine_of(str(path)).begin() as connection:
        for name in names:
            row = result_record(test=name).model_dump(mode="json")
            row = {key: json.dumps(value) if key in ("warnings", "payload") else value for key, value in row.items()}
            columns, values = ", ".join(row), ", ".join(f":{column}" for column in row)
            connection.execute(text(f"INSERT INTO result ({columns}) VALUES ({values})"), row)
    with Store.open(path) as store:
        store.add_result(result_record(test="last"))
        assert [result.test for result in store.results(RUN_ID)] == [*names, "last"]
    with engine_of(str(path)).connect() as connection, pytest.raises(IntegrityError, match="result is append-only"):
        connection.execute(text("UPDATE result SET position = 9"))


def test_the_postgresql_script_has_all_tables_and_triggers() -> None:
    output = io.StringIO()
    config = migrate._config()
    config.attributes["dialect"] = "postgresql"
    config.output_buffer = output
    command.upgrade(config, "head", sql=True)
    script = output.getvalue()
    for table in METADATA.tables:
        assert f"CREATE TABLE {table} (" in script
    for table in ("trial", "blob", "fact", "histogram", "result"):
        assert f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} FOR EACH ROW" in script
    assert "RAISE(ABORT" not in script
    assert "ALTER TABLE cell ADD COLUMN vnf " in script
    assert script.index("DROP TRIGGER cell_no_update ON cell") < script.rindex("CREATE TRIGGER cell_no_update")
