"""Mirrors of a suite that is not the machine's own."""

from pathlib import Path

import pytest

from nfvbed.host.aptsources import mirrors_of

TRIXIE = """\
http://deb.example/debian|trixie|trixie
http://deb.example/debian|trixie-updates|trixie-updates
http://deb.example/security|trixie-security|trixie-security
http://node.example/node|nodistro|
"""


@pytest.fixture(name="debian_13")
def _debian_13(tmp_path: Path) -> Path:
    path = tmp_path / "os-release"
    path.write_text('ID=debian\nVERSION_CODENAME=trixie\nVERSION_ID="13"\n')
    return path


def test_a_suite_lies_beside_the_machines_own_on_the_same_mirrors(debian_13: Path):
    assert mirrors_of("bookworm", TRIXIE, debian_13) == {
        ("http://deb.example/debian", "bookworm"),
        ("http://deb.example/debian", "bookworm-updates"),
        ("http://deb.example/security", "bookworm-security"),
    }


def test_a_suite_that_apt_knows_is_taken_from_where_it_says(debian_13: Path):
    known = "http://old.example/debian|bookworm|bookworm\n"
    assert mirrors_of("bookworm", TRIXIE + known, debian_13) == {("http://old.example/debian", "bookworm")}


def test_a_system_that_is_only_like_debian_has_another_archive(tmp_path: Path):
    path = tmp_path / "os-release"
    path.write_text("ID=ubuntu\nVERSION_CODENAME=noble\n")
    ubuntu = "http://ubuntu.example/ubuntu|noble|noble\n"
    assert mirrors_of("bookworm", ubuntu, path) == set()
    given = "http://deb.example/debian|bookworm|bookworm\n"
    assert mirrors_of("bookworm", ubuntu + given, path) == {("http://deb.example/debian", "bookworm")}
