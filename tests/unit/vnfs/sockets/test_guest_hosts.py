"""Hosts in virtual machines: what their agents are asked, what is read of their answers. No guest runs."""

import zlib
from base64 import b64encode

import pytest

from nfvbed.errors import GeneratorError, OnboardError, PrerequisiteError
from nfvbed.host.network import links
from nfvbed.records import Deployment, PortKind, VnfHandle, VnfKind, VnfPort
from nfvbed.traffic.sockets.hosts import Listener
from nfvbed.vnfs.guest.machines import path_guests
from nfvbed.vnfs.sockets import guest_hosts as guest_hosts_module
from nfvbed.vnfs.sockets.devices import GSO, SCATTER, TSO
from nfvbed.vnfs.sockets.ends import must_be_guests, tools_of, why_not
from nfvbed.vnfs.sockets.guest_hosts import GuestCores, guest_hosts
from nfvbed.vnfs.vm.agent import AgentRefused
from nfvbed.vnfs.vm.state import GuestState
from tests.unit.vnfs.guest.fake_agents import FakeAgents

MACS = ("02:4e:46:56:11:00", "02:4e:46:56:12:00")
INFO = {
    "version": "1-abc",
    "tools": ["iperf3", "netperf", "netserver"],
    "tools_folder": "/run/tools",
    "congestion_controls": ["reno", "cubic"],
    "versions": {"netperf": "2.7.0-0.1"},
}
COUNTED = {"rx_packets": 3, "tx_packets": 5, "rx_bytes": 300, "tx_bytes": 500, "rx_dropped": 1}
OFFLOADS = {"rx": True, "tx": True, "sg": True, "tso": False, "gso": True, "gro": True}


def handle(place, kind=VnfKind.VM, agent=True, cores=(1,), ports=(0,)):
    name = f"vnf{place + 1}"
    found = tuple(
        VnfPort(
            name=f"v{place + 1}{'ab'[number]}",
            vnf=place,
            port=number,
            kind=PortKind.TAP,
            address="t",
            mac=f"{MACS[place][:-2]}{number:02x}",
        )
        for number in ports
    )
    state = GuestState(
        run_directory="/run",
        process=name,
        monitor="/run/m",
        console="/run/c",
        console_log="/run/l",
        agent=f"/run/{name}" if agent else None,
    )
    control = state.as_control() if kind is VnfKind.VM else {}
    return VnfHandle(name=name, kind=kind, forwarding="io", ports=found, cores=cores, control=control)


def deployment(topology="v2v", **changes):
    vnfs = tuple(handle(place, **changes) for place in (0, 1))
    return Deployment(id="x", variant="v", site="lab", topology=topology, ports=(), vnfs=vnfs)


@pytest.fixture(name="agents")
def _agents(monkeypatch):
    return FakeAgents(monkeypatch, info=INFO)


@pytest.fixture(name="ends")
def _ends(agents):
    found = deployment()
    with guest_hosts(found, path_guests(found)) as ends:
        yield ends


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (deployment(), ""),
        (deployment(kind=VnfKind.PROCESS), "hosts would be in virtual machines: its VNFs are of kind process"),
        (deployment(agent=False), "no agent"),
    ],
)
def test_guests_that_are_the_ends_are_the_hosts(found, reason):
    assert must_be_guests(found)
    why = why_not(found, path_guests(found))
    assert reason in why if reason else why == ""


def test_guests_on_the_path_are_hosts_where_they_are_asked_for(agents):
    found = deployment("pvvp", ports=(0, 1))
    guests = path_guests(found)
    assert not must_be_guests(found) and why_not(found, guests) == ""
    with guest_hosts(found, guests):
        pass
    assert [(name, keys["ports"]) for name, keys in agents.of("lead")] == [
        ("vnf1", [f"{MACS[0][:-2]}01"]),
        ("vnf2", [MACS[1]]),
    ], "the cable of the chain joins the first one's second port with the second one's first port"


def test_each_guest_has_an_address_and_the_way_to_the_other(agents, ends):
    (first, to_second), (second, to_first) = agents.of("lead")
    assert (first, second) == ("vnf1", "vnf2")
    assert (to_second["address"], to_second["peer"]) == (to_first["peer"], to_first["address"])
    assert (to_second["ports"], to_second["peer_mac"], to_second["mtu"]) == ([MACS[0]], MACS[1], 1500)
    assert ends.pair.client.address == to_second["address"]
    assert (ends.kind, ends.what) == ("guests", "virtual machines on tap ports")


def test_cores_are_those_of_the_virtual_cpus(ends):
    assert ends.cores.shared and ends.cores.all == ()
    apart = GuestCores((1, 2), (3,))
    assert not apart.shared
    assert apart.described == "end 0 in a guest on core 1 or 2, end 1 in one on core 3"
    assert GuestCores((), ()).described == "both guests on whatever cores their hosts give them"


def test_a_tool_is_started_waited_for_read_and_ended(agents, ends):
    agents.answers["start"] = {"process": 77, "log": "1.log"}
    agents.answers["wait"] = {"status": 3}
    agents.answers["listens"] = {"listens": True}
    whole = b"all of it, in two parts"
    agents.answers["read"] = lambda _, keys: {
        "part": b64encode(zlib.compress(whole[keys["offset"] :][:12])).decode(),
        "bytes": len(whole),
    }
    process = ends.pair.server.start("x", ["iperf3", "-s"])
    assert agents.of("start") == [("vnf2", {"program": "iperf3", "arguments": ["-s"]})]
    assert process.wait(1.5) == 3 and agents.of("wait") == [("vnf2", {"process": 77, "timeout_ms": 1500})]
    assert process.output() == whole.decode()
    assert [keys["offset"] for _, keys in agents.of("read")] == [0, 12]
    assert process.listens("198.19.0.1", Listener("tcp", 5201))
    process.stop()
    assert agents.of("end") == [("vnf2", {"process": 77})]


def test_a_file_is_taken_and_one_that_is_not_there_is_none(agents, ends):
    client = ends.pair.client
    assert client.path("a.csv") == "/run/tools/a.csv"
    agents.answers["read"] = AgentRefused("there is no such file")
    assert client.take("a.csv") is None and not agents.of("remove")
    agents.answers["read"] = {"part": b64encode(zlib.compress(b"1,2")).decode(), "bytes": 3}
    assert client.take("a.csv") == "1,2"
    assert agents.of("remove") == [("vnf1", {"name": "a.csv"})]


@pytest.mark.parametrize("part", ["%%%", b64encode(b"not zlib").decode(), None])
def test_an_answer_that_is_no_part_of_a_file_is_refused(agents, ends, part):
    agents.answers["read"] = {"part": part, "bytes": 3}
    with pytest.raises(GeneratorError, match="no part of a file"):
        ends.pair.client.take("a.csv")


def test_a_part_unfolds_no_further_than_its_bound_and_a_file_has_one(monkeypatch, agents, ends):
    monkeypatch.setattr(guest_hosts_module, "_PART_BYTES", 10)
    monkeypatch.setattr(guest_hosts_module, "_MOST_BYTES", 25)
    agents.answers["read"] = {"part": b64encode(zlib.compress(bytes(1000))).decode(), "bytes": 1000}
    with pytest.raises(GeneratorError, match="too long"):
        ends.pair.client.take("a.csv")
    assert [keys["offset"] for _, keys in agents.of("read")] == [0, 10, 20]


def test_a_guest_that_does_not_answer_is_the_traffics_failure(agents, ends):
    agents.answers["start"] = agents.answers["read"] = OnboardError("the guest went away", where="/run/vnf1")
    with pytest.raises(GeneratorError, match="the guest went away"):
        ends.pair.client.start("x", ["iperf3"])
    with pytest.raises(GeneratorError, match="the guest went away"):
        ends.pair.client.take("a.csv")


def test_a_device_is_counted_set_and_read_back_by_its_guest(agents, ends):
    first = ends.devices[0]
    agents.answers["links"] = lambda name, _: {
        "ports": [{"mac": MACS[name == "vnf2"], "counters": COUNTED, "offloads": OFFLOADS}]
    }
    counted = first.traffic()
    assert (counted.rx_packets, counted.tx_packets, counted.tx_bytes) == (3, 5, 500)
    assert first.features() == {links.CHECKSUM: True, TSO: False, GSO: True, links.GRO: True, SCATTER: True}
    agents.answers["offloads"] = AgentRefused("the offload tso cannot be switched on")
    first.set_features({TSO: True, GSO: False})
    assert agents.of("offloads") == [("vnf1", {"tso": True, "gso": False, "ports": [MACS[0]]})]


def test_tools_are_those_of_the_image(agents):
    tools = tools_of(path_guests(deployment()))
    assert tools.command("netserver") == ("netserver",)
    assert tools.version("netperf") == "2.7.0-0.1"
    assert tools.congestion_controls() == ("reno", "cubic")
    with pytest.raises(PrerequisiteError, match="sockperf is not there") as caught:
        tools.command("sockperf")
    assert caught.value.fix == "make images"


def test_an_image_of_an_older_nfvbed_is_named(agents):
    agents.answers["info"] = {"version": "1-old", "versions": {}}
    with pytest.raises(PrerequisiteError, match="starts no tools") as caught:
        tools_of(path_guests(deployment()))
    assert (caught.value.observed, caught.value.fix) == ("image 1-old", "make images")
