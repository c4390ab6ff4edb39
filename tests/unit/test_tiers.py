"""In which order tiers run, and which beside others: no test is run here."""

import os
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import tiers
from tests.functional.disturbed import wait_until


@pytest.fixture(name="ran")
def _ran(monkeypatch):
    """What was run, in order; the tiers that wait for nothing but a core are those beside others."""
    said = []

    class Noted:
        def __init__(self, names, _folder):
            self._names = names

        def run(self):
            said.append(tuple(self._names))
            return [tiers.Outcome(name, failed=int(name == "browser")) for name in self._names]

        @contextmanager
        def started_idle(self):
            said.append(("begun", *self._names))
            yield
            said.append(("gone", *self._names))

        def ended(self):
            said.append(("ended", *self._names))
            return [tiers.Outcome(name) for name in self._names]

    monkeypatch.setattr(tiers, "Session", Noted)
    monkeypatch.setattr(tiers, "BESIDE", ("unit", "golden"))
    return said


def test_unit_and_golden_tests_are_beside_all_up_to_the_functional_ones(ran, capsys):
    assert tiers.main(["unit", "golden", "image", "functional", "slow"]) == 0
    assert ran == [
        ("begun", "unit", "golden"),
        ("image",),
        ("functional",),
        ("ended", "unit", "golden"),
        ("gone", "unit", "golden"),
        ("slow",),
    ]
    summary = capsys.readouterr().out.partition("=== summary")[2]
    assert [line.split()[0] for line in summary.splitlines()[1:6]] == ["image", "functional", "unit", "golden", "slow"]


def test_tests_beside_others_give_way_to_every_other_session_and_end_with_it(monkeypatch, tmp_path):
    """The kernel may share cores out by session: then a policy or a nice value counts within the session alone."""
    monkeypatch.setattr(tiers, "WORK", tmp_path)
    monkeypatch.setattr(tiers.Session, "_prepare", lambda _, more_than_cores: ["sleep", "60"])
    beside = tiers.Session(["unit"], "idle")
    with beside.started_idle():
        pid = beside._process.pid
        wait_until(lambda: os.sched_getscheduler(pid) == os.SCHED_IDLE)  # chrt sets that itself
        assert os.getsid(pid) == pid
        weight = Path(f"/proc/{pid}/autogroup")
        assert not weight.exists() or weight.read_text().split()[-1] == "19"
    assert not Path(f"/proc/{pid}").exists()


def test_without_functional_ones_they_run_with_the_others_and_one_that_failed_is_the_status(ran):
    assert tiers.main(["unit", "golden", "browser"]) == 1
    assert ran == [("browser", "unit", "golden")]


def test_asked_for_they_run_one_after_the_other(ran, monkeypatch):
    monkeypatch.setattr(tiers, "BESIDE", ())
    assert tiers.main(["unit", "functional"]) == 0
    assert ran == [("unit",), ("functional",)]
