"""A chain as MANO makes it: Tacker's forwarding graph over Neutron's port chains, and the same path by static rules.

The two ends are Neutron ports on `br-int`, the VNFs two vloops through Tacker's legacy API; frames are counted, and the
datapath's look-ups.
"""

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from nfvbed.cloud.devcloud import enable
from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.tacker.connection import tacker_client
from tests.openstack.cloud_driver import nfvbed, wait

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(1800)]
IMAGE, FLAVOR = "vloop-mac", "nfvbed.hugepages"
LINKS = ("sfc0", "sfc1", "sfc2")
"""Networks from one end over both VNFs to the other."""
SENDER, RECEIVER = "gsrc", "gdst"
"""Names of the ends: ports of Neutron, and devices."""
LAST_MAC = "02:00:00:00:00:01"
"""Destination that testpmd in mode `mac` writes into what leaves by its second port."""
VNFS = ("chained1", "chained2")
FRAMES = 4000
COOKIE = "0x99"
SCRIPT = Path(__file__).with_name("udp_in_node.py").read_text()


@dataclass(frozen=True)
class Passes:
    """What the datapath counted of frames that were sent."""

    arrived: int
    received: int
    """Frames that came in through any port."""
    recirculations: int

    def __sub__(self, before):
        return Passes(self.arrived, self.received - before.received, self.recirculations - before.recirculations)


class ChainCloud:
    """The cloud with networking-sfc, the chain's networks and ends."""

    def __init__(self, cloud):
        self._cloud = cloud
        self.ports = {}

    def run(self, *argv):
        return self._cloud.channel.check(Command(argv)).strip()

    def vsctl(self, *words):
        return self.run("/usr/bin/ovs-vsctl", *words)

    def ofctl(self, *words):
        return self.run("/usr/bin/ovs-ofctl", *words)

    def make(self, stack):
        """Make networks and ends; `stack` takes them away."""
        api = self._cloud.api
        networks = {}
        for number, name in enumerate(LINKS):
            asked = {"name": name, "provider:network_type": "vxlan", "port_security_enabled": False}
            made = networks[name] = api.post("neutron", "/v2.0/networks", {"network": asked})["network"]["id"]
            stack.callback(api.delete, "neutron", f"/v2.0/networks/{made}")
            subnet = {"network_id": made, "ip_version": 4, "cidr": f"10.96.{number}.0/24", "gateway_ip": None}
            api.post("neutron", "/v2.0/subnets", {"subnet": {**subnet, "enable_dhcp": False}})
        for name, link, mac in ((SENDER, LINKS[0], None), (RECEIVER, LINKS[-1], LAST_MAC)):
            asked = {"name": name, "network_id": networks[link], "binding:host_id": "controller", "device_id": name}
            asked |= {"device_owner": "compute:test"} | ({"mac_address": mac} if mac else {})
            self.ports[name] = api.post("neutron", "/v2.0/ports", {"port": asked})["port"]
            stack.callback(api.delete, "neutron", f"/v2.0/ports/{self.ports[name]['id']}")
            self._plug(name)
            stack.callback(self.vsctl, "--if-exists", "del-port", "br-int", name)
        for one in self.ports.values():
            path = f"/v2.0/ports/{one['id']}"
            assert wait(lambda path=path: api.get("neutron", path)["port"]["status"] == "ACTIVE", 60)

    def _plug(self, name):
        port = self.ports[name]
        words = ("add-port", "br-int", name, "--", "set", "Interface", name, "type=internal")
        words += (f'mac="{port["mac_address"]}"', f"external_ids:iface-id={port['id']}")
        words += (f'external_ids:attached-mac="{port["mac_address"]}"', "external_ids:iface-status=active")
        self.vsctl(*words)
        self.run("/usr/sbin/ip", "link", "set", name, "address", port["mac_address"], "up")

    def address(self, name):
        return self.ports[name]["fixed_ips"][0]["ip_address"]

    def passes(self):
        """Send all frames; return what the datapath counted of them."""
        before = self._counted()
        argv = ("/usr/bin/python3", "-c", SCRIPT, SENDER, RECEIVER, str(FRAMES))
        arrived = int(self.run(*argv, self.address(SENDER), self.address(RECEIVER)))
        found = self._counted(arrived) - before
        print(found)
        return found

    def _counted(self, arrived=0):
        control = self.run("/bin/sh", "-c", "echo /run/openvswitch/ovs-vswitchd*.ctl")
        text = self.run("/usr/bin/ovs-appctl", "-t", control, "dpif-netdev/pmd-stats-show")
        sums = [sum(map(int, re.findall(rf"{words}: (\d+)", text))) for words in ("packets received", "recirculations")]
        return Passes(arrived, *sums)

    def sent_to(self, device):
        """Return how many frames the switch has sent out of a port."""
        return int(self.vsctl("get", "Interface", device, "statistics:tx_packets"))

    def number(self, device):
        return self.vsctl("get", "Interface", device, "ofport")

    def devices(self, servers):
        """Return the devices of the VNFs' ports, along the path."""
        listed = self._cloud.api.get("neutron", "/v2.0/ports")["ports"]
        of = [[one for one in listed if one["device_id"] == server] for server in servers]
        networks = {one["id"]: one["name"] for one in self._cloud.api.get("neutron", "/v2.0/networks")["networks"]}
        sides = [sorted(ports, key=lambda one: LINKS.index(networks[one["network_id"]])) for ports in of]
        return [f"vhu{port['id'][:11]}" for side in sides for port in side]


@pytest.fixture(scope="module", name="chain_cloud")
def _chain_cloud(onboarding_cloud):
    """The networks stay on a cloud whose Neutron keeps networking-sfc until it is stopped; ports and VNFs go."""
    enable.release(onboarding_cloud.api)  # instances boot on the controller, whatever an earlier test deployed
    started = nfvbed("start", "--port-chains")
    assert started.returncode == 0, started.stderr
    before = onboarding_cloud.holdings()
    with contextlib.ExitStack() as stack:
        found = ChainCloud(onboarding_cloud)
        found.make(stack)
        yield found
    assert onboarding_cloud.holdings() | {"images": before["images"]} == before


def vnfd(name, links):
    """Return a legacy template of one vloop between two networks."""
    machine = {"image": IMAGE, "flavor": FLAVOR, "mgmt_driver": "noop", "config_drive": True}
    nodes = {"VDU1": {"type": "tosca.nodes.nfv.VDU.Tacker", "properties": machine}}
    for order, (point, link) in enumerate(zip(("in", "out"), links, strict=True)):
        nodes[f"VL_{link}"] = {
            "type": "tosca.nodes.nfv.VL",
            "properties": {"network_name": link, "vendor": "nfvbed"},
        }
        nodes[point] = {
            "type": "tosca.nodes.nfv.CP.Tacker",
            "properties": {"order": order, "anti_spoofing_protection": False, "type": "vnic"},
            "requirements": [
                {"virtualLink": {"node": f"VL_{link}"}},
                {"virtualBinding": {"node": "VDU1"}},
            ],
        }
    return {
        "tosca_definitions_version": "tosca_simple_profile_for_nfv_1_0_0",
        "description": name,
        "metadata": {"template_name": name},
        "topology_template": {"node_templates": nodes},
    }


def graph(source_port, target, encapsulated):
    """Return a legacy descriptor of the path through both VNFs."""
    classifier = {"network_src_port_id": source_port, "ip_proto": 17, "ip_dst_prefix": f"{target}/32"}
    path = [
        {"forwarder": name, "capability": point, **({} if encapsulated else {"sfc_encap": False})}
        for name in VNFS
        for point in ("in", "out")
    ]
    forwarding = {"id": 51, "policy": {"type": "ACL", "criteria": [{"name": "udp", "classifier": classifier}]}}
    members = {
        "vendor": "tacker",
        "version": 1.0,
        "number_of_endpoints": 2 * len(VNFS),
        "dependent_virtual_link": [f"VL_{link}" for link in LINKS[:2]],
        "connection_point": ["in", "out"] * len(VNFS),
        "constituent_vnfs": list(VNFS),
    }
    node = {"type": "tosca.nodes.nfv.FP.TackerV2", "description": "path", "properties": {**forwarding, "path": path}}
    group = {"type": "tosca.groups.nfv.VNFFG", "description": "chain", "members": ["path"], "properties": members}
    return {
        "tosca_definitions_version": "tosca_simple_profile_for_nfv_1_0_0",
        "description": "a chain of two",
        "topology_template": {"node_templates": {"path": node}, "groups": {"VNFFG1": group}},
    }


def settle(show, states):
    """Wait until what Tacker shows has one of the states."""
    assert wait(lambda: show()["status"] in states, 300), show()
    found = show()
    assert found["status"] == "ACTIVE", found


@pytest.fixture(scope="module", name="servers")
def _servers(onboarding_cloud, connection, chain_cloud):
    """Instances of both VNFs, along the path; they forward."""
    tacker = tacker_client(connection)
    if not onboarding_cloud.api.get("glance", f"/v2/images?name={IMAGE}")["images"]:
        onboarding_cloud.vloop(IMAGE, "mac")
    made = []
    with contextlib.ExitStack() as stack:
        for name, links in zip(VNFS, (LINKS[:2], LINKS[1:]), strict=True):
            asked = {"name": name, "service_types": [{"service_type": "vnfd"}]}
            described = tacker.create_vnfd({"vnfd": {**asked, "attributes": {"vnfd": vnfd(name, links)}}})["vnfd"]["id"]
            stack.callback(tacker.delete_vnfd, described)
            before = onboarding_cloud.servers()
            vnf = tacker.create_vnf({"vnf": {"name": name, "vnfd_id": described, "attributes": {}}})["vnf"]["id"]
            stack.callback(gone, tacker, "vnf", vnf)
            settle(lambda vnf=vnf: tacker.show_vnf(vnf)["vnf"], ("ACTIVE", "ERROR"))
            made += onboarding_cloud.servers() - before
        for server in made:
            assert wait(lambda server=server: "vloop: ready" in onboarding_cloud.console(server), 300)
        yield made


def gone(tacker, kind, identifier):
    """Delete something of Tacker's and wait until it is gone."""
    getattr(tacker, f"delete_{kind}")(identifier)
    assert wait(lambda: identifier not in [one["id"] for one in getattr(tacker, f"list_{kind}s")()[f"{kind}s"]], 120)


@contextlib.contextmanager
def forwarding_graph(connection, chain_cloud, encapsulated=False):
    """A forwarding graph that is ACTIVE; nothing is left of it in Neutron."""
    tacker = tacker_client(connection)
    described = graph(chain_cloud.ports[SENDER]["id"], chain_cloud.address(RECEIVER), encapsulated)
    descriptor = tacker.create_vnffgd({"vnffgd": {"name": "chain", "template": {"vnffgd": described}}})["vnffgd"]["id"]
    try:
        made = tacker.create_vnffg({"vnffg": {"name": "chain", "vnffgd_id": descriptor}})["vnffg"]["id"]
        try:
            settle(lambda: tacker.show_vnffg(made)["vnffg"], ("ACTIVE", "ERROR"))
            yield
        finally:
            gone(tacker, "vnffg", made)
    finally:
        tacker.delete_vnffgd(descriptor)
    assert connection.network.get("/sfc/port_chains").json()["port_chains"] == []


def test_a_forwarding_graph_leads_every_frame_through_both_vnfs(connection, chain_cloud, servers):
    without = chain_cloud.passes()
    assert without.arrived == FRAMES, "a network for each link leads there as well"
    assert without.recirculations < FRAMES
    with forwarding_graph(connection, chain_cloud):
        assert wait(lambda: chain_cloud.passes().recirculations >= 2 * FRAMES, 60)
        inward = chain_cloud.devices(servers)[::2]
        before = [chain_cloud.sent_to(name) for name in inward]
        found = chain_cloud.passes()
        each = [chain_cloud.sent_to(name) - then for name, then in zip(inward, before, strict=True)]
    assert found.arrived == FRAMES
    assert min(each) >= FRAMES, each
    # Each VNF on the path costs a recirculation, behind the group's hash.
    assert found.recirculations >= 2 * FRAMES
    assert wait(lambda: chain_cloud.passes().recirculations < FRAMES, 60)


def test_static_rules_lead_the_same_frames_without_recirculations(chain_cloud, servers):
    ends = (SENDER, *chain_cloud.devices(servers), RECEIVER)
    try:
        for pair in zip(ends[::2], ends[1::2], strict=True):
            numbers = [chain_cloud.number(name) for name in pair]
            for source, target in (numbers, reversed(numbers)):
                rule = f"cookie={COOKIE},priority=1000,in_port={source},actions=output:{target}"
                chain_cloud.ofctl("add-flow", "br-int", rule)
        assert wait(lambda: chain_cloud.passes().arrived == FRAMES, 60)
        found = chain_cloud.passes()
    finally:
        chain_cloud.ofctl("del-flows", "br-int", f"cookie={COOKIE}/-1")
    assert found.arrived == FRAMES
    assert found.recirculations < FRAMES


@pytest.mark.usefixtures("servers")
def test_with_tackers_default_the_first_vnf_gets_mpls_and_nothing_comes(connection, chain_cloud):
    with forwarding_graph(connection, chain_cloud, encapsulated=True):
        assert chain_cloud.passes().arrived == 0
