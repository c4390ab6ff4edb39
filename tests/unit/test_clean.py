"""`setup/clean` removes a lot at once: only in the clone that it is in, and only when asked for nothing else."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def clone(tmp_path):
    """Return a folder with the script and with what it removes."""
    (tmp_path / "setup").mkdir()
    for name in ("clean", "report.sh"):
        shutil.copy(ROOT / "setup" / name, tmp_path / "setup" / name)
    for name in (".nfvbed/ovs", ".nfvbed/results", ".venv", "native/build"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


def clean(clone, *arguments):
    return subprocess.run([clone / "setup" / "clean", *arguments], capture_output=True, text=True, timeout=30)


def test_it_removes_what_set_up_made(clone):
    done = clean(clone)
    assert done.returncode == 0, done.stderr
    assert not any((clone / name).exists() for name in (".nfvbed/ovs", ".venv", "native/build"))
    assert (clone / ".nfvbed/results").is_dir()


def test_arguments_are_refused_before_anything_is_removed(clone):
    done = clean(clone, "--help")
    assert done.returncode == 2 and "takes no arguments" in done.stderr and "--help" in done.stderr
    assert (clone / ".nfvbed/ovs").is_dir() and (clone / ".venv").is_dir()


def test_what_another_clone_uses_is_not_removed_through_a_link(clone, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    (other / "ovs").mkdir()
    shutil.rmtree(clone / ".nfvbed")
    (clone / ".nfvbed").symlink_to(other)
    done = clean(clone)
    assert done.returncode == 12 and ".nfvbed is a link" in done.stderr
    assert (other / "ovs").is_dir() and (clone / ".venv").is_dir()
