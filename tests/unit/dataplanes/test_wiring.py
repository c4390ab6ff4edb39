"""From layouts to the switch's ports, and which kind a VNF's ports have."""

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.ovs.steering.path import path_rules, steering_path
from nfvbed.dataplanes.ports import kernel_links, vhost_user
from nfvbed.dataplanes.ports.kernel_links import BridgePlan
from nfvbed.dataplanes.ports.shares import entries, first_macs, share_mac
from nfvbed.dataplanes.wiring import end_mac, port_numbers, refuse_many_vnfs, require_vnf, vnf_port_kind
from nfvbed.errors import DeployError, InternalError, UnsupportedError
from nfvbed.host.generator import both_ports
from nfvbed.host.network.veth import MACS
from nfvbed.records import Deployment, GeneratorPort, PortKind, VnfKind
from nfvbed.spec.layout import layout
from nfvbed.spec.vnf import VnfChoice

PROJECT = open_project()
VLOOP = PROJECT.load_vnf("vloop")
NAMES = [f"pv{length}p" for length in range(1, 11)] + [
    "p2p",
    "pvp",
    "pvvp",
    "pvpv",
    "pvpv4",
    "pvpv8",
    "v2v",
    "p2v",
    "v2p",
    "pcp",
]


def choice(**more):
    flavor = PROJECT.load_flavor(VLOOP.flavor)
    return VnfChoice(
        **({"label": "", "vnf": VLOOP, "kind": VnfKind.PROCESS, "forwarding": "io", "flavor": flavor} | more)
    )


@pytest.mark.parametrize(
    ("name", "ports"),
    [
        ("p2p", {"p0": 1, "p1": 2}),
        ("pvp", {"p0": 1, "v1a": 3, "v1b": 4, "p1": 2}),
        ("pvpv", {"p0": 1, "v1a": 3, "v1b": 4, "v2a": 5, "v2b": 6, "p1": 2}),
        ("p2v", {"p0": 1, "v1a": 3}),
        ("v2p", {"v1a": 3, "p1": 2}),
        ("v2v", {"v1a": 3, "v2a": 5}),
    ],
)
def test_ports_in_the_order_of_the_path(name, ports):
    assert list(port_numbers(layout(name)).items()) == list(ports.items())


@pytest.mark.parametrize("name", NAMES)
def test_every_layout_becomes_rules_and_addresses_that_are_unique(name):
    plan = layout(name)
    ends = plan.switch_ends
    assert len({end_mac(end) for end in ends if end.vnf is not None}) == len([e for e in ends if e.vnf is not None])
    assert len({end.name for end in ends}) == len(ends)
    rules = path_rules(steering_path(plan))
    assert {rule.in_port for rule in rules} == set(port_numbers(plan).values()), "frames from every port go somewhere"


def test_rules_of_two_ports():
    rules = path_rules(steering_path(layout("p2p")))
    assert [(rule.in_port, rule.output) for rule in rules] == [(1, 2), (2, 1)]


@pytest.mark.parametrize(
    ("variant", "more", "kind"),
    [
        ("ovs-dpdk", {}, PortKind.VHOST_USER),
        ("ovs-dpdk", {"kind": VnfKind.VM, "forwarding": "bridge"}, PortKind.VHOST_USER),
        ("ovs-dpdk", {"kind": VnfKind.CONTAINER}, PortKind.VHOST_USER),
        ("linux-bridge", {}, PortKind.VETH),
        ("linux-bridge", {"kind": VnfKind.CONTAINER, "forwarding": "router"}, PortKind.VETH),
        ("linux-bridge", {"kind": VnfKind.VM}, PortKind.TAP),
        ("linux-bridge", {"kind": VnfKind.VM, "vnic": "e1000"}, PortKind.TAP),
    ],
)
def test_kind_of_a_vnfs_ports(variant, more, kind):
    assert vnf_port_kind(PROJECT.load_variant(variant), choice(**more)) is kind


@pytest.mark.parametrize(
    ("variant", "more", "words"),
    [
        *[("ovs-dpdk", {"forwarding": f}, "needs kernel ports") for f in ("bridge", "router", "xdp", "raw")],
        ("ovs-dpdk", {"kind": VnfKind.VM, "vnic": "tap"}, "needs a kernel port"),
        ("ovs-dpdk", {"kind": VnfKind.EXISTING}, "runs already"),
        ("linux-bridge", {"kind": VnfKind.VM, "vnic": "macvtap"}, "cannot be attached to a switch of the kernel"),
        ("linux-bridge", {"kind": VnfKind.VM, "vnic": "vf"}, "cannot be attached to a switch of the kernel"),
        ("linux-bridge", {"kind": VnfKind.VM, "vnic": "vhost-user"}, "cannot be attached to a switch of the kernel"),
        ("linux-bridge", {"vnic": "tap"}, "no NIC"),
        ("simulated", {}, "no ports for VNFs"),
    ],
)
def test_what_cannot_be_attached_says_why_and_what_to_do(variant, more, words):
    with pytest.raises(UnsupportedError, match=words) as caught:
        vnf_port_kind(PROJECT.load_variant(variant), choice(**more))
    assert caught.value.observed


def test_nic_that_the_vnfs_ports_ask_for():
    ports = tuple(port.model_copy(update={"vnic": "e1000"}) for port in VLOOP.ports)
    asks = VLOOP.model_copy(update={"ports": ports})
    with pytest.raises(UnsupportedError, match="e1000"):
        vnf_port_kind(PROJECT.load_variant("ovs-dpdk"), choice(vnf=asks, kind=VnfKind.VM))


def test_layout_with_vnfs_needs_one():
    variant = PROJECT.load_variant("ovs-dpdk")
    assert require_vnf(layout("p2p"), None, variant) is None
    with pytest.raises(InternalError, match="needs a VNF"):
        require_vnf(layout("pvp"), None, variant)


@pytest.mark.parametrize("name", ["p2p", "pvvp", "p2v", "v2v"])
def test_only_one_vnf_with_two_ports_is_looped_back(name):
    refuse_many_vnfs(layout("pcp"))
    with pytest.raises(UnsupportedError, match="looped back alone"):
        refuse_many_vnfs(layout(name))


def test_every_cable_is_a_bridge():
    plan = BridgePlan(layout("pvvp"), PortKind.VETH)
    assert list(kernel_links.bridge_names(plan)) == [
        ("br0", ("s0", "v1a")),
        ("br1", ("v1b", "v2a")),
        ("br2", ("v2b", "s1")),
    ]
    assert plan.generator_links == ("g0", "g1")
    assert [plan.vnf_links(vnf) for vnf in (0, 1)] == [("eth1a", "eth1b"), ("eth2a", "eth2b")]
    assert plan.taps == ()


def test_taps_have_a_carrier_only_while_their_guest_lives():
    plan = BridgePlan(layout("pvvp"), PortKind.TAP)
    assert plan.taps == ("v1a", "v1b", "v2a", "v2b")
    assert plan.vnf_links(0) == ()
    assert plan.always_up == ("br0", "br2", "s0", "s1")


def test_cables_that_share_flows_out_are_one_bridge():
    plan = BridgePlan(layout("pvpv"), PortKind.VETH)
    assert list(kernel_links.bridge_names(plan)) == [("br0", ("s0", "v1a", "v2a")), ("br1", ("v1b", "v2b", "s1"))]
    assert [name for _, name, _ in kernel_links.walk(plan)] == [
        *("s0", "br0", "v1a", "v1b", "v2a", "v2b", "br1", "s1"),
    ]
    chain = BridgePlan(layout("pvp"), PortKind.VETH)
    assert [name for _, name, _ in kernel_links.walk(chain)] == ["s0", "br0", "v1a", "v1b", "br1", "s1"]


def test_address_of_a_share_leads_to_its_vnf_and_every_other_one_outside():
    plan = BridgePlan(layout("pvpv"), PortKind.VETH)
    behind = {
        plan.port(end): macs for ends in plan.bridges.values() for end, macs in entries(plan.layout, ends).items()
    }
    there, back = first_macs(plan.layout)
    assert [behind[name] for name in ("v1a", "v2a")] == [(there,), (there[:-1] + "1",)]
    assert [behind[name] for name in ("v1b", "v2b")] == [(back,), (back[:-1] + "1",)]
    generator = {MACS["g0"], MACS["g1"]}
    assert set(behind["s1"]) == {there, there[:-1] + "1"} | generator
    assert set(behind["s0"]) == {back, back[:-1] + "1"} | generator
    assert first_macs(layout("pvvp")) is None


def test_router_beside_another_has_the_address_of_its_share():
    plan = BridgePlan(layout("pvpv"), PortKind.VETH, addressed=True)
    ends = [end for end in plan.ends if end.vnf is not None]
    assert [plan.address(end) for end in ends] == [share_mac(end.port, end.vnf) for end in ends]
    assert BridgePlan(layout("pvp"), PortKind.VETH, addressed=True).address(ends[0]) == end_mac(ends[0])


@pytest.mark.parametrize(
    ("topology", "ways"), [("p2p", 1), ("pv10p", 1), ("v2v", 1), ("pvpv", 2), ("pvpv4", 4), ("pvpv8", 8)]
)
def test_ways_of_a_layout(topology, ways):
    assert layout(topology).ways == ways


def deployed(topology, ports):
    made = tuple(GeneratorPort(engine="dpdk", spec=spec, kind=PortKind.VHOST_USER) for spec in ports)
    return Deployment(
        id="d", variant="v", site="lab", topology=topology, ports=made, control={"idle_port": vhost_user.IDLE}
    )


@pytest.mark.parametrize(
    ("topology", "ports", "opened"),
    [
        ("p2p", ("a", "b"), ["a", "b"]),
        ("p2v", ("a",), ["a", vhost_user.IDLE]),
        ("v2p", ("a",), [vhost_user.IDLE, "a"]),
    ],
)
def test_generator_is_at_the_ends_that_it_has(topology, ports, opened):
    assert [port.spec for port in both_ports(deployed(topology, ports))] == opened


def test_no_generator_between_two_vnfs():
    with pytest.raises(InternalError, match="leaves no port"):
        both_ports(deployed("v2v", ()))


def test_socket_path_that_is_too_long(tmp_path):
    with pytest.raises(DeployError, match="too long"):
        vhost_user.sockets(tmp_path / ("x" * 100), ("v1a",))
