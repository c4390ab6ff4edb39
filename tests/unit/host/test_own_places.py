"""Signs and locks of this host are where no other user may put one, or hold one."""

import fcntl
import os
from pathlib import Path

import pytest

from nfvbed.errors import PrerequisiteError
from nfvbed.host.ledger import poollock
from nfvbed.host.ledger.hostlock import HostLock
from nfvbed.host.ledger.places import is_own, make_run_directory
from nfvbed.host.workspace import trialsign
from tests.another_user import NOBODY

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")


@as_root
@pytest.mark.parametrize("made", ["of another user", "all may write"])
def test_a_run_directory_that_another_user_made_is_not_used(tmp_path: Path, monkeypatch, made: str) -> None:
    directory = tmp_path / "run"
    directory.mkdir()
    if made == "of another user":
        os.chown(directory, NOBODY, NOBODY)
    else:
        directory.chmod(0o777)
    (directory / f"trial-{os.getpid()}-0-0").touch()
    with pytest.raises(PrerequisiteError) as caught:
        HostLock(directory).acquire()
    assert caught.value.where == str(directory)
    monkeypatch.setattr(trialsign, "RUN_DIRECTORY", directory)
    monkeypatch.setattr(trialsign, "is_alive", lambda pid, started: True)
    assert trialsign.going_trial() is None, "a sign that anybody may make says nothing"
    with trialsign.trial_going():
        assert trialsign.going_trial() is None


def test_a_link_is_no_run_directory(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "run").symlink_to(tmp_path / "real")
    with pytest.raises(PrerequisiteError):
        make_run_directory(tmp_path / "run")
    assert is_own(tmp_path / "real")


def test_the_lock_of_hugepages_is_its_owners_alone_and_goes(tmp_path: Path, monkeypatch) -> None:
    lock = tmp_path / "pages.lock"
    monkeypatch.setattr(poollock, "POOL_LOCK", lock)
    for _ in range(2):
        with poollock.pool_locked():
            assert lock.stat().st_mode & 0o777 == 0o600
            other = os.open(lock, os.O_RDWR)
            with pytest.raises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.close(other)
        assert not lock.exists()


def test_a_lock_that_its_holder_removed_is_taken_again(tmp_path: Path, monkeypatch) -> None:
    lock = tmp_path / "pages.lock"
    monkeypatch.setattr(poollock, "POOL_LOCK", lock)
    flock, taken = fcntl.flock, []

    def removed_meanwhile(handle: int, how: int) -> None:
        flock(handle, how)
        taken.append(handle)
        if len(taken) == 1:
            lock.unlink()

    monkeypatch.setattr(fcntl, "flock", removed_meanwhile)
    with poollock.pool_locked():
        assert len(taken) == 2 and lock.exists()
