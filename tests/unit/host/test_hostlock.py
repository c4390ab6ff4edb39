"""The host lock within a temporary directory."""

import fcntl
import os
import signal

import pytest

from nfvbed.errors import BusyError
from nfvbed.host.ledger import hostlock
from nfvbed.host.ledger.hostlock import HostLock


def test_second_holder_is_reported_who_the_first_is(tmp_path):
    directory = tmp_path / "run"
    first, second = HostLock(directory), HostLock(directory)
    first.acquire()
    first.acquire()
    with pytest.raises(BusyError) as caught:
        second.acquire()
    assert f"pid {os.getpid()} since" in caught.value.observed
    assert caught.value.exit_code == 13
    first.release()
    assert not directory.exists()
    second.acquire()
    assert second.held
    second.release()
    second.release()
    assert not directory.exists()


def test_release_leaves_a_directory_in_which_something_is_left(tmp_path):
    directory = tmp_path / "run"
    lock = HostLock(directory)
    lock.acquire()
    (directory / "deployment").mkdir()
    lock.release()
    assert [p.name for p in directory.iterdir()] == ["deployment"]


def test_stale_file_of_a_dead_holder_is_taken_over(tmp_path):
    (tmp_path / "lock").write_text("{")
    lock = HostLock(tmp_path)
    lock.acquire()
    assert lock.held
    lock.release()


@pytest.mark.parametrize("moment", ["before", "after"])
def test_ctrl_c_while_it_is_taken_leaves_it_held_and_not_lost(tmp_path, monkeypatch, moment):
    real = fcntl.flock

    def interrupted(handle, how):
        if moment == "before":
            signal.raise_signal(signal.SIGINT)
        real(handle, how)
        if moment == "after":
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(hostlock.fcntl, "flock", interrupted)
    lock = HostLock(tmp_path / "run")
    with pytest.raises(KeyboardInterrupt):
        lock.acquire()
    # The cleaning up at the end can let go of it: a file without an owner would stay.
    assert lock.held
    lock.release()
    assert not (tmp_path / "run").exists()
