"""The first process of a node, as an ordinary process: commands, services, files, orphans."""

import getpass
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nfvbed.cloud.devcloud.nodes import supervisor
from nfvbed.cloud.devcloud.nodes.channel import Channel, Command
from nfvbed.errors import DeployError

ME = getpass.getuser()
PROGRAM = """
import sys, runpy, ctypes
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # as pid 1 it inherits orphans
sys.path.insert(0, sys.argv[1])
import supervisor
supervisor.SOCKET, supervisor.LOGS = sys.argv[2], sys.argv[3]
supervisor.main()
"""


@pytest.fixture(name="channel")
def _channel(tmp_path):
    folder = str(Path(supervisor.__file__).parent)
    argv = [sys.executable, "-c", PROGRAM, folder, str(tmp_path / "socket"), str(tmp_path)]
    process = subprocess.Popen(argv)
    channel = Channel(tmp_path / "socket", "test")
    deadline = time.monotonic() + 10
    while not channel.ping() and time.monotonic() < deadline:
        time.sleep(0.01)
    yield channel
    process.terminate()
    process.wait(5)


def _run(channel, *argv, **more):
    return channel.run(Command(argv, ME, **more))


def test_a_command_gives_status_and_output(channel):
    output = _run(channel, "sh", "-c", "cat; echo no >&2; exit 3", input="yes")
    assert (output.status, output.stdout, output.stderr) == (3, "yes", "no\n")


def test_a_command_that_must_succeed_is_reported_with_its_last_lines(channel):
    with pytest.raises(DeployError) as raised:
        channel.check(Command(("sh", "-c", "echo broken >&2; exit 1"), ME))
    assert raised.value.observed == "exit status 1: broken"


def test_a_command_that_hangs_is_ended(channel):
    with pytest.raises(DeployError) as raised:
        _run(channel, "sleep", "60", timeout_s=0.1)
    assert "did not end" in raised.value.what


def test_a_program_that_is_not_there_is_reported(channel):
    with pytest.raises(DeployError) as raised:
        _run(channel, "no-such-program")
    assert "FileNotFoundError" in raised.value.observed


def test_only_what_is_given_is_in_the_environment(channel):
    found = _run(channel, "env", environment=(("OS_CLOUD", "x"),)).stdout
    assert "OS_CLOUD=x" in found
    assert "VIRTUAL_ENV" not in found


def test_a_service_runs_until_it_is_stopped(channel):
    assert channel.start("sleeper", ["sleep", "60"], ME)
    assert not channel.start("sleeper", ["sleep", "60"], ME)
    (state,) = channel.services()
    assert (state.name, state.starts, state.status) == ("sleeper", 1, None)
    assert channel.stop("sleeper") == -15
    assert channel.services()[0].status == -15


def test_a_service_that_ended_is_started_again(channel, tmp_path):
    channel.start("brief", ["sh", "-c", "echo hello; exit 4"], ME)
    deadline = time.monotonic() + 5
    while channel.services()[0].status is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert channel.services()[0].status == 4
    assert (tmp_path / "brief.log").read_text() == "hello\n"
    assert channel.start("brief", ["sleep", "60"], ME)
    assert channel.services()[0].starts == 2
    channel.stop("brief")


def test_stopping_takes_the_children_along(channel, tmp_path):
    channel.start("parent", ["sh", "-c", "sleep 61 & echo $!; wait"], ME)
    log = tmp_path / "parent.log"
    deadline = time.monotonic() + 5
    while not log.read_text().strip() and time.monotonic() < deadline:
        time.sleep(0.01)
    child = int(log.read_text())
    channel.stop("parent")
    deadline = time.monotonic() + 5
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not Path(f"/proc/{child}").exists()


def test_files_are_written_for_their_owner(channel, tmp_path):
    target = tmp_path / "etc/service.conf"
    channel.write(str(target), "secret\n", 0o640, ME)
    assert target.read_text() == "secret\n"
    assert target.stat().st_mode & 0o777 == 0o640
    channel.mkdir(str(tmp_path / "etc/folder"), 0o700, ME)
    assert (tmp_path / "etc/folder").stat().st_mode & 0o777 == 0o700


def test_a_folder_with_a_long_name_is_no_hindrance(tmp_path):
    folder = tmp_path / ("long" * 40)
    folder.mkdir()
    assert not Channel(folder / "socket", "test").ping()


def test_a_node_that_is_gone_is_reported(tmp_path):
    with pytest.raises(DeployError) as raised:
        Channel(tmp_path / "socket", "controller").services()
    assert raised.value.what == "node controller does not answer"


def test_what_an_ended_service_had_started_is_ended_before_it_is_started_again(channel, tmp_path):
    told = tmp_path / "child"
    script = f"sleep 600 & echo $! > {told}; wait"
    channel.start("script", ("sh", "-c", script), ME)
    child = int(_until(lambda: told.exists() and told.read_text().strip()))
    (service,) = channel.services()
    os.kill(service.pid, signal.SIGKILL)
    _until(lambda: channel.services()[0].status is not None)
    assert Path(f"/proc/{child}").exists(), "it outlived the script"
    channel.start("script", ("sleep", "600"), ME)
    assert not Path(f"/proc/{child}").exists()
    channel.stop("script")


def _until(done, timeout_s=5.0):
    deadline = time.monotonic() + timeout_s
    while not (found := done()) and time.monotonic() < deadline:
        time.sleep(0.01)
    return found
