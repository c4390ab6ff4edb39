"""Compute nodes beside the controller: which options reach them, which paths they have, how their hops lie."""

from pathlib import Path

import pytest

from nfvbed.cloud.devcloud import links
from nfvbed.cloud.devcloud.contents import NETWORKS
from nfvbed.cloud.devcloud.nodes.node import names_of
from nfvbed.cloud.devcloud.places import CloudPlaces
from nfvbed.cloud.devcloud.services.catalogue import SERVICES
from nfvbed.cloud.devcloud.services.computes import DATA, MGMT
from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.dataplanes.catalogue import CATALOGUE, open_project
from nfvbed.dataplanes.devcloud import compute_of, computes, kinds, open_cloud
from nfvbed.dataplanes.linux_bridge.compute import LinuxBridgeCompute
from nfvbed.dataplanes.macvtap.compute import MacvtapCompute
from nfvbed.dataplanes.ovs.afxdp.compute import OvsAfxdpCompute
from nfvbed.dataplanes.ovs.ovn.compute import OvnCompute
from nfvbed.dataplanes.vpp.compute import VppCompute
from nfvbed.errors import UnsupportedError
from nfvbed.host.ledger.entries import ProcessEntry
from nfvbed.spec.layout import layout

PORTS = (
    InstancePort("6f3b66c3-b8aa", "data0", "fa:16:3e:00:00:01"),
    InstancePort("c72be3ee-c1aa", "data1", "fa:16:3e:00:00:02"),
)
GUEST = PlacedInstance("1", "vnf", "linux-bridge", PORTS)


@pytest.fixture(name="cloud")
def _cloud(tmp_path):
    return open_cloud(tmp_path)


@pytest.fixture(name="variant")
def _variant(root):
    project = open_project(root)
    return project.load_variant


@pytest.mark.parametrize("name", ["linux-bridge", "linux-bridge-virtio"])
@pytest.mark.parametrize("topology", ["pvp", "pvvp", "pv3p", "p2p"])
def test_the_bridges_variants_reach_it(cloud, variant, name, topology):
    LinuxBridgeCompute(cloud).check(variant(name), layout(topology))


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("linux-bridge-no-offloads", "offloads"),
        ("linux-bridge-vhost-net", "vhost"),
        ("linux-bridge-balancer", "queue_balancer"),
        ("emulated-nic", "guest_nic"),
    ],
)
def test_what_nova_decides_is_refused_by_name(cloud, variant, name, key):
    with pytest.raises(UnsupportedError, match=f"^{key} of {name} does not reach") as raised:
        LinuxBridgeCompute(cloud).check(variant(name), layout("pvp"))
    assert raised.value.where == f"options.{key}"
    assert raised.value.fix.startswith(f"{key}: ")


@pytest.mark.parametrize("name", ["ovs-afxdp", "ovs-afxdp-interrupt"])
@pytest.mark.parametrize("topology", ["pvp", "pvvp", "pv3p", "p2p"])
def test_variants_on_afxdp_reach_it(cloud, variant, name, topology):
    OvsAfxdpCompute(cloud).check(variant(name), layout(topology))


@pytest.mark.parametrize(
    ("compute", "mib"),
    [
        (LinuxBridgeCompute, 1536),
        (OvsAfxdpCompute, 1536),
        (VppCompute, 1536),
        (OvnCompute, 1536),
        (MacvtapCompute, 768),
    ],
)
def test_a_chain_of_two_has_room_on_each_node_that_has_chains(tmp_path, compute, mib):
    assert compute(open_cloud(tmp_path, hugepages_mib=2048)).guests_mib == mib


@pytest.mark.parametrize("name", ["macvtap-private", "macvtap-vepa", "macvtap-passthru"])
def test_macvtap_has_one_mode(cloud, variant, name):
    with pytest.raises(UnsupportedError, match=f"^mode of {name}") as raised:
        MacvtapCompute(cloud).check(variant(name), layout("pvp"))
    assert raised.value.fix.startswith("mode: 'bridge'")


@pytest.mark.parametrize(
    ("compute", "name", "topology", "why"),
    [
        (LinuxBridgeCompute, "linux-bridge", "pvpv", "link1 and link2"),
        (LinuxBridgeCompute, "linux-bridge", "pv4p", "link1 and link2"),
        (MacvtapCompute, "macvtap", "pvvp", "networks of type local"),
        (OvsAfxdpCompute, "ovs-afxdp", "pvpv", "link1 and link2"),
    ],
)
def test_paths_that_the_networks_do_not_join_are_refused(cloud, variant, compute, name, topology, why):
    with pytest.raises(UnsupportedError, match=f"topology {topology} has no path there") as raised:
        compute(cloud).check(variant(name), layout(topology))
    assert why in raised.value.observed


def test_macvtaps_frames_are_addressed_to_its_ports(cloud):
    assert MacvtapCompute(cloud).destination_macs([GUEST]) == ("fa:16:3e:00:00:01", "fa:16:3e:00:00:02")
    assert MacvtapCompute(cloud).destination_macs([]) is None
    assert LinuxBridgeCompute(cloud).destination_macs([GUEST]) is None


def test_a_tap_is_named_by_neutrons_port(cloud):
    for compute in (LinuxBridgeCompute, OvsAfxdpCompute):
        assert compute(cloud).device(PORTS[0]) == "tap6f3b66c3-b8"


def test_a_variant_has_the_compute_of_its_data_plane(cloud, variant):
    for name, compute in (("ovs-afxdp-interrupt", OvsAfxdpCompute), ("vpp-memif", VppCompute)):
        assert type(compute_of(variant(name), cloud)) is compute
    with pytest.raises(UnsupportedError, match="vale is no data plane of a devcloud"):
        compute_of(variant("vale"), cloud)


def test_computes_are_found_in_their_rooms():
    assert set(computes()) == {"linux-bridge", "macvtap", "ovn", "ovs-afxdp", "ovs-dpdk", "vpp"}
    without = set(CATALOGUE.modules("compute")) - set(computes())
    assert without == {"sriov", "ovn-afxdp", "ovn-kernel"}
    assert all(hasattr(CATALOGUE.modules("compute")[name], "no_compute") for name in without)
    assert [kind.host for kind in kinds()] == ["linux-bridge", "macvtap", "ovn", "ovs-afxdp", "vpp", "ovs-dpdk-2"]


def test_every_compute_node_has_the_agent_that_it_names():
    own = {process.name for service in SERVICES for process in service.processes}
    for kind in kinds():
        names = [process.name for process in kind.processes]
        assert kind.agent in names
        assert len(set(names)) == len(names)
        assert own >= set(names) - {kind.agent, "tap-devices"}


def test_networks_between_vnfs_need_no_link():
    kinds = {network.name: network.kind for network in NETWORKS}
    assert {name for name, kind in kinds.items() if kind == "flat"} == {MGMT, *DATA}
    assert {name for name, kind in kinds.items() if kind == "local"} == {"link1", "link2"}


def test_nodes_are_known_from_the_ledger():
    def process(name):
        return ProcessEntry(name=name, pid=1, start_time=1)

    entries = [process("node-controller"), process("relay"), process("node-macvtap"), process("node-macvtap")]
    assert names_of(entries) == ("controller", "macvtap")


def test_two_clouds_have_different_namespaces_for_the_generator(tmp_path):
    first, second = (CloudPlaces.of(tmp_path / name).node("linux-bridge") for name in "ab")
    assert links.generator_space(first) != links.generator_space(second)
    assert len(Path(links.generator_space(first)).name) < 64
    assert all(len(links.mgmt_port(kind.host)) <= 15 for kind in kinds())
