"""Waits without pauses; those that are to end without success have a short limit, and no other has one."""

import pytest

from nfvbed.cloud.tacker import waits


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(waits, "_PAUSE_S", 0.001)


@pytest.fixture
def impatient(quick, monkeypatch):
    monkeypatch.setattr(waits, "MEASURED_S", dict.fromkeys(waits.MEASURED_S, 0.005))
