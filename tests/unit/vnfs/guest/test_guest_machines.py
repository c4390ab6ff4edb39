"""Which deployments have guests to work in, what their agents are asked, and what comes of a refusal. No guest runs."""

import pytest

from nfvbed.errors import OnboardError, PrerequisiteError, UnsupportedError
from nfvbed.records import Deployment, PortKind, VnfHandle, VnfKind, VnfPort
from nfvbed.vnfs.guest import machines as module
from nfvbed.vnfs.guest.beside import check_memory
from nfvbed.vnfs.guest.connections import ConnectionsRun, Pair
from nfvbed.vnfs.guest.machines import Machine, absence, machines, paused
from nfvbed.vnfs.guest.sysbench import CpuLoad, MemoryLoad, sysbench
from nfvbed.vnfs.vm.agent import AgentRefused
from nfvbed.vnfs.vm.state import GuestState
from tests.unit.vnfs.guest.fake_agents import FakeAgents

MACS = ("02:00:00:00:00:0a", "02:00:00:00:00:0b")


def handle(name="vnf1", kind=VnfKind.VM, agent=True):
    ports = tuple(
        VnfPort(name=f"{name}{n}", vnf=0, port=n, kind=PortKind.TAP, address=f"t{n}", mac=MACS[n]) for n in (0, 1)
    )
    state = GuestState(
        run_directory="/run",
        process=name,
        monitor="/run/m",
        console="/run/c",
        console_log="/run/l",
        agent=f"/run/{name}" if agent else None,
    )
    return VnfHandle(name=name, kind=kind, forwarding="io", ports=ports, control=state.as_control())


def deployment(*handles, topology="pvp"):
    return Deployment(id="x", variant="v", site="lab", topology=topology, ports=(), vnfs=handles)


@pytest.mark.parametrize(
    ("handles", "words"),
    [
        ((), "has no VNF"),
        ((handle(kind=VnfKind.PROCESS),), "of kind process, not virtual machines"),
        ((handle(), handle("vnf2", VnfKind.CONTAINER)), "of kind container"),
        ((handle(agent=False),), "no agent"),
        ((handle(), handle("vnf2")), ""),
    ],
)
def test_absence_has_its_reason(handles, words):
    reason = absence(deployment(*handles))
    assert words in reason if words else not reason
    assert len(machines(deployment(*handles))) == (0 if words else len(handles))


TWO = (Machine(handle()), Machine(handle("vnf2")))
PAUSED = [("vnf1", "pause"), ("vnf2", "pause")]
RESUMED = [("vnf2", "resume"), ("vnf1", "resume")]


def test_guests_pause_and_go_on(monkeypatch):
    agents = FakeAgents(monkeypatch)
    with paused(TWO):
        assert agents.verbs() == PAUSED
    assert agents.verbs() == PAUSED + RESUMED


@pytest.mark.parametrize("refusal", [AgentRefused("no"), UnsupportedError("no")])
def test_guests_go_on_where_the_work_was_refused(monkeypatch, refusal):
    agents = FakeAgents(monkeypatch)
    with pytest.raises(type(refusal), match="no"), paused(TWO):
        raise refusal
    assert agents.verbs() == PAUSED + RESUMED


def test_a_guest_that_refuses_to_go_on_is_asked_again(monkeypatch):
    monkeypatch.setattr(module, "AGAIN_S", 0)
    answers = iter([AgentRefused("testpmd does not start"), AgentRefused("testpmd does not start"), {}, {}])
    agents = FakeAgents(monkeypatch, resume=lambda name, keys: next(answers))
    with paused(TWO):
        pass
    assert agents.verbs() == [*PAUSED, ("vnf2", "resume"), ("vnf2", "resume"), *RESUMED]


def test_a_guest_that_never_goes_on_is_the_trouble_of_its_cell_with_its_own_words(monkeypatch):
    monkeypatch.setattr(module, "AGAIN_S", 0)
    monkeypatch.setattr(module, "RESUME_S", 0.05)
    refused = AgentRefused("testpmd does not start", observed="its last words")
    FakeAgents(monkeypatch, resume=lambda name, keys: refused)
    words = "vnf2 does not forward again: testpmd does not start"
    with pytest.raises(OnboardError, match=words) as caught, paused(TWO):
        pass
    assert not isinstance(caught.value, AgentRefused)
    assert caught.value.observed == "its last words"


def test_guests_are_left_where_the_user_interrupts(monkeypatch):
    agents = FakeAgents(monkeypatch)
    with pytest.raises(KeyboardInterrupt), paused(TWO):
        raise KeyboardInterrupt
    assert agents.verbs() == PAUSED


def test_port_that_is_not_there_is_reported():
    with pytest.raises(OnboardError, match="no port 2"):
        TWO[0].mac(2)


SYSBENCH = {
    "events_per_s": 100.0,
    "elapsed_s": 2.0,
    "events": 200.0,
    "event_avg_ms": 9.0,
    "event_max_ms": 20.0,
    "events_per_thread_stddev": 0.5,
    "threads": 4,
    "cpus": [0, 1],
}


@pytest.mark.parametrize(
    ("load", "keys"),
    [
        (CpuLoad(4, 2, 500), {"test": "cpu", "threads": 4, "duration_s": 2, "max_prime": 500}),
        (
            MemoryLoad("write", 4, 2, 8),
            {"test": "memory", "operation": "write", "threads": 4, "duration_s": 2, "block_kib": 8},
        ),
    ],
)
def test_sysbench_is_asked_and_read(monkeypatch, load, keys):
    agents = FakeAgents(monkeypatch, sysbench=SYSBENCH)
    found = sysbench(TWO[0], load)
    assert agents.asked == [("vnf1", "sysbench", keys)]
    assert (found.events_per_s, found.cpus, found.mib_per_s) == (100.0, (0, 1), None)


def test_connections_are_counted_by_queue(monkeypatch):
    readings = iter(([0, 0], [10, 0], [300, 700], [1010, 5]))
    agents = FakeAgents(
        monkeypatch,
        queues=lambda *_: {"ports": [dict.fromkeys(("tx", "rx"), next(readings))]},
        info={"cpus": [0, 1]},
        netperf={
            "test": "TCP_STREAM",
            "connections": 3,
            "throughput": 30.0,
            "least": 9.0,
            "most": 11.0,
            "retransmissions": 0,
            "overlap": 0.97,
        },
    )
    pair = Pair(TWO[0], 1, TWO[1], 0)
    pair.start_server()
    pair.set_queues(2)
    found = pair.run("TCP_STREAM", 3, 5)
    assert (found.sent_packets, found.received_packets) == ((300, 700), (1000, 5))
    assert found.sending_queues == 2
    assert found.receiving_queues == 1, "five of a thousand packets are no use of a queue"
    asked = {(name, do): keys for name, do, keys in agents.asked}
    assert asked["vnf1", "channels"] == {"combined": 2, "ports": [MACS[1]]}
    assert asked["vnf2", "channels"] == {"combined": 2, "ports": [MACS[0]]}
    assert asked["vnf2", "serve"]["tool"] == "netperf"
    assert asked["vnf1", "netperf"]["server_cpus"] == 2
    assert asked["vnf1", "netperf"]["server"] == asked["vnf2", "serve"]["addresses"][0][0].split("/")[0]


def test_queues_without_a_packet_are_not_in_use():
    run = {"connections": 1, "throughput": 0, "least": 0, "most": 0, "retransmissions": 0, "overlap": 1}
    assert ConnectionsRun(**run, received_packets=(0, 0), sent_packets=(0, 0)).receiving_queues == 0


def test_most_queues_are_those_of_the_nic(monkeypatch):
    links = {"ports": [{"mac": MACS[0], "max_channels": 4}, {"mac": MACS[1], "max_channels": 2}]}
    FakeAgents(monkeypatch, links=links)
    assert Pair(TWO[0], 1, TWO[1], 0).queues() == (2, 4)


def test_more_guests_than_memory_are_refused_with_what_there_is(tmp_path):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:       24000000 kB\nMemAvailable:    8388608 kB\n")
    check_memory(10, 768, meminfo)
    with pytest.raises(PrerequisiteError, match="too little memory for 11 guests") as caught:
        check_memory(11, 768, meminfo)
    assert caught.value.observed == "8192 MiB available, 8960 wanted (512 of them for the host)"
