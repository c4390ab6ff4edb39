"""The keeper, run on this machine as another host runs it: what it keeps, passes on and ends."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

KEEPER = Path(__file__).parents[4] / "nfvbed/host/remote/keeper.py"
ECHO = """
import os, socket, sys
door = socket.socket(socket.AF_UNIX)
door.bind(sys.argv[1])
door.listen()
print("listening", flush=True)
while True:
    client = door.accept()[0]
    for line in client.makefile("rb"):
        client.sendall(b"echo " + line)
"""
LEASE_S = 1.0
LONG_S = 30.0
WAIT_S = 15.0


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Path]:
    made = tmp_path / "k"
    made.mkdir()
    yield made
    keeper("stop", made)


def keeper(*arguments: object, status: int = 0) -> str:
    argv = [sys.executable, str(KEEPER), *map(str, arguments)]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr


def start(directory: Path, lease_s: float, *argv: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(keeper("start", directory, lease_s, *argv))
    return found


def started_echo(directory: Path, lease_s: float) -> dict[str, Any]:
    path = directory / "program.sock"
    return start(directory, lease_s, "--socket", path, "--", sys.executable, "-c", ECHO, path)


@contextlib.contextmanager
def attached(directory: Path) -> Iterator[socket.socket]:
    ours, theirs = socket.socketpair()
    process = subprocess.Popen([sys.executable, str(KEEPER), "attach", str(directory)], stdin=theirs, stdout=theirs)
    theirs.close()
    ours.settimeout(WAIT_S)
    try:
        yield ours
    finally:
        ours.shutdown(socket.SHUT_RDWR)
        ours.close()
        process.wait(WAIT_S)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + WAIT_S
    while alive(pid):
        assert time.monotonic() < deadline, f"{pid} does not end"
        time.sleep(0.02)


def status(directory: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(keeper("status", directory))
    return found


def test_lines_are_passed_on_and_signs_of_life_are_not(directory: Path):
    began = started_echo(directory, LONG_S)
    with attached(directory) as ours:
        lines = ours.makefile("rb")
        assert json.loads(lines.readline()) == began | {"running": True}
        ours.sendall(b"\n\none\n\ntw")
        assert lines.readline() == b"echo one\n"
        ours.sendall(b"o\n")
        assert lines.readline() == b"echo two\n"
    assert "listening" in (directory / "log").read_text()


def test_the_newest_client_counts_and_hears_nothing_of_the_one_before(directory: Path):
    started_echo(directory, LONG_S)
    with attached(directory) as first:
        before = first.makefile("rb")
        assert json.loads(before.readline())["running"]
        with attached(directory) as second:
            lines = second.makefile("rb")
            assert json.loads(lines.readline())["running"]
            second.sendall(b"mine\n")
            assert lines.readline() == b"echo mine\n"
            assert before.read() == b"", "it was dropped"


def test_a_program_outlives_its_connection_and_not_the_lease(directory: Path):
    pid = started_echo(directory, LEASE_S)["pid"]
    with attached(directory) as ours:
        ours.makefile("rb").readline()
        for _ in range(8):
            time.sleep(LEASE_S / 4)
            ours.sendall(b"\n")
        assert alive(pid), "signs of life keep it"
    assert alive(pid), "the end of a connection does not end it"
    wait_until_gone(pid)
    keeper("stop", directory)
    assert not directory.exists()


def test_a_connection_without_signs_of_life_is_none(directory: Path):
    pid = started_echo(directory, LEASE_S)["pid"]
    with attached(directory) as ours:
        ours.makefile("rb").readline()
        wait_until_gone(pid)


def test_stop_ends_the_program_with_its_children_and_removes_the_directory(directory: Path):
    began = start(directory, LONG_S, "--", "sh", "-c", "trap '' TERM; sleep 600 & echo $!; wait")
    deadline = time.monotonic() + WAIT_S
    while not (said := (directory / "log").read_text().strip()) and time.monotonic() < deadline:
        time.sleep(0.02)
    keeper("stop", directory)
    assert not alive(began["pid"]) and not alive(int(said))
    assert not directory.exists()
    assert status(directory) == {"schema": "nfvbed-keeper/1", "pid": 0, "running": False, "exit_status": None}


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -9 $$", -9)])
def test_how_a_program_ended_is_kept_with_its_log(directory: Path, script: str, code: int):
    pid = start(directory, LONG_S, "--", "sh", "-c", f"echo the end >&2; {script}")["pid"]
    wait_until_gone(pid)
    with attached(directory) as ours:
        seen = json.loads(ours.makefile("rb").readline())
    assert (seen["running"], seen["exit_status"]) == (False, code)
    assert status(directory)["exit_status"] == code
    assert (directory / "log").read_text() == "the end\n"


@pytest.mark.parametrize(("program", "code"), [("/no/such/program", 127), ("/etc/passwd", 126)])
def test_a_program_that_cannot_be_started_leaves_nothing(directory: Path, program: str, code: int):
    said = keeper("start", directory, LONG_S, "--", program, status=code)
    assert said.startswith(program)
    deadline = time.monotonic() + WAIT_S
    while directory.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not directory.exists()


def test_a_killed_keeper_takes_its_program_along_and_is_swept(directory: Path):
    pid = started_echo(directory, LONG_S)["pid"]
    assert keeper("sweep", directory.parent, "k") == "", "one that lives is left alone"
    os.kill(int((directory / "lock").read_text()), signal.SIGKILL)
    wait_until_gone(pid)
    assert not status(directory)["running"]
    assert keeper("sweep", directory.parent, "other") == ""
    assert keeper("sweep", directory.parent, "k") == f"{directory}\n"
    assert not directory.exists()


def test_a_directory_in_which_a_keeper_is_about_to_start_is_left_alone(directory: Path):
    assert keeper("sweep", directory.parent, "k") == ""
    os.utime(directory, (0, 0))
    assert keeper("sweep", directory.parent, "k") == f"{directory}\n"


def test_attaching_where_there_is_no_keeper(directory: Path):
    assert "no keeper" in keeper("attach", directory, status=3)
