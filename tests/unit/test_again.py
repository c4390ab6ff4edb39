"""What functional tests make again is counted, tied to stolen time, and fails where a quiet host needed it twice."""

import itertools

import pytest

from tests import tiers
from tests.functional import again, disturbed

OURS, CHILD, OTHER, KERNEL = 10, 11, 20, 30


def write(root, steal, times, waits):
    """Write a /proc: ticks of CPU time by process, ns that its thread waited."""
    (root / "stat").write_text(f"cpu  1 2 3 4 5 6 7 {steal} 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\n")
    for pid, parent in ((OURS, 1), (CHILD, OURS), (OTHER, 1), (KERNEL, 2)):
        task = root / str(pid) / "task" / str(pid)
        task.mkdir(parents=True, exist_ok=True)
        fields = ["S", str(parent), *["0"] * 9, str(times.get(pid, 0)), "0", "0", "0"]
        (root / str(pid) / "stat").write_text(f"{pid} (a ) name) {' '.join(fields)}\n")
        (root / str(pid) / "environ").write_bytes(b"PATH=/bin\0")
        (task / "schedstat").write_text(f"5 {waits.get(pid, 0)} 1\n")


@pytest.fixture(name="stolen")
def _stolen(tmp_path, monkeypatch):
    """Gives what was stolen in a second after which /proc has these times."""
    clock = itertools.count()
    monkeypatch.setattr(again.time, "monotonic", lambda: float(next(clock)))

    def between(steal=0, times=None, waits=None):
        write(tmp_path, 100, {}, {})
        before = again.read(tmp_path, OURS)
        write(tmp_path, 100 + steal, times or {}, waits or {})
        return again.stolen_s(before, again.read(tmp_path, OURS))

    return between


def test_what_the_hypervisor_took_was_stolen(stolen):
    assert stolen(steal=7) == pytest.approx(0.07)


def test_a_wait_for_another_process_was_stolen(stolen):
    assert stolen(times={OTHER: 50}, waits={CHILD: 300_000_000}) == pytest.approx(0.3)
    assert stolen(times={OTHER: 20}, waits={CHILD: 300_000_000}) == pytest.approx(0.2), "the rest is our own doing"


def test_a_wait_for_our_own_and_anothers_work_on_an_idle_core_were_not(stolen):
    assert stolen(times={CHILD: 50, KERNEL: 50}, waits={OURS: 300_000_000}) == 0
    assert stolen(times={OTHER: 50}) == 0


def test_a_process_with_the_tests_mark_is_ours_whoever_its_parent_is(tmp_path):
    write(tmp_path, 0, {OTHER: 50}, {})
    (tmp_path / str(OTHER) / "environ").write_bytes(b"NFVBED_TEST_MARK=x\0")
    assert again.read(tmp_path, OURS).others == {}


def test_one_of_a_session_beside_this_one_is_anothers(tmp_path, monkeypatch):
    monkeypatch.setenv(again.SESSION, "12")
    for session, others in ((b"12", []), (b"1", [OTHER]), (b"123", [OTHER])):
        write(tmp_path, 0, {OTHER: 50}, {})
        environment = b"NFVBED_TEST_MARK=x\0NFVBED_TEST_SESSION=" + session + b"\0"
        (tmp_path / str(OTHER) / "environ").write_bytes(environment)
        assert list(again.read(tmp_path, OURS).others) == others


@pytest.fixture(name="counted")
def _counted(monkeypatch):
    """Counts attempts of a test apart from this process's own, each with so much stolen."""
    monkeypatch.setattr(again, "AGAIN", {})
    monkeypatch.setattr(again, "read", lambda: None)

    def make(stolen, good_after):
        tries = itertools.count(1)
        # As late as this: pytest writes the name of the real test there.
        monkeypatch.setenv("PYTEST_CURRENT_TEST", "test_x.py::test_y (call)")
        monkeypatch.setattr(again, "stolen_s", lambda before, after: stolen)
        return disturbed.retried(lambda: next(tries), lambda number: number > good_after)

    return make


def test_one_repetition_is_allowed_on_a_quiet_host_and_counted(counted):
    assert counted(0.0, good_after=1) == 2
    assert again.described("test_x.py::test_y") == "1 (0.00 s stolen)"


def test_a_second_repetition_on_a_quiet_host_fails(counted):
    with pytest.raises(AssertionError, match="2 attempts failed while nothing was stolen"):
        counted(0.0, good_after=2)


def test_as_many_as_there_are_may_be_needed_where_time_was_stolen(counted):
    assert counted(0.5, good_after=4) == 5
    assert again.described("test_x.py::test_y") == "4 (0.50, 0.50, 0.50, 0.50 s stolen)"


def test_what_is_good_at_once_is_not_counted(counted):
    assert counted(0.0, good_after=0) == 1
    assert again.AGAIN == {}


def test_the_summary_of_tiers_tells_what_was_made_again(tmp_path, capsys):
    report = tmp_path / "functional.xml"
    report.write_text(
        '<testsuites><testsuite><testcase classname="a" name="b"><properties>'
        '<property name="again" value="2 (0.10, 0.30 s stolen)"/></properties></testcase>'
        '<testcase classname="a" name="c"/></testsuite></testsuites>'
    )
    outcome = tiers.Outcome("functional")
    tiers._count(report, {"functional": outcome})
    tiers._summarise([outcome], 1.0)
    assert outcome.passed == 2
    assert "again    functional: a::b: 2 (0.10, 0.30 s stolen)" in capsys.readouterr().out
