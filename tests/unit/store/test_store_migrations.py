"""The migrations lead to the tables that the code uses, whole or not at all."""

import io
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect

from nfvbed.store import Store, migrate
from nfvbed.store.schema import METADATA


def test_the_formats_are_those_of_the_migrations() -> None:
    scripts = ScriptDirectory.from_config(migrate._config())
    assert [script.revision for script in scripts.walk_revisions()][::-1] == list(migrate.FORMATS)


def test_the_migrations_lead_to_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    Store.open(path).close()
    with create_engine(f"sqlite:///{path}").connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def test_a_migration_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nfvbed.store.migrations import triggers

    path = tmp_path / "x.sqlite"
    with monkeypatch.context() as patch:
        patch.setattr(triggers, "REOPENABLE", "(nonsense")
        with pytest.raises(Exception, match="syntax|near"):
            Store.open(path)
    assert inspect(create_engine(f"sqlite:///{path}")).get_table_names() == []
    Store.open(path).close()


def test_the_postgresql_script_has_all_tables_and_triggers() -> None:
    output = io.StringIO()
    migrate.postgresql_script(output)
    text = output.getvalue()
    for table in METADATA.tables:
        assert f"CREATE TABLE {table} (" in text
    for table in ("trial", "blob", "fact", "histogram"):
        assert f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} FOR EACH ROW" in text
    assert "RAISE(ABORT" not in text
