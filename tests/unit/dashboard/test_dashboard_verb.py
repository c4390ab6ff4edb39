"""`nfvbed dashboard`: what it refuses before it listens."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from nfvbed.cli.main import main
from nfvbed.store.migrate import FORMATS


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--host", "0.0.0.0"], 2, "does not listen on 0.0.0.0 without TLS"),
        (["--host", "0.0.0.0", "--behind-proxy"], 2, "without a token"),
        (["--tls-cert", "cert.pem"], 2, "belong together"),
        (["--port", "70000"], 2, "70000"),
        ([], 30, "there are no results yet"),
    ],
)
def test_it_is_refused(tmp_path: Path, capsys, arguments: list[str], code: int, said: str):
    assert main(["dashboard", "--store", str(tmp_path / "none.sqlite"), *arguments]) == code
    assert said in capsys.readouterr().err


def test_an_older_format_is_not_migrated(stored: Path, tmp_path: Path, capsys):
    copy = tmp_path / "nfvbed.sqlite"
    shutil.copy(stored, copy)
    with sqlite3.connect(copy) as database:
        database.execute("UPDATE alembic_version SET version_num = ?", (FORMATS[-2],))
    assert main(["dashboard", "--store", str(copy)]) == 30
    said = capsys.readouterr().err
    assert "older format" in said and "nfvbed runs" in said
    with sqlite3.connect(copy) as database:
        assert database.execute("SELECT version_num FROM alembic_version").fetchone() == (FORMATS[-2],)
