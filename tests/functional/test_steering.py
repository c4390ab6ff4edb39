"""Steering in a real Open vSwitch with six veth ports, without DPDK: the same forwarding with rules of any writer.

As root. The VNFs are this test: it takes a frame at one port and puts it into the next.
"""

import contextlib
import os
import signal
import socket
import threading

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.ovs import openflow
from nfvbed.dataplanes.ovs.binaries import locate
from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.database import PortRequest, SwitchDatabase
from nfvbed.dataplanes.ovs.instance import OvsInstance
from nfvbed.dataplanes.ovs.steering import controller
from nfvbed.dataplanes.ovs.steering.catalogue import steering
from nfvbed.dataplanes.ovs.steering.onos import PROCESS as RELAY
from nfvbed.dataplanes.ovs.steering.onos import device_id
from nfvbed.dataplanes.ovs.steering.path import SteeringPath, SwitchCable, path_rules
from nfvbed.dataplanes.ovs.steering.steering import SteeredBridge, check_forwarding, installed, wait_for_forwarding
from nfvbed.errors import DeployError, SwitchDiedError, UnsupportedError
from nfvbed.host.cores.arrangement import resolve
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.network import links, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.sites.lab.planes import LabPlanes
from nfvbed.spec.onos import OnosSpec
from nfvbed.spec.site import ArrangementSpec
from tests.functional.far_ends import ARP, ARRIVAL_S, PORTS, Outside, travel, udp_frame
from tests.functional.lab_host import MARK, assert_back_to, settled_snapshot
from tests.onos_double import PASSWORD, OnosDouble

pytestmark = pytest.mark.no_hugepages

PROJECT = open_project()
CHAIN = SteeringPath(PORTS, (SwitchCable("p0", "v0p0"), SwitchCable("v0p1", "v1p0"), SwitchCable("v1p1", "p1")))
PARALLEL = SteeringPath(
    PORTS,
    tuple(
        cable
        for vnf in (0, 1)
        for cable in (SwitchCable("p0", f"v{vnf}p0", (vnf, 2)), SwitchCable(f"v{vnf}p1", "p1", (vnf, 2)))
    ),
)
PATHS = {"chain": CHAIN, "parallel": PARALLEL}
TURNED = SteeringPath(PORTS, (SwitchCable("p0", "v1p0"), SwitchCable("v1p1", "v0p0"), SwitchCable("v0p1", "p1")))
"""The chain with its VNFs in the other order."""
KINDS = ("static", "controller")


@pytest.fixture(scope="module")
def running():
    with pytest.MonkeyPatch.context() as patch:
        mark = f"steering-{os.getpid()}"
        patch.setenv(MARK, mark)
        site = LabPlanes(LabMachine(PROJECT.load_site("lab"), PROJECT.root))
        # With the host lock held, what appears and disappears is ours.
        site.begin()
        before = settled_snapshot(mark)
        workspace = Workspace.create()
        try:
            yield make_bridge(workspace)
        finally:
            workspace.close()
            try:
                assert_back_to(before, mark)
            finally:
                site.close()


@pytest.fixture
def bridge(running):
    """The bridge without rules and without a controller, whatever the test before has left."""
    yield running
    with SwitchDatabase(running.database) as database:
        database.set_controller(running.name, None)
    for name in (controller.PROCESS, RELAY):
        with contextlib.suppress(DeployError):  # it was never started
            running.workspace.process(name).stop()
    controller.status_socket(running).unlink(missing_ok=True)
    steering("static").tear_down(running)


def make_bridge(workspace):
    """A bridge whose ports are veth links; their other ends are in the namespace `outside`."""
    inner, outer = workspace.network_namespace("switch"), workspace.network_namespace("outside")
    for name, number in PORTS.items():
        macs = (f"02:4e:46:56:02:{number:02x}", f"02:4e:46:56:03:{number:02x}")
        inside(inner, lambda name=name, macs=macs: links.add_veth(name, f"x-{name}", macs, outer))
    veth.prepare(outer, tuple(f"x-{name}" for name in PORTS), offloads=False)
    veth.prepare(inner, tuple(PORTS), offloads=False)
    cores = resolve(read_topology(), ArrangementSpec())
    instance = OvsInstance(workspace, locate(), cores.control_cores)
    instance.start_database()
    with instance.connect() as database:
        database.initialise({})
        instance.start_switch(inner)
        database.add_bridge("br0", [PortRequest(name, "system", number) for name, number in PORTS.items()])
    return SteeredBridge(
        name="br0",
        management=instance.management_socket("br0"),
        database=instance.database_socket,
        unixctl=instance.control_socket,
        workspace=workspace,
        netns=inner,
        cores=cores.control_cores,
    )


@pytest.fixture
def outside(bridge):
    made = Outside(bridge)
    yield made
    made.close()


@pytest.mark.parametrize("name", PATHS)
def test_forwarding_is_the_same_whoever_writes_the_rules(bridge, name):
    path = PATHS[name]
    seen = {}
    for kind in KINDS:
        made = steering(kind)
        report = made.set_up(bridge, path)
        seen[kind] = set(installed(bridge))
        assert report.rules == len(seen[kind]) == len(path_rules(path))
        assert all(duration > 0 for _, duration in report.steps)
        made.verify(bridge)
        made.tear_down(bridge)
        assert installed(bridge) == {}
    assert seen["static"] == seen["controller"] == {rule.forwarding for rule in path_rules(path)}


@pytest.mark.parametrize("kind", KINDS)
def test_frames_go_along_the_chain_and_are_counted_at_every_hop(bridge, outside, kind):
    made = steering(kind)
    made.set_up(bridge, CHAIN)
    before = made.hops(bridge, CHAIN)
    for _ in range(3):
        assert travel(outside, "p0", udp_frame(0)) == ["v0p0", "v1p0", "p1"]
    assert travel(outside, "p1", ARP) == ["v1p1", "v0p1", "p0"]
    counted = made.cables(bridge, CHAIN)
    assert [cable.name for cable in counted] == ["br0 p0 - v0p0", "br0 v0p1 - v1p0", "br0 v1p1 - p1"]
    assert [(cable.forward_packets, cable.backward_packets) for cable in counted] == [(3, 1)] * 3
    assert [cable.cookies for cable in counted] == [(1, 2), (3, 4), (5, 6)]
    after = made.hops(bridge, CHAIN)
    risen = [
        (b.name, b.rx_packets - a.rx_packets, b.tx_packets - a.tx_packets) for a, b in zip(before, after, strict=True)
    ]
    assert risen == [
        (f"br0 port {name}", *counts)
        for name, counts in zip(("p0", "v0p0", "v0p1", "v1p0", "v1p1", "p1"), [(3, 1), (1, 3)] * 3, strict=True)
    ]
    made.tear_down(bridge)


@pytest.mark.dashboard
@pytest.mark.parametrize("kind", KINDS)
def test_frames_take_the_other_order_as_soon_as_the_path_is_changed(bridge, outside, kind):
    made = steering(kind)
    made.set_up(bridge, CHAIN)
    for path, way in ((TURNED, ["v1p0", "v0p0", "p1"]), (CHAIN, ["v0p0", "v1p0", "p1"])) * 3:
        # The datapath has the old way cached: frames have just gone there.
        assert travel(outside, "p0", udp_frame(0)) != way
        report = made.change(bridge, path)
        assert (report.rules, [step for step, _ in report.steps]) == (6, ["steer.rules"])
        assert travel(outside, "p0", udp_frame(0)) == way
        assert travel(outside, "p1", ARP) == [f"{port.partition('p')[0]}p1" for port in way[1::-1]] + ["p0"]
        counted = made.cables(bridge, path)
        assert [(cable.forward_packets, cable.backward_packets) for cable in counted] == [(1, 1)] * 3
    made.tear_down(bridge)


@pytest.mark.parametrize("kind", KINDS)
def test_a_path_that_the_switch_refuses_changes_nothing(bridge, outside, kind):
    made = steering(kind)
    made.set_up(bridge, CHAIN)
    impossible = SteeringPath(PORTS | {"v1p1": 0x10000}, TURNED.cables)
    with pytest.raises(DeployError, match="does not do what OpenFlow asks|refused a rule"):
        made.change(bridge, impossible)
    assert check_forwarding(bridge, CHAIN) == 6, "the rules before the refused one are not in force either"
    assert travel(outside, "p0", udp_frame(0)) == ["v0p0", "v1p0", "p1"]
    made.tear_down(bridge)


def test_a_controller_brings_the_changed_path_back(bridge, outside):
    made = steering("controller")
    made.set_up(bridge, CHAIN)
    made.change(bridge, TURNED)
    with SwitchDatabase(bridge.database) as database:
        database.set_controller(bridge.name, None)
        steering("static").tear_down(bridge)
        database.set_controller(bridge.name, f"tcp:127.0.0.1:{controller.PORT}")
    wait_for_forwarding(bridge, TURNED)
    assert travel(outside, "p0", udp_frame(0)) == ["v1p0", "v0p0", "p1"]
    made.tear_down(bridge)


def test_onos_keeps_its_path(bridge):
    made = steering("onos", OnosSpec(url="http://127.0.0.1:1", openflow_host="127.0.0.1"))
    with pytest.raises(UnsupportedError, match="cannot be changed") as refused:
        made.change(bridge, TURNED)
    assert refused.value.observed == made.fixed


@pytest.mark.parametrize("kind", KINDS)
def test_flows_are_shared_out_over_parallel_vnfs(bridge, outside, kind):
    made = steering(kind)
    made.set_up(bridge, PARALLEL)
    for version in (4, 6):
        for flow in range(4):
            vnf = flow % 2
            assert travel(outside, "p0", udp_frame(flow, version)) == [f"v{vnf}p0", "p1"]
            assert travel(outside, "p1", udp_frame(flow, version)) == [f"v{vnf}p1", "p0"]
    assert travel(outside, "p0", ARP) == ["v0p0", "p1"], "what is no flow takes the first"
    counted = made.cables(bridge, PARALLEL)
    assert [(cable.forward_packets, cable.backward_packets) for cable in counted] == [(5, 4), (5, 4), (4, 4), (4, 4)]
    made.tear_down(bridge)


def test_controller_tells_what_it_steers(bridge, outside):
    made = steering("controller")
    report = made.set_up(bridge, CHAIN)
    assert [step for step, _ in report.steps] == ["deploy.controller", "deploy.rules"]
    travel(outside, "p0", udp_frame(0))
    made.cables(bridge, CHAIN)  # the switch's counters of rules are up to date now
    place = controller.status_socket(bridge)
    status = controller.ask(place, "status")
    assert (status["connected"], status["rules"], status["error"]) == (True, len(path_rules(CHAIN)), "")
    hops = controller.ask(place, "counters")["hops"]
    assert [(hop["cookie"], hop["packets"]) for hop in hops] == [(1, 1), (2, 0), (3, 1), (4, 0), (5, 1), (6, 0)]
    assert "status" in controller.ask(place, "dance")["error"]
    made.tear_down(bridge)


def test_controller_that_dies_is_reported_and_the_frames_go_on(bridge, outside):
    made = steering("controller")
    made.set_up(bridge, CHAIN)
    os.kill(bridge.workspace.process(controller.PROCESS).pid, signal.SIGKILL)
    bridge.workspace.process(controller.PROCESS).wait(10)
    with pytest.raises(SwitchDiedError, match="openflow-controller has ended") as caught:
        made.verify(bridge)
    assert "signal 9" in caught.value.observed
    assert check_forwarding(bridge, CHAIN) == 6
    assert travel(outside, "p0", udp_frame(0))[-1] == "p1"
    made.tear_down(bridge)
    assert installed(bridge) == {}


def test_controller_that_cannot_start_is_reported_with_its_words(bridge):
    place = controller.status_socket(bridge)
    place.mkdir()
    try:
        with pytest.raises(SwitchDiedError) as caught:
            steering("controller").set_up(bridge, CHAIN)
        assert "Is a directory" in caught.value.observed
    finally:
        place.rmdir()


class OnosWithBridge:
    """A double of ONOS that has the bridge: it takes the OpenFlow connection, and writes the rules it is asked for.

    It writes them over the bridge's management socket: what ONOS itself would send cannot be known here.
    """

    def __init__(self, bridge):
        self.bridge = bridge
        self.switches = socket.create_server(("127.0.0.1", 0))
        self.switches.settimeout(ARRIVAL_S)
        self.hello = None
        self.flows = {}
        threading.Thread(target=self._take, daemon=True).start()
        self.rest = OnosDouble(self._answer)
        host, port = self.switches.getsockname()
        self.spec = OnosSpec(url=self.rest.url, openflow_host=host, openflow_port=port)

    def _take(self):
        self.connection, _ = self.switches.accept()
        self.hello = self.connection.recv(openflow.HEADER.size, socket.MSG_WAITALL)

    def _answer(self, method, path, body):
        device = device_id(self.bridge)
        if path == "/onos/v1/devices":
            return 200, {"devices": [{"id": device, "available": self.hello is not None}]}
        if method == "POST":
            first = len(self.flows) + 100
            self.flows |= {str(number): flow for number, flow in enumerate(body["flows"], first)}
            with BridgeController(self.bridge.management) as connection:
                connection.add_rules([rule_of(flow, cookie) for cookie, flow in enumerate(body["flows"], first)])
            return 200, {"flows": [{"deviceId": device, "flowId": number} for number in self.flows]}
        if method == "DELETE":
            for flow in body["flows"]:
                del self.flows[flow["flowId"]]
            return 204, None
        known = {"appId": self.spec.application, "state": "ADDED", "packets": 0, "bytes": 0}
        return (200, {"flows": [known | {"id": number} for number in self.flows]}) if self.flows else (404, {})

    def close(self):
        self.rest.close()
        self.switches.close()
        if self.hello is not None:
            self.connection.close()


def rule_of(flow, cookie):
    """Read one of ONOS's rules back."""
    fields = {criterion["type"]: criterion for criterion in flow["selector"]["criteria"]}
    source = None
    if (udp := fields.get("UDP_SRC_MASKED")) is not None:
        version = {"0x800": 4, "0x86dd": 6}[fields["ETH_TYPE"]["ethType"]]
        source = openflow.UdpSource(version, udp["udpPort"], udp["udpMask"])
    (instruction,) = flow["treatment"]["instructions"]
    return openflow.Rule(int(instruction["port"]), fields["IN_PORT"]["port"], cookie, flow["priority"], source)


@pytest.mark.parametrize("name", PATHS)
def test_onos_gives_the_same_forwarding(bridge, monkeypatch, name):
    monkeypatch.setenv("ONOS_PASSWORD", PASSWORD)
    path = PATHS[name]
    double = OnosWithBridge(bridge)
    made = steering("onos", double.spec)
    report = made.set_up(bridge, path)
    assert [step for step, _ in report.steps] == ["deploy.controller", "deploy.rules"]
    assert double.hello[:2] == bytes([openflow.VERSION, openflow.HELLO]), "the bridge connects through the relay"
    assert set(installed(bridge)) == {rule.forwarding for rule in path_rules(path)}
    assert made.cables(bridge, path)[0].cookies[0] == 100, "cookies are ONOS's own"
    made.verify(bridge)
    made.tear_down(bridge)
    assert double.flows == {}
    assert installed(bridge) == {}
    double.close()


def test_rule_of_somebody_else_is_noticed(bridge):
    made = steering("static")
    made.set_up(bridge, CHAIN)
    assert check_forwarding(bridge, CHAIN) == 6
    with pytest.raises(DeployError, match="not those of the path") as caught:
        check_forwarding(bridge, PARALLEL)
    assert "foreign" in caught.value.observed
    made.tear_down(bridge)
    with pytest.raises(DeployError, match="lacks a rule"):
        made.cables(bridge, CHAIN)
