"""The agent's loads: what sysbench and netperf are asked, and what is read of their recorded output (1.0.20, 2.7.0)."""

from pathlib import Path

import pytest
from agent import netperf, sysbench
from agent.refusal import Refusal
from agent.service import Service

RECORDED = Path(__file__).parent / "recorded"
MEMORY = {"test": "memory", "operation": "write", "threads": 32, "duration_s": 10, "block_kib": 4, "max_prime": 3}


def recorded(name):
    return (RECORDED / name).read_text()


def test_cpu_test_is_reported_its_time_and_no_number_of_events():
    words = sysbench.arguments({**MEMORY, "test": "cpu", "max_prime": 10000})
    assert words == [
        "sysbench",
        "cpu",
        "--threads=32",
        "--time=10",
        "--events=0",
        "--cpu-max-prime=10000",
        "run",
    ]


def test_memory_test_ends_by_its_time_alone():
    words = sysbench.arguments(MEMORY)
    assert words[1] == "memory"
    assert {"--memory-oper=write", "--memory-block-size=4K", "--memory-total-size=1000T"} <= set(words)


def test_recorded_cpu_test_is_read():
    found = sysbench.counted("cpu", recorded("sysbench-cpu.txt"))
    assert found["events_per_s"] > 0
    assert found["events"] == pytest.approx(found["events_per_s"] * found["elapsed_s"], rel=0.02)
    assert found["event_avg_ms"] <= found["event_max_ms"]
    assert "mib_per_s" not in found


def test_recorded_memory_test_is_read():
    found = sysbench.counted("memory", recorded("sysbench-memory.txt"))
    # A block of 1 KiB is an event.
    assert found["mib_per_s"] == pytest.approx(found["events_per_s"] / 1024, rel=0.01)
    assert found["events"] == pytest.approx(found["events_per_s"] * found["elapsed_s"], rel=0.02)


def test_output_that_lacks_a_line_is_refused_and_not_taken_for_zero():
    with pytest.raises(Refusal, match="did not print mib_per_s"):
        sysbench.counted("memory", recorded("sysbench-memory.txt").replace("MiB/sec", "MB/s"))


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({}, "needs a test"),
        ({"test": "disk"}, "needs a test"),
        ({"test": "memory", "operation": "swap"}, "no such operation"),
        ({"test": "cpu", "threads": 0}, "threads is out of range"),
        ({"test": "cpu", "duration_s": 601}, "duration_s is out of range"),
        ({"test": "cpu", "colour": "red"}, "knows no key colour"),
    ],
)
def test_wrong_request_for_sysbench_is_refused(keys, words):
    with pytest.raises(Refusal, match=words):
        sysbench.run({"schema": "vloop/1", "id": 1, "do": "sysbench", **keys})


def connections(**keys):
    return netperf.request({"schema": "vloop/1", "id": 1, "do": "netperf", "server": "192.0.2.1", **keys})


def test_connections_are_on_the_cpus_of_both_ends_in_turn(monkeypatch):
    monkeypatch.setattr(netperf.cpus, "online", lambda: [0, 1])
    found = connections(connections=4, server_cpus=4, duration_s=3)
    places = [words[words.index("-T") + 1] for words in (netperf.arguments(found, n) for n in range(5))]
    assert places == ["0,0", "1,1", "0,2", "1,3", "0,0"]


def test_recorded_stream_is_read():
    found = netperf.read(recorded("netperf-stream.txt"), 0, "10^6bits/s")
    assert (found["throughput"], found["retransmissions"]) == (10487.35, 0)


def test_recorded_transactions_are_read():
    assert netperf.read(recorded("netperf-rr.txt"), 0, "Trans/s")["throughput"] == 16149.71


@pytest.mark.parametrize(
    ("status", "unit", "words"),
    [(1, "10^6bits/s", "failed .exit 1"), (0, "Trans/s", "another unit")],
)
def test_netperf_that_failed_or_counts_otherwise_is_refused(status, unit, words):
    with pytest.raises(Refusal, match=words):
        netperf.read(recorded("netperf-stream.txt"), status, unit)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"server": ""}, "needs a server"),
        ({"test": "TCP_CRR"}, "no such test"),
        ({"connections": 1025}, "out of range"),
    ],
)
def test_wrong_request_for_netperf_is_refused(keys, words):
    with pytest.raises(Refusal, match=words):
        connections(**keys)


class FakeForwarder:
    """Forwards nothing; knows what it was asked."""

    def __init__(self, ports, request):
        self.ports, self.request = ports, request

    def start(self):
        return {"mode": self.request["mode"], "burst": self.request["burst"]}

    def stop(self):
        pass


@pytest.fixture(name="service")
def _service(monkeypatch):
    monkeypatch.setattr("agent.service.Testpmd", FakeForwarder)
    monkeypatch.setattr("agent.service.choose", lambda ports, macs, most: [])
    return Service([])


def test_forwarding_goes_on_as_it_was(service):
    service.answer({"do": "forward", "mode": "macswap", "burst": 7})
    assert service.answer({"do": "pause"}) == {"forwarding": True}
    with pytest.raises(Refusal, match="nothing forwards"):
        service.answer({"do": "stats"})
    assert service.answer({"do": "pause"}) == {"forwarding": True}, "a second pause keeps what the first one has"
    assert service.answer({"do": "resume"}) == {"mode": "macswap", "burst": 7}
    assert service.answer({"do": "resume"}) == {}, "nothing is paused any more"


def test_nothing_goes_on_where_nothing_forwarded(service):
    assert service.answer({"do": "pause"}) == {"forwarding": False}
    assert service.answer({"do": "resume"}) == {}


@pytest.mark.parametrize("request_", [{"do": "stop"}, {"do": "forward", "mode": "io"}])
def test_what_comes_between_takes_the_place_of_what_was_paused(service, request_):
    service.answer({"do": "forward", "mode": "macswap"})
    service.answer({"do": "pause"})
    service.answer(request_)
    assert service.answer({"do": "resume"}) == {}
