"""What services of each example site should have: written down by hand from the sites' files, not computed."""

from collections.abc import Mapping
from dataclasses import dataclass

Cores = tuple[str, str]
"""Those of guests that have cores of their own, and those of all others."""


@dataclass(frozen=True)
class Machine:
    """A machine that serves."""

    tunnel: str
    bridges: str
    """Bridges of Open vSwitch, by physical network."""
    nics: str = ""
    """NICs of Linux bridges, by physical network, with the names that link files give on Ocata."""
    cores: Cores = ("", "")
    """With a switch in the kernel; of a compute."""
    cores_beside_polling: Cores = ("", "")
    devices: tuple[str, ...] = ()
    """Descriptions of virtual functions for Nova."""
    functions: str = ""
    """Physical functions of the SR-IOV agent, by physical network."""


@dataclass(frozen=True)
class Expected:
    """A site."""

    controller: str
    address: str
    """The controller's."""
    networks: str
    ranges: str
    mtus: str
    largest_mtu: str
    machines: Mapping[str, Machine]

    @property
    def computes(self) -> dict[str, Machine]:
        """Machines with instances."""
        return {name: one for name, one in self.machines.items() if one.cores[0]}


def _rack_compute(number: int) -> Machine:
    return Machine(
        tunnel=f"10.20.0.1{number}",
        bridges="data:br-data",
        nics="data:dpdata",
        cores=("2-7,10-15,18-23,26-31", "0-1,8-9,16-17,24-25"),
        # 2 polls, 18 is its other thread, 1 has the switch's other threads.
        cores_beside_polling=("3-7,10-15,19-23,26-31", "0,8-9,16-17,24-25"),
        devices=('{"address": "0000:af:00.0", "physical_network": "vf"}',),
        functions="vf:enp175s0f0",
    )


RACK = Expected(
    controller="controller",
    address="10.10.0.10",
    networks="provider,data,vf",
    ranges="provider:100:149,data:200:299,vf:300:349",
    mtus="provider:1500,data:9000,vf:9000",
    largest_mtu="9000",
    machines={
        "controller": Machine(
            tunnel="10.20.0.10",
            bridges="provider:br-provider,data:br-data,vf:br-vf",
            nics="provider:exprovider,data:dpdata,vf:srvf",
        ),
        "compute1": _rack_compute(1),
        "compute2": _rack_compute(2),
    },
)


def _compute_of_two(number: int) -> Machine:
    return Machine(
        tunnel=f"10.20.0.1{number}",
        bridges="data:br-data",
        nics="data:dpdata",
        cores=("6-15", "0-5"),
        # 6 polls, 1 has the switch's other threads: core 0 has most of the kernel's.
        cores_beside_polling=("7-15", "0,2-5"),
    )


TWO_MACHINES = Expected(
    controller="compute1",
    address="10.10.0.11",
    networks="data",
    ranges="data:200:299",
    mtus="data:1500",
    largest_mtu="1500",
    machines={"compute1": _compute_of_two(1), "compute2": _compute_of_two(2)},
)


def _compute_with_connectx(number: int, bridges: str, nics: str) -> Machine:
    return Machine(
        tunnel=f"10.20.0.1{number}",
        bridges=bridges,
        nics=nics,
        cores=("4-23,28-47", "0-3,24-27"),
        # 4 polls, 28 is its other thread, 1 has the switch's other threads.
        cores_beside_polling=("5-23,29-47", "0,2-3,24-27"),
        devices=('{"address": "0000:81:00.0", "physical_network": "sriov"}',),
        # The first port: the second one is on the bridge.
        functions="sriov:enp175s0f0",
    )


CONNECTX = Expected(
    controller="compute1",
    address="10.10.0.11",
    networks="ext,data,sriov",
    ranges="ext:100:149,data:200:299,sriov:300:349",
    mtus="ext:1500,data:1500,sriov:1500",
    largest_mtu="1500",
    machines={
        "compute1": _compute_with_connectx(
            1, "ext:br-ext,data:br-data,sriov:br-sriov", "ext:exext,data:dpdata,sriov:exsriov"
        ),
        "compute2": _compute_with_connectx(2, "data:br-data", "data:dpdata"),
    },
)
SITES = {"rack": RACK, "rack-two-machines": TWO_MACHINES, "rack-connectx": CONNECTX}
MECHANISMS = {
    "ovs-dpdk": "openvswitch,l2population",
    "ovs-kernel": "openvswitch,l2population",
    "linux-bridge": "linuxbridge,l2population",
    "sriov": "openvswitch,l2population,sriovnicswitch",
    "macvtap": "openvswitch,macvtap,l2population",
    "ovs-afxdp": "openvswitch,l2population",
    "ovs-afxdp-interrupt": "openvswitch,l2population",
    "vpp": "vpp,openvswitch,l2population",
    "ovn-kernel": "ovn",
}
TENANT_NETWORKS = {
    "ovn-kernel": "vlan,geneve",
    "sriov": "vlan",
    "macvtap": "vlan",
    "vpp": "vlan",
    "ovs-afxdp": "vlan",
    "ovs-afxdp-interrupt": "vlan",
}
"""Types of tenant networks; all other variants have VLANs, and VXLAN."""
OVN = {"ovn-kernel"}
"""Variants without Neutron's agents of switches: each machine has an ovn-controller."""
USERSPACE = {"ovs-dpdk", "ovs-afxdp", "ovs-afxdp-interrupt"}
"""Variants with Open vSwitch's datapath in userspace on computes."""
POLLING = {"ovs-dpdk", "ovs-afxdp", "vpp"}
"""Variants with a switch that has cores of its own."""
NO_BRIDGES = {"macvtap", "vpp"}
"""Variants that leave a compute's NICs out of the bridges of Open vSwitch."""
