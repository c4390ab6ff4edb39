"""In which order tiers run, and which beside others: no test is run here."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import tiers
from tests.functional.disturbed import wait_until

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys, time
from pathlib import Path
from tests import tiers

TESTS = '''
import os, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    open("{work}/new", "w").write(str(os.getpid()))
    os.rename("{work}/new", "{work}/begun")
    signal.pause()
except KeyboardInterrupt:
    time.sleep(1)
    open("{work}/said", "w").write("cleared up")
'''
tiers.WORK = Path("{work}")
tiers.Session._prepare = lambda self: [sys.executable, "-c", TESTS]
beside = tiers.Session(["unit"], "idle")
{call}
"""
"""Runs what stands for tests: it takes a second to clear up, longer than `subprocess.run` waits."""


@pytest.fixture(name="ran")
def _ran(monkeypatch):
    """What was run, in order; the tiers that wait for nothing but a core are those beside others."""
    said = []

    class Noted:
        def __init__(self, names, _folder, only=""):
            self._names = [f"{name} {only}".strip() for name in names]
            self._outcomes = [tiers.Outcome(name, failed=int(name == "browser")) for name in names]

        def run(self):
            said.append(tuple(self._names))
            return self._outcomes

        @contextmanager
        def started(self, by, gives_way=False):
            said.append((by[0].rpartition("/")[2], *self._names))
            yield
            said.append(("gone", *self._names))

        def ended(self):
            said.append(("ended", *self._names))
            return self._outcomes

    monkeypatch.setattr(tiers, "Session", Noted)
    monkeypatch.setattr(tiers, "BESIDE", ("unit", "golden"))
    monkeypatch.setattr(tiers, "TWO_LANES", ("functional",))
    monkeypatch.setattr(tiers.subprocess, "run", lambda *_, **__: None)
    return said


def test_unit_and_golden_tests_are_beside_all_up_to_the_functional_ones_which_have_two_lanes(ran, capsys):
    assert tiers.main(["unit", "golden", "image", "functional", "slow"]) == 0
    assert ran == [
        ("chrt", "unit", "golden"),
        ("image",),
        ("apart", "functional beside"),
        ("functional not beside",),
        ("ended", "functional beside"),
        ("gone", "functional beside"),
        ("ended", "unit", "golden"),
        ("gone", "unit", "golden"),
        ("slow",),
    ]
    summary = capsys.readouterr().out.partition("=== summary")[2]
    names = [line.split()[0] for line in summary.splitlines()[1:7]]
    assert names == ["image", "functional", "functional", "unit", "golden", "slow"]


def test_a_clean_clone_needs_no_folder_and_tells_of_every_tier(monkeypatch, tmp_path, capfd):
    """As `make test` runs them, with pytest itself; continuous integration runs them one after the other."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/shares.py").write_text((ROOT / "tests/shares.py").read_text())
    for tier, found in {"unit": 1, "golden": 2, "functional": 3}.items():
        (tmp_path / "tests" / tier).mkdir(parents=True)
        (tmp_path / "tests" / tier / f"test_{tier}.py").write_text(
            f"import pytest\n@pytest.mark.parametrize('one', range({found}))\ndef test_it(one):\n    assert one < 2\n"
        )
    monkeypatch.setattr(tiers, "ROOT", tmp_path)
    monkeypatch.setattr(tiers, "WORK", tmp_path / "made" / "tiers")
    monkeypatch.setattr(tiers, "BESIDE", ("unit", "golden"))
    monkeypatch.setattr(tiers, "TWO_LANES", ())  # They take root; the functional tests themselves run in them.
    assert tiers.main(["unit", "golden", "functional"]) == 1
    said = capfd.readouterr().out.partition("=== summary")[2].splitlines()
    counts = [" ".join(line.split()[:5]) for line in said[1:4]]
    assert counts == ["functional 2 passed 1 failed", "unit 1 passed 0 failed", "golden 2 passed 0 failed"]
    assert said[4] == "failed   functional: tests.functional.test_functional::test_it[2]"


def test_tests_that_wait_for_an_image_are_said_to_go_on(monkeypatch, tmp_path, capfd):
    monkeypatch.setattr(tiers, "WORK", tmp_path)
    monkeypatch.setattr(tiers, "SPEAKS_S", 0.1)
    monkeypatch.setattr(tiers.Session, "_prepare", lambda _: ["sleep", "1"])
    tiers.Session(["image", "browser"], "now").run()
    assert "still image, browser (" in capfd.readouterr().out


def test_tests_beside_others_give_way_to_every_other_session_and_end_with_it(monkeypatch, tmp_path):
    """The kernel may share cores out by session: then a policy or a nice value counts within the session alone."""
    monkeypatch.setattr(tiers, "WORK", tmp_path)
    monkeypatch.setattr(tiers.Session, "_prepare", lambda _: ["sleep", "60"])
    beside = tiers.Session(["unit"], "idle")
    with beside.started(["chrt", "--idle", "0"], gives_way=True):
        pid = beside._process.pid
        wait_until(lambda: os.sched_getscheduler(pid) == os.SCHED_IDLE)  # chrt sets that itself
        assert os.getsid(pid) == pid
        weight = Path(f"/proc/{pid}/autogroup")
        assert not weight.exists() or weight.read_text().split()[-1] == "19"
    assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("ends", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("call", ["with beside.started(['env']): time.sleep(600)", "beside.run()"])
def test_tests_clear_up_where_what_runs_them_is_ended(tmp_path, call, ends):
    """`make test` that is interrupted, or killed, leaves no tests that run on, and nothing that they had deployed."""
    (tmp_path / "program.py").write_text(PROGRAM.format(work=str(tmp_path), call=call))
    program = subprocess.Popen(
        [sys.executable, tmp_path / "program.py"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    wait_until((tmp_path / "begun").exists)
    pid = int((tmp_path / "begun").read_text())
    os.killpg(program.pid, ends) if ends is signal.SIGINT else program.kill()
    program.wait()
    wait_until(lambda: not Path(f"/proc/{pid}").exists())
    assert (tmp_path / "said").read_text() == "cleared up"


def test_without_functional_ones_they_run_with_the_others_and_one_that_failed_is_the_status(ran):
    assert tiers.main(["unit", "golden", "browser"]) == 1
    assert ran == [("browser", "unit", "golden")]


def test_asked_for_they_run_one_after_the_other(ran, monkeypatch):
    monkeypatch.setattr(tiers, "BESIDE", ())
    monkeypatch.setattr(tiers, "TWO_LANES", ())
    assert tiers.main(["unit", "functional"]) == 0
    assert ran == [("unit",), ("functional",)]


SIGNALS = """
import os, signal, time
import pytest
from tests import conftest

conftest.CLEARS_UP_S = 0.2
handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

@pytest.fixture
def hangs():
    yield
    time.sleep(60)

def test_fails_and_hangs(hangs):
    for number in handlers:
        signal.signal(number, signal.SIG_IGN)
    assert not handlers

def test_after_it():
    assert handlers == {number: signal.getsignal(number) for number in handlers}
"""


def test_a_test_that_fails_leaves_signals_as_they_were_and_does_not_hang_while_it_clears_up(tmp_path):
    (tmp_path / "test_it.py").write_text(SIGNALS)
    asked = [sys.executable, "-m", "pytest", "-p", "no:schemathesis", "-p", "tests.conftest", "--rootdir", tmp_path]
    told = subprocess.run(
        [*asked, tmp_path], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert "1 failed, 1 passed, 1 error" in told.stdout, told.stdout + told.stderr
    assert "clearing up takes more than 0.2 s" in told.stdout


@pytest.mark.parametrize("tier", tiers.TIERS)
def test_one_tier_has_the_tests_of_schemathesis_and_loads_it(monkeypatch, tmp_path, tier):
    monkeypatch.setattr(tiers, "WORK", tmp_path)
    argv = tiers.Session([tier], "now")._prepare()
    assert ("no:schemathesis" in argv) == (tier != "dashboard")


def test_unit_tests_are_the_last_of_a_tier_as_after_them_nothing_can_be_deployed_in_the_same_process():
    for tier, folders in tiers.FOLDERS.items():
        assert not [name for name in folders[:-1] if name.startswith("unit")], tier
