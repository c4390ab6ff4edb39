"""Waits are bounded by what was measured."""

import pytest

from nfvbed.cloud.tacker import waits
from nfvbed.patience import VARIABLE


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    monkeypatch.setattr(waits, "_PAUSE_S", 0.001)
    monkeypatch.setitem(waits.MEASURED_S, "step", 0.005)
    monkeypatch.delenv(VARIABLE, raising=False)


def test_a_wait_ends_when_it_is_done():
    answers = iter([False, False, True])
    waited = waits.wait("step", lambda: next(answers))
    assert waited.done
    assert waited.seconds < 5


def test_a_wait_ends_when_its_time_is_over_and_says_so():
    waited = waits.wait("step", lambda: False)
    assert not waited.done
    assert waited.limit_s == pytest.approx(0.02)
    assert waited.too_long == "after 0.02 s, 4 times what it took when it was measured, it was not done"


def test_slow_hosts_wait_longer_and_no_limit_is_an_hours(monkeypatch):
    monkeypatch.setenv(VARIABLE, "3")
    assert waits.limit_s("instantiate") == 3 * waits.FACTOR * waits.MEASURED_S["instantiate"]
    assert max(waits.MEASURED_S.values()) * waits.FACTOR <= 300
