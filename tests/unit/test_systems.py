"""What set-up says of a system by its /etc/os-release: proven, tried, or refused. Their lines, as they have them."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROVEN = {
    "12": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\nID=debian\n',
    "13": 'PRETTY_NAME="Debian GNU/Linux 13 (trixie)"\nVERSION_ID="13"\nVERSION_CODENAME=trixie\nID=debian\n',
}
UBUNTU = "Ubuntu 24.04.1 LTS"
TRIED = {
    UBUNTU: 'PRETTY_NAME="Ubuntu 24.04.1 LTS"\nVERSION_ID="24.04"\nID=ubuntu\nID_LIKE=debian\n',
    "Ubuntu 26.04 LTS": 'PRETTY_NAME="Ubuntu 26.04 LTS"\nVERSION_ID="26.04"\nID=ubuntu\nID_LIKE=debian\n',
    "Linux Mint 22": 'PRETTY_NAME="Linux Mint 22"\nVERSION_ID="22"\nID=linuxmint\nID_LIKE="ubuntu debian"\n',
    "Debian GNU/Linux forky/sid": 'PRETTY_NAME="Debian GNU/Linux forky/sid"\nVERSION_CODENAME=forky\nID=debian\n',
}
REFUSED = {
    "Fedora Linux 41": 'PRETTY_NAME="Fedora Linux 41"\nVERSION_ID=41\nID=fedora\n',
    "AlmaLinux 9.4": 'PRETTY_NAME="AlmaLinux 9.4"\nVERSION_ID="9.4"\nID="almalinux"\nID_LIKE="rhel centos fedora"\n',
    "Debian GNU/Linux 11": 'PRETTY_NAME="Debian GNU/Linux 11"\nVERSION_ID="11"\nVERSION_CODENAME=bullseye\nID=debian\n',
    "no /etc/os-release": "",
}


def check(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the check of a system whose file has this text; what it says of users and processors is this machine's."""
    file = folder / "os-release"
    file.write_text(text)
    argv = [str(ROOT / "setup" / "check-host"), str(file)]
    return subprocess.run(argv, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)


def debian(text: str, folder: Path) -> str:
    """The Debian whose package names are taken."""
    file = folder / "os-release"
    file.write_text(text)
    argv = ["bash", "-c", '. "$1"; debian "$2"', "-", str(ROOT / "setup" / "report.sh"), str(file)]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def goes_on(ended: subprocess.CompletedProcess[str]) -> bool:
    """Whether the system is not what ends it; without root that does."""
    return ended.returncode == (0 if os.geteuid() == 0 else 12)


@pytest.mark.parametrize("version", PROVEN)
def test_proven_systems_need_no_word(version: str, tmp_path: Path):
    ended = check(PROVEN[version], tmp_path)
    assert goes_on(ended) and ended.stdout == ""
    assert debian(PROVEN[version], tmp_path) == version


@pytest.mark.parametrize("name", TRIED)
def test_systems_like_debian_are_tried_with_one_line_that_says_what_to_send(name: str, tmp_path: Path):
    ended = check(TRIED[name], tmp_path)
    assert goes_on(ended)
    (line,) = ended.stdout.splitlines()
    assert f"nobody has proven nfvbed on {name}" in line and "`.venv/bin/nfvbed doctor --json`" in line
    assert debian(TRIED[name], tmp_path) == ("ubuntu24.04" if name == UBUNTU else "13")


@pytest.mark.parametrize("name", REFUSED)
def test_other_systems_are_refused_by_name(name: str, tmp_path: Path):
    ended = check(REFUSED[name], tmp_path)
    assert (ended.returncode, ended.stdout) == (11, "")
    assert f"observed: {name}" in ended.stderr and "fix: use a Debian machine" in ended.stderr
