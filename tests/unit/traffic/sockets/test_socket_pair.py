"""Servers and clients of tools: waited for, ended, and quoted when they fail. The programs are doubles."""

from pathlib import Path

import pytest

from nfvbed.errors import GeneratorError
from nfvbed.records import Engine
from nfvbed.traffic.sockets.figures import Figure, SocketFigures, over_runs
from nfvbed.traffic.sockets.hosts import Listener, SocketHost, SocketPair, listens, run_client, served

TABLE = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 010013C6:1451 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 010013C6:3039 010012C6:1451 01 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
"""


class Tool:
    """A program that is said to have ended, or to run on."""

    pid = 2**22 + 1

    def __init__(self, log: Path, status: int | None) -> None:
        self.log = log
        self.status = status
        self.stopped = False

    def alive(self) -> bool:
        return self.status is None

    def wait(self, timeout_s: float) -> int | None:
        return self.status

    def log_tail(self, lines: int = 20) -> str:
        return self.log.read_text()

    def stop(self) -> None:
        self.stopped = True


def pair(tmp_path, status, words):
    (tmp_path / "log").write_text(words)
    tool = Tool(tmp_path / "log", status)
    host = SocketHost("198.19.0.1", lambda name, argv: tool)
    return SocketPair(host, host, tmp_path), tool


def test_only_a_listening_socket_of_that_address_and_port_counts(tmp_path):
    table = tmp_path / "tcp"
    table.write_text(TABLE)
    assert listens(table, "198.19.0.1", Listener("tcp", 0x1451))
    assert not listens(table, "198.19.0.1", Listener("tcp", 0x3039)), "that one is connected"
    assert not listens(table, "198.18.0.1", Listener("tcp", 0x1451))
    assert not listens(tmp_path / "gone", "198.19.0.1", Listener("tcp", 0x1451))


def test_a_client_that_ends_well_gives_its_words(tmp_path):
    both, tool = pair(tmp_path, 0, "all of it")
    assert run_client(both, "tool", ["tool"], 0) == "all of it"
    assert tool.stopped


@pytest.mark.parametrize(("status", "what"), [(1, "tool failed"), (None, "tool does not end")])
def test_a_client_that_fails_is_quoted_and_ended(tmp_path, status, what):
    both, tool = pair(tmp_path, status, "connection refused")
    with pytest.raises(GeneratorError, match=what) as caught:
        run_client(both, "tool", ["tool"], 0)
    assert "connection refused" in str(caught.value)
    assert tool.stopped


def test_a_server_that_ends_at_once_is_an_error(tmp_path):
    both, tool = pair(tmp_path, 1, "address in use")
    with pytest.raises(GeneratorError, match="does not listen") as caught, served(both, "t", ["t"], Listener("tcp", 1)):
        pass
    assert "address in use" in str(caught.value)
    assert tool.stopped


def test_figures_over_runs_are_median_least_and_greatest_of_what_is_known():
    def run(rate, retransmits):
        figures = (Figure("throughput", rate, "bit/s"), Figure("retransmits", retransmits, "segments"))
        return SocketFigures(Engine(name="t", version="1"), 1, figures)

    rate, retransmits = over_runs([run(1.0, None), run(5.0, None), run(2.0, None)])
    assert (rate.value, rate.low, rate.high, rate.unit) == (2.0, 1.0, 5.0, "bit/s")
    assert (retransmits.value, retransmits.low) == (None, None)
