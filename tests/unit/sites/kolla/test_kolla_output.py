"""The folder is its user's too."""

import json

import pytest

from nfvbed.errors import ConfigurationError, UsageError
from nfvbed.sites.kolla.output import RECORD, adopt, write


def test_only_what_was_written_before_is_removed(tmp_path):
    assert write(tmp_path / "o", {"globals.yml": "a", "config/x.ini": "b"}) == ()
    (tmp_path / "o" / "passwords.yml").write_text("secret")
    assert write(tmp_path / "o", {"globals.yml": "c"}) == ("config/x.ini",)
    assert (tmp_path / "o" / "passwords.yml").read_text() == "secret"
    assert (tmp_path / "o" / "globals.yml").read_text() == "c"
    assert not (tmp_path / "o" / "config" / "x.ini").exists()


def test_a_strangers_folder_is_left_alone(tmp_path):
    (tmp_path / "globals.yml").write_text("mine")
    with pytest.raises(UsageError, match="files of others"):
        write(tmp_path, {"globals.yml": "a"})
    assert (tmp_path / "globals.yml").read_text() == "mine"


@pytest.mark.parametrize("record", ["{", "{}", "[1]", json.dumps(["../x"]), json.dumps(["/etc/passwd"])])
def test_a_damaged_record_removes_nothing(tmp_path, record):
    (tmp_path / "o" / "nfvbed").mkdir(parents=True)
    (tmp_path / "o" / RECORD).write_text(record)
    (tmp_path / "x").write_text("kept")
    with pytest.raises(ConfigurationError, match="damaged"):
        write(tmp_path / "o", {"globals.yml": "a"})
    assert (tmp_path / "x").exists()


def test_a_file_in_the_place_of_the_folder_is_an_error(tmp_path):
    (tmp_path / "o").write_text("x")
    with pytest.raises(UsageError):
        write(tmp_path / "o", {"globals.yml": "a"})


def test_a_folder_of_nfvbeds_own_is_taken_over_with_what_its_user_has_put_there(tmp_path):
    (tmp_path / "globals.d").mkdir()
    (tmp_path / "globals.d" / "mine.yml").write_text("docker_registry: here\n")
    adopt(tmp_path)
    assert write(tmp_path, {"globals.yml": "a: 1\n"}) == ()
    adopt(tmp_path)
    assert write(tmp_path, {}) == ("globals.yml",)
    assert (tmp_path / "globals.d" / "mine.yml").exists()
