"""Commands over a control socket: what is sent, answers in parts, long ones, refusals, and a daemon that is gone."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nfvbed.dataplanes.ovs import unixctl
from nfvbed.errors import DeployError

ENTRIES = 200_000
ENTRY = "udp,orig=(src=198.18.0.1,dst=198.19.0.1),reply=(src=198.19.0.1,dst=198.18.0.1),zone=1,timeout=30\n"


class Daemon:
    """Takes one command and answers with given parts."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.asked: dict[str, object] = {}
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(path))
        self._socket.listen(1)
        self._thread: threading.Thread | None = None

    def answers(self, *parts: bytes, pause_s: float = 0.0) -> None:
        def serve() -> None:
            client, _ = self._socket.accept()
            with client:
                self.asked = json.loads(client.recv(65_536))
                for part in parts:
                    client.sendall(part)
                    time.sleep(pause_s)

        self._thread = threading.Thread(target=serve)
        self._thread.start()

    def close(self) -> None:
        if self._thread is not None:
            self._thread.join(timeout=30)
        self._socket.close()


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    found = Daemon(tmp_path / "ctl")
    yield found
    found.close()


def reply(result: str | None, error: str | None = None) -> bytes:
    return json.dumps({"id": 0, "result": result, "error": error}).encode()


def test_a_command_and_its_arguments_are_sent_and_its_text_comes_back(daemon: Daemon) -> None:
    daemon.answers(reply('a "line"\nanother {one}\n'))
    assert unixctl.command(daemon.path, "dpctl/dump-flows", "-m") == 'a "line"\nanother {one}\n'
    assert (daemon.asked["method"], daemon.asked["params"]) == ("dpctl/dump-flows", ["-m"])


def test_an_answer_in_parts_is_put_together_also_where_one_ends_as_an_object_does(daemon: Daemon) -> None:
    whole = reply("first {one} second {two} é")
    parts = [whole[: whole.index(b"}") + 1], whole[whole.index(b"}") + 1 :]]
    daemon.answers(*parts, pause_s=0.05)
    assert unixctl.command(daemon.path, "list-commands") == "first {one} second {two} é"


def test_the_connections_of_a_hundred_thousand_flows_are_read_in_less_than_entries_live(daemon: Daemon) -> None:
    daemon.answers(reply(ENTRY * ENTRIES))
    began = time.process_time()
    assert unixctl.command(daemon.path, "dpctl/dump-conntrack", "-s").count("\n") == ENTRIES
    assert time.process_time() - began < 10, "an answered connection that is not used ends after 30 s"


@pytest.mark.parametrize(
    ("answer", "observed"),
    [
        (lambda: (reply(None, '"nonsense" is not a valid command\n'),), '"nonsense" is not a valid command'),
        (lambda: (), "the connection was closed"),
        (lambda: (b'{"id": 0, "resul',), "the connection was closed"),
    ],
)
def test_a_refusal_and_a_closed_connection_are_told(
    daemon: Daemon, answer: Callable[[], tuple[bytes, ...]], observed: str
) -> None:
    daemon.answers(*answer())
    with pytest.raises(DeployError, match="does not answer nonsense") as caught:
        unixctl.command(daemon.path, "nonsense")
    assert caught.value.observed == observed


def test_a_daemon_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(DeployError) as caught:
        unixctl.command(tmp_path / "gone", "version")
    assert caught.value.observed == "No such file or directory"
