"""The client of a guest's agent, against a socket that answers as a serial line does."""

import json
import socket
import threading

import pytest

from nfvbed.errors import OnboardError
from nfvbed.vnfs.vm.agent import Agent, AgentRefused, SerialPort


@pytest.fixture
def line(tmp_path):
    """Serve one connection with a function from the request to the bytes that are sent."""
    path, threads = tmp_path / "agent", []

    def serve(answer):
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        listener.listen(1)

        def work():
            connection, _ = listener.accept()
            with connection, listener:
                text = b""
                while not text.strip() or not text.endswith(b"\n"):
                    text += connection.recv(65536)
                connection.sendall(answer(json.loads(text)))
                connection.recv(1)

        threads.append(threading.Thread(target=work))
        threads[-1].start()
        return Agent(SerialPort(path))

    yield serve
    for thread in threads:
        thread.join(10)


def reply(document, **keys):
    return json.dumps({"schema": "vloop/1", "id": document["id"], "ok": True, "result": {}} | keys).encode() + b"\n"


def test_result_is_given(line):
    agent = line(lambda document: reply(document, result={"did": document["do"], "mode": document["mode"]}))
    assert agent.ask("forward", {"mode": "io"}) == {"did": "forward", "mode": "io"}


def test_answers_to_others_are_skipped(line):
    stale = {"schema": "vloop/1", "id": 1, "ok": True, "result": {"stale": True}}
    agent = line(lambda document: b"\n" + json.dumps(stale).encode() + b"\n\n" + reply(document, result={"a": 1}))
    assert agent.ask("info") == {"a": 1}


def test_refusal_keeps_its_parts(line):
    fault = {"what": "no hugepages", "where": "/sys/x", "observed": "0 free", "fix": "more memory"}
    agent = line(lambda document: reply(document, ok=False, result=None, error=fault))
    with pytest.raises(AgentRefused, match="refused forward: no hugepages") as caught:
        agent.ask("forward")
    assert (caught.value.observed, caught.value.fix) == ("0 free", "more memory")
    assert caught.value.where.endswith("/sys/x")


@pytest.mark.parametrize(
    "answer",
    [
        lambda document: b"login:\n",
        lambda document: b"[]\n",
        lambda document: reply(document, schema="vloop/2"),
        lambda document: reply(document, ok="perhaps"),
        lambda document: reply(document, result=None),
    ],
)
def test_other_answers_are_reported(line, answer):
    with pytest.raises(OnboardError, match="something else than vloop/1") as caught:
        line(answer).ask("info")
    assert "make images" in caught.value.fix


def test_no_answer_in_time_is_reported(line):
    with pytest.raises(OnboardError, match="did not answer info in time"):
        line(lambda document: b"").ask("info", timeout_s=0.2)


def test_guest_that_is_not_there_is_reported(tmp_path):
    with pytest.raises(OnboardError, match="cannot be reached"):
        Agent(SerialPort(tmp_path / "nobody")).ask("info")
