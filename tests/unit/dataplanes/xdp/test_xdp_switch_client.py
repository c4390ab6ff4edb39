"""What is said to the XDP switch and what is understood of its answers; a thread is in its place (a double)."""

import json
import re
import socket
import threading
from contextlib import contextmanager

import pytest

from nfvbed.dataplanes.xdp.client import XdpSwitchClient
from nfvbed.dataplanes.xdp.process import XdpSwitchSpec, arguments, socket_of
from nfvbed.errors import DeployError, PrerequisiteError

SPEC = XdpSwitchSpec(
    mode="generic",
    netns="/run/netns/x",
    core=0,
    ports=("s0", "v1a", "v1b", "s1"),
    cables=(("s0", "v1a"), ("v1b", "s1")),
    stations=("02:4e:46:56:00:00", "02:4e:46:56:00:01"),
)


@contextmanager
def answering(path, *answers):
    """Answer as many connections, and return what they asked."""
    asked = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(str(path))
        listening.listen(4)

        def serve():
            for answer in answers:
                connection, _ = listening.accept()
                with connection:
                    asked.append(connection.recv(100).decode())
                    connection.sendall(answer.encode())

        thread = threading.Thread(target=serve)
        thread.start()
        yield XdpSwitchClient(path), asked
        thread.join(5)


def test_counters_and_program(tmp_path):
    answer = json.dumps({"program": "drop", "ports": [{"name": "s0", "received": 7, "no_way": 2}]})
    with answering(tmp_path / "s", answer, answer, answer) as (client, asked):
        (port,) = client.counters()
        assert (port.name, port.received, port.no_way) == ("s0", 7, 2)
        assert client.program() == "drop"
        client.use("drop")
    assert asked == ["counters\n", "counters\n", "program drop\n"]


def test_runs_are_of_frames_without_their_fcs(tmp_path):
    answer = json.dumps({"verdict": 1, "duration_ns": 22, "cpu_ns": 2_250, "repeat": 100})
    with answering(tmp_path / "s", answer) as (client, asked):
        floor = client.floor("parse", 100, 64)
    assert (floor.duration_ns, floor.cpu_ns / floor.repeat) == (22, 22.5)
    assert asked == ["floor parse 100 60\n"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [('{"error": "No such file"}', "refuses.*program x"), ("", "does not answer"), ("?", "program x")],
)
def test_no_good_answer_is_reported_with_the_question(tmp_path, answer, words):
    with answering(tmp_path / "s", answer) as (client, _), pytest.raises(DeployError) as caught:
        client.use("x")
    assert re.search(words, str(caught.value).replace("\n", " "))


def test_nobody_listens(tmp_path):
    client = XdpSwitchClient(tmp_path / "s")
    assert not client.listens()
    with pytest.raises(DeployError, match="does not answer"):
        client.counters()


def test_arguments(tmp_path, monkeypatch):
    program = tmp_path / "built/xdpswitch/nfvbed-xdp-switch"
    program.parent.mkdir(parents=True)
    program.touch(0o755)
    monkeypatch.setenv("NFVBED_NATIVE_DIR", str(tmp_path / "built"))
    assert arguments(SPEC, tmp_path) == [
        str(program),
        *("--socket", str(socket_of(tmp_path)), "--generic"),
        *("--port", "s0", "--port", "v1a", "--port", "v1b", "--port", "s1"),
        *("--cable", "s0:v1a", "--cable", "v1b:s1"),
        *("--station", "02:4e:46:56:00:00", "--station", "02:4e:46:56:00:01"),
    ]
    assert "--generic" not in arguments(SPEC.model_copy(update={"mode": "native"}), tmp_path)
    monkeypatch.setenv("NFVBED_NATIVE_DIR", str(tmp_path))
    with pytest.raises(PrerequisiteError, match="is not built"):
        arguments(SPEC, tmp_path)
