"""Variants on different computes of one rack: what the real kolla-ansible makes of them, machine by machine."""

import pytest

from tests.kolla.cases import BESIDE_EACH_OTHER, FUNCTIONS_BESIDE_DPDK, VPP_BESIDE_AFXDP
from tests.kolla.expected import RACK

pytestmark = pytest.mark.timeout(1200)
"""The first test waits for kolla-ansible."""
AGENT = "neutron-openvswitch-agent/openvswitch_agent.ini"
NOVA = "nova-compute/nova.conf"
ML2 = "neutron-server/ml2_conf.ini"
KERNEL, POLLED = RACK.machines["compute2"].cores, RACK.machines["compute1"].cores_beside_polling
DATAPATHS = {
    BESIDE_EACH_OTHER: {"controller": "system", "compute1": "netdev", "compute2": "system"},
    FUNCTIONS_BESIDE_DPDK: {"controller": "system", "compute1": "system", "compute2": "netdev"},
    VPP_BESIDE_AFXDP: {"controller": "system", "compute1": "system", "compute2": "netdev"},
}
DPDK = {BESIDE_EACH_OTHER: {"compute1"}, FUNCTIONS_BESIDE_DPDK: {"compute2"}, VPP_BESIDE_AFXDP: set()}
BRIDGES = {VPP_BESIDE_AFXDP: {"compute1": None}}
MECHANISMS = {
    BESIDE_EACH_OTHER: "openvswitch,l2population",
    FUNCTIONS_BESIDE_DPDK: "openvswitch,l2population,sriovnicswitch",
    VPP_BESIDE_AFXDP: "vpp,openvswitch,l2population",
}
CORES = {
    BESIDE_EACH_OTHER: {"compute1": POLLED, "compute2": KERNEL},
    FUNCTIONS_BESIDE_DPDK: {"compute1": KERNEL, "compute2": POLLED},
    VPP_BESIDE_AFXDP: {"compute1": POLLED, "compute2": POLLED},
}
RESERVED = {
    BESIDE_EACH_OTHER: {"compute1"},
    FUNCTIONS_BESIDE_DPDK: {"compute2"},
    VPP_BESIDE_AFXDP: {"compute1"},
}
each = pytest.mark.parametrize(
    "case",
    [
        BESIDE_EACH_OTHER,
        pytest.param(FUNCTIONS_BESIDE_DPDK, marks=pytest.mark.on_demand),
        pytest.param(VPP_BESIDE_AFXDP, marks=pytest.mark.on_demand),
    ],
)


@each
def test_each_machine_has_its_own_switch(services, case):
    made = services(case)
    assert {host: made.one(host, AGENT, "ovs/datapath_type") for host in RACK.machines} == DATAPATHS[case]
    for host in RACK.machines:
        dpdk = host in DPDK[case]
        assert (made.has(host, "ovsdpdk-vswitchd"), made.has(host, "openvswitch-vswitchd")) == (dpdk, not dpdk)


@each
def test_the_server_has_the_mechanisms_of_both(services, case):
    assert services(case).one("controller", ML2, "ml2/mechanism_drivers") == MECHANISMS[case]


@each
def test_bridges(services, case):
    made = services(case)
    for host, machine in RACK.machines.items():
        wanted = BRIDGES.get(case, {}).get(host, machine.bridges)
        found = made.options(host, AGENT)["ovs"].get("bridge_mappings")
        assert found == (None if wanted is None else [wanted])


@each
def test_cores_and_hugepages_of_each_compute(services, case):
    made = services(case)
    for host, (dedicated, shared) in CORES[case].items():
        assert made.one(host, NOVA, "compute/cpu_dedicated_set") == dedicated
        assert made.one(host, NOVA, "compute/cpu_shared_set") == shared
    has = {host for host in RACK.computes if "reserved_huge_pages" in made.options(host, NOVA)["DEFAULT"]}
    assert has == RESERVED[case]


@each
def test_instances_are_placed_by_aggregates(services, case):
    filters = services(case).one("controller", "nova-scheduler/nova.conf", "filter_scheduler/enabled_filters")
    assert "AggregateInstanceExtraSpecsFilter" in filters.split(",")


@pytest.mark.on_demand
def test_functions_are_one_computes_alone(services):
    made = services(FUNCTIONS_BESIDE_DPDK)
    assert [host for host in RACK.machines if made.has(host, "neutron-sriov-agent")] == ["compute1"]
    devices = {host: made.options(host, NOVA).get("pci", {}).get("device_spec", []) for host in RACK.computes}
    assert devices == {"compute1": list(RACK.machines["compute1"].devices), "compute2": []}
    assert made.one("compute1", AGENT, "agent/extensions") == "fdb"


def test_kolla_binds_the_nic_of_one_compute_alone(services):
    made = services(BESIDE_EACH_OTHER)
    assert made.given_to_dpdkctl("compute1")["port_mappings"] == "dpdata:br-data"
    assert not made.has("compute2", "ovsdpdk-db")
