"""Servers and clients of tools: waited for, ended, and quoted when they fail. The programs are doubles."""

from collections.abc import Sequence

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

    where = "the log"

    def __init__(self, words: str, status: int | None) -> None:
        self.words = words
        self.status = status
        self.stopped = False

    def alive(self) -> bool:
        return self.status is None

    def wait(self, timeout_s: float) -> int | None:
        return self.status

    def output(self) -> str:
        return self.words

    def listens(self, address: str, listener: Listener) -> bool:
        return False

    def stop(self) -> None:
        self.stopped = True


class Host(SocketHost):
    """A host that starts one program, whatever is asked for."""

    address = "198.19.0.1"

    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    def start(self, name: str, argv: Sequence[str]) -> Tool:
        return self.tool

    def path(self, name: str) -> str:
        return name

    def take(self, name: str) -> str | None:
        return None


def pair(status, words):
    tool = Tool(words, status)
    return SocketPair(Host(tool), Host(tool)), tool


def test_only_a_listening_socket_of_that_address_and_port_counts(tmp_path):
    table = tmp_path / "tcp"
    table.write_text(TABLE)
    assert listens(table, "198.19.0.1", Listener("tcp", 0x1451))
    assert not listens(table, "198.19.0.1", Listener("tcp", 0x3039)), "that one is connected"
    assert not listens(table, "198.18.0.1", Listener("tcp", 0x1451))
    assert not listens(tmp_path / "gone", "198.19.0.1", Listener("tcp", 0x1451))


def test_a_client_that_ends_well_gives_its_words():
    both, tool = pair(0, "all of it")
    assert run_client(both, "tool", ["tool"], 0) == "all of it"
    assert tool.stopped


@pytest.mark.parametrize(("status", "what"), [(1, "tool failed"), (None, "tool does not end")])
def test_a_client_that_fails_is_quoted_and_ended(status, what):
    both, tool = pair(status, "connection refused")
    with pytest.raises(GeneratorError, match=what) as caught:
        run_client(both, "tool", ["tool"], 0)
    assert "connection refused" in str(caught.value)
    assert tool.stopped


def test_a_server_that_ends_at_once_is_an_error():
    both, tool = pair(1, "address in use")
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
