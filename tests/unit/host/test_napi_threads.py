"""NAPI threads of two nfvbeds on one kernel are told apart by when they appear: only one makes some at a time."""

import fcntl

import pytest

from nfvbed.host.network import napi


@pytest.fixture(name="shared")
def _shared(tmp_path, monkeypatch):
    """A file in the place of the kernel's, which root alone can open."""
    place = tmp_path / "shared"
    place.touch()
    monkeypatch.setattr(napi, "_ONE_OF_THE_KERNEL", place)
    monkeypatch.setattr(napi, "napi_threads", lambda: {7: "napi/g0-12"})
    return place


def test_another_waits_until_the_threads_have_appeared(shared):
    with shared.open() as others:
        with napi.threads_told_apart() as before, pytest.raises(BlockingIOError):
            assert before == [7]
            fcntl.flock(others, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(others, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_one_that_fails_lets_the_next_one_go_on(shared):
    with pytest.raises(ZeroDivisionError), napi.threads_told_apart():
        raise ZeroDivisionError
    with napi.threads_told_apart() as before:
        assert before == [7]


def test_where_the_file_is_hidden_there_is_nobody_to_wait_for(shared):
    shared.unlink()
    with napi.threads_told_apart() as before:
        assert before == [7]
