"""Runs of Kolla that tests read, by name: those of every run of the tier, and those on demand."""

from collections.abc import Iterable

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.sites.kolla.combinations import Combination, combinations
from nfvbed.spec.kollarelease import NEWEST
from tests.kolla.faults import (
    OF_OCATAS_BRIDGES,
    OF_OCATAS_SWITCHES,
    OF_OVN,
    OF_OVS_DPDK,
    OF_SRIOV,
    Fault,
    without_overrides,
)
from tests.kolla.genconfig import ROOT, Case, Files
from tests.kolla.machines import device_name

ALL = combinations(open_project(ROOT))
RENDERED = tuple(one for one in ALL if one.rendered)
SHORTEST_OF_OCATA = "ocata linux-bridge rack"
BESIDE_EACH_OTHER = "ovs-dpdk beside ovs-kernel"
FUNCTIONS_BESIDE_DPDK = "sriov beside ovs-dpdk"
VPP_BESIDE_AFXDP = "vpp beside ovs-afxdp"
THREE_CONTROLLERS = "ovs-dpdk with three controllers"
OF_CONTROLLERS = "loadbalancer,mariadb,rabbitmq,tacker"
OF_COMPUTES = "openvswitch,ovs-dpdk,neutron,nova,nova-cell"


def name_of(one: Combination) -> str:
    """Return the name of a combination's run: a variant's alone for the maintained release on the first site."""
    if (one.release, one.site) == (NEWEST, "rack"):
        return one.variant
    return f"{one.release} {one.variant} {one.site}"


def _named_by_the_kernel(files: Files) -> Files:
    """Name a NIC that DPDK takes as the kernel does: Kolla looks for a device of that name."""
    place, nic = "inventory/host_vars/compute1.yml", "nfvbed_nic_dpdk_data: "
    device = device_name(open_project(ROOT).load_site("rack").hosts["compute1"].nics_of("dpdk")[0], 1)
    assert f"{nic}dpdata\n" in files[place]
    return {**files, place: files[place].replace(f"{nic}dpdata\n", f"{nic}{device}\n")}


def _without(
    variant: str, faults: tuple[Fault, ...], tags: str = "", release: str = NEWEST, *, database: bool = False
) -> Case:
    def change(files: Files) -> Files:
        changed = without_overrides(files, faults)
        return _named_by_the_kernel(changed) if variant == "ovs-dpdk" else changed

    named = {"tags": tags} if tags else {}
    return Case(variant, release=release, change=change, database=database, **named)


EVERYDAY = {
    "ovs-dpdk": Case("ovs-dpdk"),
    "ovs-dpdk, without overrides": _without("ovs-dpdk", OF_OVS_DPDK, "ovs-dpdk,neutron,nova-cell,tacker"),
    "ovs-kernel": Case("ovs-kernel", load_balancer=True),
    "sriov": Case("sriov"),
    "macvtap": Case("macvtap"),
    "ovn-kernel": Case("ovn-kernel", database=True),
    "ovn-kernel, without overrides": _without("ovn-kernel", OF_OVN, "openvswitch", database=True),
    "sriov, without overrides": _without("sriov", OF_SRIOV, "neutron,nova-cell"),
    BESIDE_EACH_OTHER: Case("ovs-dpdk", pins=("ovs-dpdk", "ovs-kernel"), tags=OF_COMPUTES),
    SHORTEST_OF_OCATA: Case("linux-bridge", release="ocata"),
}
"""By name; the longest ones first."""
PATHS = ("ovs-dpdk", "ovs-kernel", "ocata ovs-kernel rack", SHORTEST_OF_OCATA)
"""Two data planes of each release, which continuous integration renders."""
ON_DEMAND = {
    name_of(one): Case(one.variant, one.site, one.release, database=one.variant == "ovn-kernel")
    for one in RENDERED
    if name_of(one) not in EVERYDAY
} | {
    FUNCTIONS_BESIDE_DPDK: Case("sriov", pins=("sriov", "ovs-dpdk"), tags=OF_COMPUTES),
    VPP_BESIDE_AFXDP: Case("vpp", pins=("vpp", "ovs-afxdp"), tags=OF_COMPUTES),
    THREE_CONTROLLERS: Case("ovs-dpdk", "rack-three-controllers", tags=OF_CONTROLLERS, load_balancer=True),
    "ocata ovs-kernel rack, without overrides": _without("ovs-kernel", OF_OCATAS_SWITCHES, release="ocata"),
    "ocata linux-bridge rack, without overrides": _without("linux-bridge", OF_OCATAS_BRIDGES, release="ocata"),
}
CASES = EVERYDAY | ON_DEMAND
SHOWN_BY = {
    "ovs-dpdk": OF_OVS_DPDK,
    "sriov": OF_SRIOV,
    "ovn-kernel": OF_OVN,
    "ocata ovs-kernel rack": OF_OCATAS_SWITCHES,
    "ocata linux-bridge rack": OF_OCATAS_BRIDGES,
}
"""Faults, by the case that has their overrides; another one has them not."""


def with_and_without(fault: Fault) -> tuple[str, str]:
    """Return the case that has a fault's override, and the one that has it not."""
    name = next(name for name, faults in SHOWN_BY.items() if fault in faults)
    return name, f"{name}, without overrides"


def read_by(parameters: Iterable[object]) -> tuple[str, ...]:
    """Return the cases that a test with these parameters reads."""
    found: list[str] = []
    for one in parameters:
        if isinstance(one, Combination) and one.rendered:
            found.append(name_of(one))
        if isinstance(one, Fault):
            found += with_and_without(one)
        if one in (BESIDE_EACH_OTHER, FUNCTIONS_BESIDE_DPDK, VPP_BESIDE_AFXDP, THREE_CONTROLLERS):
            found.append(str(one))
    return tuple(found)
