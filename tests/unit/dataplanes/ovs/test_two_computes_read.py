"""A path over two computes of Open vSwitch: which switch each port is read of. The switches are doubles."""

from types import SimpleNamespace

import pytest

from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.dataplanes.ovs.dpdk import compute as module
from nfvbed.dataplanes.ovs.dpdk.compute import OvsDpdkCompute
from nfvbed.dataplanes.ovs.nodeswitch import NodeSwitch
from nfvbed.dataplanes.ovs.openflow import PortCounters

NOTHING = {**dict.fromkeys(PortCounters.__dataclass_fields__), "reasons": {}}


class Switch(NodeSwitch):
    """Has every port that is asked for, and has counted nothing."""

    def _counted(self, bridges):
        return {name: PortCounters(**NOTHING) for name in bridges}

    def _datapath_drops(self):
        return {}


@pytest.fixture(name="compute")
def _compute(monkeypatch):
    monkeypatch.setattr(module, "NodeSwitch", Switch)
    nodes = {name: SimpleNamespace(name=name) for name in ("controller", "ovs-dpdk-2")}
    cloud = SimpleNamespace(find_node=lambda: nodes["controller"], find_compute=nodes.get)
    return OvsDpdkCompute(cloud)


def instance(number, host):
    ports = tuple(InstancePort(f"{number}{side}{'0' * 11}", "n", "02::1") for side in "ab")
    return PlacedInstance(str(number), f"vnf{number}", host, ports)


def test_ports_are_read_of_the_switch_that_has_them_in_the_order_of_the_path(compute):
    found = [hop.name for hop in compute.hops((instance(1, "controller"), instance(2, "ovs-dpdk-2")))]
    first, own, other, *between, last = found
    assert (own, other) == ("datapath", "ovs-dpdk-2 datapath")
    assert first.startswith("br-data0 ") and last.startswith("br-data1 ")
    assert between == [
        f"{host} br-int port vhu{number}{side}{'0' * 9}"
        for number, host in ((1, "controller"), (2, "ovs-dpdk-2"))
        for side in "ab"
    ]


def test_on_one_compute_names_are_as_they_were(compute):
    found = [hop.name for hop in compute.hops((instance(1, "controller"),))]
    assert found[1:-1] == ["datapath", f"br-int port vhu1a{'0' * 9}", f"br-int port vhu1b{'0' * 9}"]


def test_each_node_has_its_libvirt(compute):
    assert [compute.hypervisor(host).host for host in ("controller", "ovs-dpdk-2")] == ["controller", "ovs-dpdk-2"]
