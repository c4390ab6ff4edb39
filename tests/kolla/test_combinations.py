"""Each variant with each release on each example site: what Kolla makes of it, or why it is unsupported."""

import pytest

from tests.kolla.cases import ALL, EVERYDAY, PATHS, RENDERED, name_of
from tests.kolla.expected import MECHANISMS, NO_BRIDGES, OVN, POLLING, SITES, TENANT_NETWORKS, USERSPACE
from tests.kolla.reasons import reason_of

pytestmark = pytest.mark.timeout(3600)
"""The first test waits for kolla-ansible."""
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
with_agents = pytest.mark.parametrize("one", [_marked(one) for one in RENDERED if one.variant not in OVN])
with_ovn = pytest.mark.parametrize("one", [_marked(one) for one in RENDERED if one.variant in OVN])


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
        has_agent = one.variant not in {"linux-bridge", *OVN}
        assert made.has(host, "neutron-openvswitch-agent") == has_agent
        assert made.has(host, "neutron-ovn-metadata-agent") == (one.variant in OVN)
        for agent in ("dhcp", "l3", "metadata"):
            assert made.has(host, f"neutron-{agent}-agent") == (host == site.controller and one.variant not in OVN)


@each
def test_mechanisms_and_networks_of_the_server(services, one):
    made, site = services(name_of(one)), SITES[one.site]
    assert made.one(site.controller, ML2, "ml2/mechanism_drivers") == MECHANISMS[one.variant]
    assert made.one(site.controller, ML2, "ml2_type_flat/flat_networks") == site.networks
    assert made.one(site.controller, ML2, "ml2_type_vlan/network_vlan_ranges") == site.ranges
    assert made.one(site.controller, ML2, "ml2/tenant_network_types") == TENANT_NETWORKS.get(one.variant, "vlan,vxlan")
    assert made.one(site.controller, ML2, "ml2/physical_network_mtus") == site.mtus
    assert made.one(site.controller, "neutron-server/neutron.conf", "DEFAULT/global_physnet_mtu") == site.largest_mtu


@with_ovn
def test_the_server_finds_ovns_databases(services, one):
    made, site = services(name_of(one)), SITES[one.site]
    for file in (ML2, "neutron-ovn-metadata-agent/neutron_ovn_metadata_agent.ini"):
        assert made.one(site.controller, file, "ovn/ovn_nb_connection") == f"tcp:{site.address}:6641"
    assert made.one(site.controller, ML2, "ovn/ovn_sb_connection") == f"tcp:{site.address}:6642"


@with_ovn
def test_what_ovn_controller_reads(services, one):
    made, site = services(name_of(one)), SITES[one.site]
    for host, machine in site.machines.items():
        found = made.written_to_switch(host)
        assert (found["hostname"], found["system-id"]) == (host, host)
        assert (found["ovn-encap-type"], found["ovn-encap-ip"]) == ("geneve", machine.tunnel)
        assert found["ovn-bridge-mappings"] == machine.bridges
        assert found["ovn-remote"].startswith(f"tcp:{site.address}:")
        # Routers to other networks are on controllers.
        assert found.get("ovn-cms-options") == ("enable-chassis-as-gw" if host == site.controller else None)
        bridges = [bridge for bridge, _ in made.ports_of_switch(host)]
        assert bridges == [pair.partition(":")[2] for pair in machine.bridges.split(",")]


@with_agents
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


@with_agents
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


@with_agents
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
