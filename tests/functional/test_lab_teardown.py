"""Nothing is left behind: after success, failure, Ctrl-C, SIGTERM and kill -9. On the real host, as root."""

import re
import signal
import time

import pytest

from tests.functional.disturbed import PATIENCE_S
from tests.functional.lab_driver import HOST_LINK
from tests.functional.lab_host import assert_back_to, run, snapshot, start, wait_for_processes


def wait_for(process, word):
    for line in process.stdout:
        if line.strip() == word:
            return
    pytest.fail(f"no {word!r}: {process.stderr.read()}")


@pytest.fixture
def hold(mark, before):
    """Starts an nfvbed that deploys and goes on running; what still runs when the test ends is killed."""
    started = []

    def hold_until(word):
        started.append(start(mark, "hold"))
        wait_for(started[-1], word)
        return started[-1]

    yield hold_until
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate()


@pytest.fixture
def held(hold):
    """An nfvbed that has deployed and goes on running."""
    return hold("deployed")


def test_everything_is_there_while_it_is_deployed_and_a_second_nfvbed_is_told_who_is_at_work(held, before, mark):
    wait_for_processes(mark, 3)  # nfvbed, its switch, and the switch's runaway child
    now = snapshot(mark)
    new = {kind: set(now[kind]) - set(before[kind]) for kind in ("namespaces", "links", "mounts", "cgroups")}
    assert len(new["namespaces"]) == 1
    assert HOST_LINK in new["links"]
    assert len(new["mounts"]) == 2  # the hugetlbfs and the namespace
    assert len(new["cgroups"]) == 1
    assert now["run"]
    status, _, err = run(mark, "once")
    assert status == 13
    assert f"pid {held.pid} since" in err
    assert "lab_driver.py hold" in err
    assert held.poll() is None
    assert snapshot(mark)["namespaces"]


def test_after_success(before, mark):
    status, out, err = run(mark, "once")
    assert (status, err) == (0, "")
    assert_back_to(before, mark)


def test_after_a_failure_in_the_middle_of_deploying(before, mark):
    status, _, err = run(mark, "fail")
    assert status == 20
    assert "the switch does not come up" in err
    assert_back_to(before, mark)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_after_a_signal_while_it_is_deployed(held, before, mark, number):
    held.send_signal(number)
    assert held.wait(PATIENCE_S) == 130
    assert_back_to(before, mark)


@pytest.mark.parametrize("delay_ms", [0, 15])
def test_after_ctrl_c_at_any_moment_of_deploying(before, mark, hold, delay_ms):
    process = hold("started")
    time.sleep(delay_ms / 1000)
    process.send_signal(signal.SIGINT)
    time.sleep(0.002)
    process.send_signal(signal.SIGINT)  # the impatient user's second one
    process.communicate(timeout=PATIENCE_S)
    # Two in a row may end Python before its own clean-up, and in the middle of it; then the next nfvbed does it.
    assert process.returncode in (130, -signal.SIGINT)
    assert run(mark, "verb", "destroy")[0] == 0
    assert_back_to(before, mark)


def test_one_ctrl_c_at_any_moment_needs_no_second_command(before, mark, hold):
    for delay_ms in (1, 5, 12, 20, 50):
        process = hold("started")
        time.sleep(delay_ms / 1000)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 130
        assert_back_to(before, mark)


def test_kill_9_then_a_dry_run_says_what_is_left_and_the_next_command_removes_it_and_says_so(held, before, mark):
    wait_for_processes(mark, 3)
    held.kill()
    held.wait()
    # The switch dies with nfvbed; what it had started, namespaces and mounts are left.
    wait_for_processes(mark, 1)
    status, out, _ = run(mark, "verb", "destroy", "--dry-run")
    assert status == 0
    assert re.search(r"would take down /run/nfvbed/\w+ \(.*1 netns.*1 mount.*1 cgroup", out)
    assert snapshot(mark)["namespaces"]
    status, out, err = run(mark, "once")
    assert status == 0
    assert "removed what a dead nfvbed had left" in err
    assert f"pid {held.pid} since" in err
    assert_back_to(before, mark)


@pytest.mark.parametrize("delay_ms", [pytest.param(0, marks=pytest.mark.slow), 10, 30])
def test_kill_9_at_any_moment_of_deploying(before, mark, hold, delay_ms):
    process = hold("started")
    time.sleep(delay_ms / 1000)
    process.kill()
    process.communicate()
    status, _, _ = run(mark, "verb", "destroy")
    assert status == 0
    assert_back_to(before, mark)
