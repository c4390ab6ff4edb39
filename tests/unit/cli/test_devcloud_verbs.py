"""`nfvbed devcloud` where no cloud runs: nothing is started, and each verb says so."""

import json

import pytest

from nfvbed.cli.main import main


@pytest.fixture(autouse=True)
def _empty_project(tmp_path, monkeypatch, root):
    for name in ("deploy", "flavors", "vnfd", "vsperf-conf"):
        (tmp_path / name).symlink_to(root / name)
    monkeypatch.setenv("NFVBED_ROOT", str(tmp_path))
    return tmp_path


def test_status_of_no_cloud_is_no_error(capsys):
    assert main(["devcloud", "status"]) == 0
    assert capsys.readouterr().out == "no cloud runs\n"


def test_status_is_json_too(capsys):
    assert main(["devcloud", "status", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["running"], found["complete"], found["services"]) == (False, False, [])


def test_a_dry_start_lists_its_stages_and_changes_nothing(capsys, tmp_path):
    assert main(["devcloud", "start", "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines][:3] == ["download", "root", "node"]
    assert all(" to do " in line for line in lines)
    assert not (tmp_path / ".nfvbed").exists()


@pytest.mark.parametrize("words", [["stop"], ["stop", "--dry-run"]])
def test_there_is_nothing_to_stop(words, capsys):
    assert main(["devcloud", *words]) == 0
    assert capsys.readouterr().out == "no cloud runs\n"


@pytest.mark.parametrize("words", [["shell"], ["console", "vm"]])
def test_what_needs_a_cloud_says_how_to_start_one(words, capsys):
    assert main(["devcloud", *words]) == 20
    assert "fix: nfvbed devcloud start" in capsys.readouterr().err


def test_a_log_that_is_not_there_is_a_usage_error(capsys):
    assert main(["devcloud", "logs", "nova-compute"]) == 10
