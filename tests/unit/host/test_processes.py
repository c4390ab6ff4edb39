"""Processes by id and start time."""

import os
import signal
import subprocess
import time

from nfvbed.host.ledger.processes import ManagedProcess, is_alive, start_time, terminate


def managed(tmp_path, argv, own=True):
    log = tmp_path / "log"
    with log.open("wb") as output:
        popen = subprocess.Popen(argv, stdout=output)
    return ManagedProcess("p", popen.pid, start_time(popen.pid), log, popen if own else None), popen


def test_alive_then_stopped(tmp_path):
    process, _ = managed(tmp_path, ["sleep", "30"])
    assert process.alive()
    assert process.exit_status is None
    process.stop()
    assert not process.alive()
    assert process.exit_status == -signal.SIGTERM
    process.stop()


def test_one_that_ignores_sigterm_is_killed(tmp_path):
    process, _ = managed(tmp_path, ["sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"])
    while "ready" not in process.log_tail():
        time.sleep(0.01)
    process.stop(0.2)
    assert process.exit_status == -signal.SIGKILL


def test_exit_status_and_log_of_one_that_ended(tmp_path):
    process, _ = managed(tmp_path, ["sh", "-c", "echo one; echo two; exit 3"])
    assert process.wait(30) == 3
    assert process.log_tail(1) == "two"


def test_zombie_of_somebody_else_is_dead_and_its_status_known(tmp_path):
    process, popen = managed(tmp_path, ["sh", "-c", "exit 7"], own=False)
    while process.alive():
        time.sleep(0.005)
    assert process.exit_status == 7
    popen.wait()
    assert process.exit_status is None


def test_missing_process():
    assert start_time(2**22 + 1) is None
    assert not is_alive(2**22 + 1, 0)
    assert terminate(2**22 + 1, 0)


def test_names_with_parentheses_do_not_confuse(tmp_path):
    program = tmp_path / "a) b (c"
    program.symlink_to("/bin/sleep")
    child = subprocess.Popen([program, "30"])
    try:
        assert is_alive(child.pid, start_time(child.pid))
        assert start_time(child.pid) >= start_time(os.getpid())
    finally:
        child.kill()
        child.wait()


def test_one_that_is_stopped_ends_by_sigterm(tmp_path):
    process, popen = managed(tmp_path, ["sleep", "30"])
    popen.send_signal(signal.SIGSTOP)
    process.stop(30)
    assert process.exit_status == -signal.SIGTERM
