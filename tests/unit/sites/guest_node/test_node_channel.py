"""The agent of a guest node and the host's side of its port, joined by a socket; programs are real."""

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from nfvbed.errors import DeployError
from nfvbed.sites.guest_node.machine import NodePlaces
from nfvbed.sites.guest_node.node import GuestNode, LostTimerError, lost_timer
from nfvbed.sites.guest_node.ramdisk import AGENT
from nfvbed.sites.ownmachine import Program

RECORDED = (Path(__file__).parent / "recorded" / "lost-timer-6.12.txt").read_text()
"""Console of a node whose first processor had no timer interrupt any more."""
SERVE = "import sys; sys.path.insert(0, sys.argv[1]); import agent; agent.Agent(int(sys.argv[2])).serve()"

WITH_THE_NODE = ["setpriv", "--pdeathsig", "KILL", "sleep", "600"]
"""A program that ends with the agent, as a node's all do."""


class Machine:
    """What is for QEMU: it lives until it is reported otherwise."""

    exit_status = 1

    def __init__(self):
        self.lives = True

    def alive(self):
        return self.lives

    def log_tail(self, lines):
        return "QEMU's words"

    def stop(self):
        self.lives = False


@pytest.fixture(name="machine")
def _machine():
    return Machine()


@pytest.fixture(name="node")
def _node(tmp_path, machine):
    near, far = socket.socketpair()
    argv = [sys.executable, "-c", SERVE, str(AGENT.parent), str(far.fileno())]
    process = subprocess.Popen(argv, pass_fds=[far.fileno()])
    far.close()
    node = GuestNode(machine, NodePlaces(tmp_path))
    node._channel._socket = near
    near.settimeout(0.05)
    yield node
    node.close()
    assert process.wait(10) == 0


def test_a_program_is_executed_where_and_with_what_it_was_given(node, tmp_path):
    program = Program(["sh", "-c", "pwd; echo $WORD >&2; exit 3"], tmp_path, {"WORD": "given"})
    done = node.execute(program)
    assert (done.status, done.stdout, done.stderr) == (3, f"{tmp_path}\n".encode(), b"given\n")


def test_output_is_reported_as_it_comes_and_large_output_is_whole(node):
    reported = []
    done = node.execute(
        Program(["sh", "-c", "head -c 300000 /dev/zero"]), lambda stream, data: reported.append((stream, len(data)))
    )
    assert len(done.stdout) == 300_000
    assert sum(size for _, size in reported) == 300_000
    assert {stream for stream, _ in reported} == {"stdout"}


def test_a_program_that_a_signal_ends_says_which(node):
    assert node.execute(Program(["sh", "-c", "kill -9 $$"])).status == -9


def test_a_program_that_is_not_there_is_refused(node):
    with pytest.raises(DeployError, match="cannot do it") as caught:
        node.execute(Program(["/nowhere/program"]))
    assert "No such file" in caught.value.observed


def test_files_come_and_go_whole(node, tmp_path):
    content = os.urandom(100_000)
    node.write(tmp_path / "new/file", content)
    assert (tmp_path / "new/file").read_bytes() == content
    assert node.read(tmp_path / "new/file") == content
    node.write(tmp_path / "empty", b"")
    assert node.read(tmp_path / "empty") == b""
    with pytest.raises(DeployError):
        node.read(tmp_path / "none")


def test_an_interrupt_is_passed_on_and_what_the_program_says_then_is_heard(node):
    reported = []

    def interrupt_when_it_runs(stream, data):
        reported.append(data)
        if b"ready" in data:
            threading.Thread(target=signal.raise_signal, args=[signal.SIGINT]).start()

    script = "trap 'echo tidied; exit 130' INT; echo ready; while :; do sleep 0.01; done"
    with pytest.raises(KeyboardInterrupt):
        node.execute(Program(["sh", "-c", script]), interrupt_when_it_runs)
    assert b"tidied\n" in reported


def test_a_machine_that_ends_is_noticed_with_its_last_lines(node, machine, tmp_path):
    (tmp_path / "console.log").write_text("booting\nnfvbed: guest node failed: the host's root\n")
    machine.lives = False
    with pytest.raises(DeployError, match="has ended") as caught:
        node.execute(Program(WITH_THE_NODE))
    assert caught.value.observed == "nfvbed: guest node failed: the host's root"


def test_the_agent_refuses_to_be_started_elsewhere():
    done = subprocess.run([sys.executable, AGENT, "/nowhere"], capture_output=True, text=True, check=False)
    assert "nothing was touched" in done.stdout


def test_a_node_that_lost_a_timer_is_given_up_while_its_program_runs(node, tmp_path):
    console = NodePlaces(tmp_path).console
    console.write_text(RECORDED)
    with pytest.raises(LostTimerError) as caught:
        node.execute(Program(WITH_THE_NODE, tmp_path))
    assert "timer handling issue on cpu=0 timer-softirq=9959" in caught.value.observed
    assert caught.value.where == str(console)


def test_a_timer_that_came_late_once_is_not_lost():
    lines = RECORDED.splitlines()
    (first, *_) = [number for number, line in enumerate(lines) if "timer handling issue" in line]
    once = lines[: first + 1]
    assert lost_timer(once) == ""
    assert lost_timer([*once, once[-1].replace("9959", "9960")]) == "", "it came meanwhile"
    assert lost_timer([*once, once[-1].replace("cpu=0", "cpu=1")]) == "", "another processor's"
    assert lost_timer([*once, once[-1]]) == once[-1]
