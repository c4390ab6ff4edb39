"""`nfvbed bundle` and `nfvbed verify-bundle`."""

import json
from pathlib import Path

import pytest

from nfvbed.cli.main import main
from nfvbed.store import Store
from nfvbed.store.transfer import import_run
from tests.bundle_runs import named_document
from tests.sample_records import RUN


@pytest.fixture(scope="module", name="store")
def _store(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("store") / "nfvbed.sqlite"
    with Store.open(path) as store:
        import_run(store, named_document())
    return path


def test_a_bundle_is_listed_written_and_verified(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "run.zip"
    assert main(["--store", str(store), "bundle", RUN, "--output", str(file)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "Disclosed (nothing was replaced; --redact does):"
    assert said[-1].startswith(f"wrote {file}: ")
    assert main(["verify-bundle", str(file)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("consistent: ") and said[1] == "unsigned"
    assert main(["verify-bundle", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["is_consistent"] is True


def test_a_changed_byte_is_refused_with_the_name_of_its_file(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "run.zip"
    assert main(["--store", str(store), "bundle", RUN, "--output", str(file)]) == 0
    content = bytearray(file.read_bytes())
    content[len(content) // 4] ^= 1
    file.write_bytes(content)
    capsys.readouterr()
    assert main(["verify-bundle", str(file)]) == 31
    assert ": run.json\n" in capsys.readouterr().err


def test_a_dry_run_lists_and_writes_nothing(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    assert main(["--store", str(store), "bundle", RUN, "--redact", "--dry-run"]) == 0
    assert "- replaced: MAC addresses: 1" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_words_without_redaction_and_standard_output_are_refused(store: Path):
    assert main(["--store", str(store), "bundle", RUN, "--word", "acme"]) == 2
    assert main(["--store", str(store), "bundle", RUN, "--output", "-"]) == 2


@pytest.mark.parametrize("content", [b"", b"{}", b"PK\x03\x04junk"])
def test_what_is_no_bundle_is_refused(tmp_path: Path, content: bytes):
    file = tmp_path / "x.zip"
    file.write_bytes(content)
    assert main(["verify-bundle", str(file)]) == 10


def test_the_run_of_a_bundle_is_imported_after_it_was_checked(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file, other = tmp_path / "run.zip", str(tmp_path / "other.sqlite")
    assert main(["--store", str(store), "bundle", RUN, "--output", str(file)]) == 0
    changed = tmp_path / "changed.zip"
    content = bytearray(file.read_bytes())
    content[len(content) // 4] ^= 1
    changed.write_bytes(content)
    assert main(["--store", other, "import", str(changed)]) == 31
    assert main(["--store", other, "import", str(file)]) == 0
    assert f"imported run {RUN}" in capsys.readouterr().out


def test_what_was_not_measured_on_nics_has_no_row(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file = tmp_path / "run.zip"
    assert main(["--store", str(store), "bundle", RUN, "--output", str(file)]) == 0
    assert main(["verify-bundle", str(file), "--row"]) == 2
    assert "nothing in it was measured on the ports of NICs" in capsys.readouterr().err
