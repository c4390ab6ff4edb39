"""Each variant with each release on each example site: what Kolla makes of it, or why it is unsupported."""

import pytest

from tests.kolla.cases import ALL, EVERYDAY, PATHS, RENDERED, name_of
from tests.kolla.expected import MECHANISMS, NO_BRIDGES, POLLING, SITES, TENANT_NETWORKS, USERSPACE
from tests.kolla.reasons import reason_of

pytestmark = pytest.mark.timeout(3600)
"""Whoever comes first waits for kolla-ansible."""
ML2 = "neutron-server/ml2_conf.ini"
OPTIONS = {
    "2026.1": ("compute/cpu_dedicated_set", "compute/cpu_shared_set", "pci/device_spec"),
    "ocata": ("DEFAULT/vcpu_pin_set", None, "pci/passthrough_whitelist"),
}
"""Names of cores that are guests' own, of those that they share, and of devices."""
TACKER = {
    "2026.1": (("tacker-server", "tacker-conductor"), "http://10.10.0.250:5000"),
    "ocata": (("tacker",), "http://10.10.0.250:35357"),
}
"""Services, and where Tacker asks for its own tokens."""


def _marked(one):
    demanded = () if name_of(one) in EVERYDAY else (pytest.mark.on_demand,)
    marks = (*demanded, *((pytest.mark.path,) if name_of(one) in PATHS else ()))
    return pytest.param(one, id=f"{one.variant}-{one.release}-{one.site}", marks=marks)


each = pytest.mark.parametrize("one", [_marked(one) for one in RENDERED])


def _agent(one):
    if one.variant == "linux-bridge":
        return "neutron-linuxbridge-agent/ml2_conf.ini"
    return f"neutron-openvswitch-agent/{'ml2_conf.ini' if one.release == 'ocata' else 'openvswitch_agent.ini'}"


@pytest.mark.parametrize("release", OPTIONS)
def test_all_others_are_unsupported_each_for_its_reason(release):
    refused = [one for one in ALL if one.release == release and not one.rendered]
    wrong = [one for one in refused if reason_of(one.variant, one.release, one.site) not in one.reason]
    assert refused and wrong == []


def test_each_example_site_is_known():
    assert {one.site for one in ALL} == set(SITES)


@each
def test_services_are_where_they_belong(services, one):
    made, site = services(name_of(one)), SITES[one.site]
    for host in site.machines:
        assert made.has(host, "neutron-server") == (host == site.controller)
        assert made.has(host, "nova-compute") == (host in site.computes)
        assert made.has(host, "neutron-linuxbridge-agent") == (one.variant == "linux-bridge")
        assert made.has(host, "neutron-openvswitch-agent") == (one.variant != "linux-bridge")


@each
def test_mechanisms_and_networks_of_the_server(services, one):
    made, site = services(name_of(one)), SITES[one.site]
    assert made.one(site.controller, ML2, "ml2/mechanism_drivers") == MECHANISMS[one.variant]
    assert made.one(site.controller, ML2, "ml2_type_flat/flat_networks") == site.networks
    assert made.one(site.controller, ML2, "ml2_type_vlan/network_vlan_ranges") == site.ranges
    assert made.one(site.controller, ML2, "ml2/tenant_network_types") == TENANT_NETWORKS.get(one.variant, "vlan,vxlan")
    assert made.one(site.controller, ML2, "ml2/physical_network_mtus") == site.mtus
    assert made.one(site.controller, "neutron-server/neutron.conf", "DEFAULT/global_physnet_mtu") == site.largest_mtu


@each
def test_bridges_and_their_nics(services, one):
    made, site = services(name_of(one)), SITES[one.site]
    for host, machine in site.machines.items():
        options = made.options(host, _agent(one))
        if one.variant == "linux-bridge":
            assert options["linux_bridge"]["physical_interface_mappings"] == [machine.nics]
            assert "ovs" not in options
            continue
        found = options["ovs"].get("bridge_mappings")
        if one.variant in NO_BRIDGES and host in site.computes:
            assert found is None
        else:
            assert found == [machine.bridges]


@each
def test_datapath(services, one):
    made, site = services(name_of(one)), SITES[one.site]
    for host in site.machines:
        dpdk = one.variant == "ovs-dpdk" and host in site.computes
        if one.release == "ocata":
            # Ocata's Kolla has Open vSwitch without DPDK alone, and the agent's own default is the kernel's.
            assert "datapath_type" not in made.options(host, _agent(one)).get("ovs", {})
            assert made.has(host, "openvswitch-vswitchd") == (one.variant != "linux-bridge")
        else:
            userspace = one.variant in USERSPACE and host in site.computes
            assert made.one(host, _agent(one), "ovs/datapath_type") == ("netdev" if userspace else "system")
            assert (made.has(host, "ovsdpdk-vswitchd"), made.has(host, "openvswitch-vswitchd")) == (dpdk, not dpdk)


@each
def test_tunnels_end_at_the_sites_addresses(services, one):
    made, site = services(name_of(one)), SITES[one.site]
    section = "vxlan" if one.variant == "linux-bridge" else "ovs"
    found = {host: made.one(host, _agent(one), f"{section}/local_ip") for host in site.machines}
    assert found == {host: machine.tunnel for host, machine in site.machines.items()}


@each
def test_cores_of_guests_and_their_devices(services, one):
    made, site = services(name_of(one)), SITES[one.site]
    dedicated, shared, devices = OPTIONS[one.release]
    for host, machine in site.computes.items():
        cores = machine.cores_beside_polling if one.variant in POLLING else machine.cores
        assert made.one(host, "nova-compute/nova.conf", dedicated) == cores[0]
        if shared:
            assert made.one(host, "nova-compute/nova.conf", shared) == cores[1]
        section, _, key = devices.partition("/")
        found = made.options(host, "nova-compute/nova.conf").get(section, {}).get(key, [])
        assert found == (list(machine.devices) if one.variant == "sriov" else [])


@each
def test_functions_of_the_agent(services, one):
    made, site = services(name_of(one)), SITES[one.site]
    for host, machine in site.machines.items():
        # Ocata's Kolla has no such agent: nfvbed's role brings it.
        has = one.variant == "sriov" and one.release != "ocata" and host in site.computes
        assert made.has(host, "neutron-sriov-agent") == has
        if has:
            found = made.one(host, "neutron-sriov-agent/sriov_agent.ini", "sriov_nic/physical_device_mappings")
            assert found == machine.functions


@each
def test_the_scheduler_looks_at_cores_pages_and_devices(services, one):
    made, site = services(name_of(one)), SITES[one.site]
    filters = made.one(site.controller, "nova-scheduler/nova.conf", "filter_scheduler/enabled_filters").split(",")
    assert {"NUMATopologyFilter", "PciPassthroughFilter", "AggregateInstanceExtraSpecsFilter"} < set(filters)
    assert {"ComputeFilter", "ImagePropertiesFilter"} < set(filters)


@each
def test_tacker_listens_at_the_controller_and_asks_the_virtual_address(services, one):
    made, site = services(name_of(one)), SITES[one.site]
    names, tokens = TACKER[one.release]
    for service in names:
        file = f"{service}/tacker.conf"
        assert made.one(site.controller, file, "DEFAULT/bind_host") == site.address
        assert made.one(site.controller, file, "DEFAULT/bind_port") == "9890"
        assert made.one(site.controller, file, "keystone_authtoken/auth_url").startswith(tokens)
        assert not any(made.has(host, service) for host in site.machines if host != site.controller)
