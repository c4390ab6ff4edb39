"""Waits without pauses; those that are to end without success do so by a clock that counts pauses alone."""

from types import SimpleNamespace

import pytest

from nfvbed.cloud.tacker import waits


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(waits, "_PAUSE_S", 0.001)


@pytest.fixture
def impatient(quick, monkeypatch):
    """Whoever waits asks about ten times, however long an answer takes on a busy host."""
    now = 0.0

    def sleep(seconds):
        nonlocal now
        now += seconds

    monkeypatch.setattr(waits, "time", SimpleNamespace(monotonic=lambda: now, sleep=sleep))
    monkeypatch.setattr(waits, "MEASURED_S", dict.fromkeys(waits.MEASURED_S, 10 * waits._PAUSE_S / waits.FACTOR))
