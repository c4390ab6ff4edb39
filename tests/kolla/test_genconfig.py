"""What the real kolla-ansible makes of nfvbed's files, read from the services' files; of 2026.1."""

import pytest

from tests.kolla.conftest import CASES
from tests.kolla.faults import OF_OVS_DPDK, OF_SRIOV

pytestmark = pytest.mark.timeout(1200)
"""Whoever comes first waits for kolla-ansible."""
AGENT = "neutron-openvswitch-agent/openvswitch_agent.ini"
ML2 = "neutron-server/ml2_conf.ini"
NOVA = "nova-compute/nova.conf"
COMPUTES = ("compute1", "compute2")
VARIANTS = ("ovs-dpdk", "ovs-kernel", "sriov", "macvtap")
MECHANISMS = {
    "ovs-dpdk": "openvswitch,l2population",
    "ovs-kernel": "openvswitch,l2population",
    "sriov": "openvswitch,l2population,sriovnicswitch",
    "macvtap": "openvswitch,macvtap,l2population",
}


@pytest.mark.parametrize("name", CASES)
def test_kolla_makes_the_services_files(services, name):
    made = services(name)
    assert made.seconds > 1
    assert made.has("controller" if "two" not in name else "compute1", "neutron-server")


@pytest.mark.parametrize("variant", VARIANTS)
def test_mechanism_drivers(services, variant):
    assert services(variant).one("controller", ML2, "ml2/mechanism_drivers") == MECHANISMS[variant]


@pytest.mark.parametrize("variant", VARIANTS)
def test_physical_networks_of_the_server(services, variant):
    made = services(variant)
    assert made.one("controller", ML2, "ml2_type_flat/flat_networks") == "provider,data,vf"
    ranges = made.one("controller", ML2, "ml2_type_vlan/network_vlan_ranges")
    assert ranges == "provider:100:149,data:200:299,vf:300:349"
    types = made.one("controller", ML2, "ml2/tenant_network_types")
    assert types == ("vlan" if variant in ("sriov", "macvtap") else "vlan,vxlan")
    assert made.one("controller", ML2, "ml2/physical_network_mtus") == "provider:1500,data:9000,vf:9000"
    assert made.one("controller", "neutron-server/neutron.conf", "DEFAULT/global_physnet_mtu") == "9000"


@pytest.mark.parametrize("variant", VARIANTS)
def test_datapath_of_each_machine(services, variant):
    made = services(variant)
    assert made.one("controller", AGENT, "ovs/datapath_type") == "system"
    wanted = "netdev" if variant == "ovs-dpdk" else "system"
    assert [made.one(host, AGENT, "ovs/datapath_type") for host in COMPUTES] == [wanted] * 2
    assert [made.has(host, "ovsdpdk-vswitchd") for host in COMPUTES] == [variant == "ovs-dpdk"] * 2
    assert [made.has(host, "openvswitch-vswitchd") for host in COMPUTES] == [variant != "ovs-dpdk"] * 2
    assert made.has("controller", "openvswitch-vswitchd") and not made.has("controller", "ovsdpdk-vswitchd")


@pytest.mark.parametrize("variant", VARIANTS)
def test_bridges_of_each_machine(services, variant):
    made = services(variant)
    bridges = made.one("controller", AGENT, "ovs/bridge_mappings")
    assert bridges == "provider:br-provider,data:br-data,vf:br-vf"
    for host in COMPUTES:
        found = made.options(host, AGENT)["ovs"].get("bridge_mappings")
        assert found == (None if variant == "macvtap" else ["data:br-data"])


@pytest.mark.parametrize("variant", VARIANTS)
def test_tunnels_end_at_the_sites_addresses(services, variant):
    made = services(variant)
    found = {host: made.one(host, AGENT, "ovs/local_ip") for host in ("controller", *COMPUTES)}
    assert found == {"controller": "10.20.0.10", "compute1": "10.20.0.11", "compute2": "10.20.0.12"}


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_scheduler_looks_at_cores_pages_and_devices(services, variant):
    made = services(variant)
    filters = made.one("controller", "nova-scheduler/nova.conf", "filter_scheduler/enabled_filters").split(",")
    assert {"NUMATopologyFilter", "PciPassthroughFilter", "AggregateInstanceExtraSpecsFilter"} < set(filters)
    assert {"ComputeFilter", "ImagePropertiesFilter"} < set(filters)


@pytest.mark.parametrize("variant", VARIANTS)
def test_cores_of_guests(services, variant):
    made = services(variant)
    for host in COMPUTES:
        dedicated = made.one(host, NOVA, "compute/cpu_dedicated_set")
        shared = made.one(host, NOVA, "compute/cpu_shared_set")
        if variant == "ovs-dpdk":
            # 2 polls, 18 is its other thread, 1 has the switch's other threads.
            assert (dedicated, shared) == ("3-7,10-15,19-23,26-31", "0,8-9,16-17,24-25")
        else:
            assert (dedicated, shared) == ("2-7,10-15,18-23,26-31", "0-1,8-9,16-17,24-25")


def test_what_kolla_gives_its_program_for_dpdk(services):
    made = services("ovs-dpdk")
    found = [made.given_to_dpdkctl(host) for host in COMPUTES]
    # DPDK takes the NIC from the kernel: its name is nfvbed's.
    assert {given["port_mappings"] for given in found} == {"dpdata:br-data"}
    assert [given["cidr_mappings"] for given in found] == ["br-data:10.20.0.11/24", "br-data:10.20.0.12/24"]
    assert {given["bridge_mappings"] for given in found} == {"data:br-data"}
    assert {given["ovs_socket_mem"] for given in found} == {"1024,1024"}
    assert {given["hugepage_mountpoint"] for given in found} == {"/dev/hugepages"}


def test_kolla_gives_no_masks_and_no_driver(services):
    """Its program then takes 0x2, 0x1 and uio_pci_generic: nfvbed's role has to set what is in the variables."""
    given = services("ovs-dpdk").given_to_dpdkctl("compute1")
    assert not {"pmd_coremask", "ovs_coremask", "dpdk_interface_driver"} & set(given)


@pytest.mark.parametrize("host", COMPUTES)
def test_vhost_user_ports_are_where_libvirt_sees_them(services, host):
    made = services("ovs-dpdk")
    assert made.one(host, AGENT, "ovs/vhostuser_socket_dir") == "/run/openvswitch"
    assert made.one(host, AGENT, "securitygroup/firewall_driver") == "openvswitch"


@pytest.mark.parametrize("host", COMPUTES)
def test_functions_are_nova_s_and_the_agents(services, host):
    made = services("sriov")
    device = '{"address": "0000:af:00.0", "physical_network": "vf"}'
    assert made.one(host, NOVA, "pci/device_spec") == device
    agent = "neutron-sriov-agent/sriov_agent.ini"
    assert made.one(host, agent, "sriov_nic/physical_device_mappings") == "vf:enp175s0f0"
    assert made.one(host, AGENT, "FDB/shared_physical_device_mappings") == "vf:enp175s0f0"
    assert made.one(host, AGENT, "agent/extensions") == "fdb"
    assert not made.has("controller", "neutron-sriov-agent")


def test_variants_without_functions_have_no_agent_for_them(services):
    for variant in ("ovs-dpdk", "ovs-kernel", "macvtap"):
        made = services(variant)
        assert not any(made.has(host, "neutron-sriov-agent") for host in ("controller", *COMPUTES))
        assert "device_spec" not in made.options("compute1", NOVA).get("pci", {})


@pytest.mark.parametrize("variant", VARIANTS)
def test_tacker_is_reached_at_the_virtual_address_and_listens_at_the_controllers(services, variant):
    made = services(variant)
    for service in ("tacker-server", "tacker-conductor"):
        file = f"{service}/tacker.conf"
        assert made.one("controller", file, "DEFAULT/bind_host") == "10.10.0.10"
        assert made.one("controller", file, "DEFAULT/bind_port") == "9890"
        assert made.one("controller", file, "keystone_authtoken/auth_url").startswith("http://10.10.0.250:5000")
        for whose in ("project", "user"):
            assert made.one("controller", file, f"keystone_authtoken/{whose}_domain_name") == "Default"
    assert not any(made.has(host, "tacker-server") for host in COMPUTES)


def test_tacker_s_endpoint_is_the_load_balancer_s(services):
    text = (services("ovs-kernel").folder / "controller/haproxy/services.d/tacker-server.cfg").read_text()
    assert "bind 10.10.0.250:9890" in text
    assert "server controller 10.10.0.10:9890 " in text


def test_afxdp_has_the_userspace_datapath_without_kollas_role_for_dpdk(services):
    made = services("ovs-afxdp")
    assert made.one("controller", ML2, "ml2/mechanism_drivers") == "openvswitch,l2population"
    assert made.one("controller", AGENT, "ovs/datapath_type") == "system"
    for host in COMPUTES:
        assert made.one(host, AGENT, "ovs/datapath_type") == "netdev"
        assert made.one(host, AGENT, "ovs/bridge_mappings") == "data:br-data"
        assert made.one(host, AGENT, "securitygroup/firewall_driver") == "openvswitch"
        assert "vhostuser_socket_dir" not in made.options(host, AGENT)["ovs"]
        assert made.one(host, NOVA, "compute/cpu_dedicated_set") == "3-7,10-15,19-23,26-31"
        assert "reserved_huge_pages" not in made.options(host, NOVA)["DEFAULT"]
        assert made.has(host, "openvswitch-vswitchd") and not made.has(host, "ovsdpdk-vswitchd")


def test_vpp_has_its_mechanism_driver_and_its_nics_are_no_bridges(services):
    made = services("vpp")
    assert made.one("controller", ML2, "ml2/mechanism_drivers") == "vpp,openvswitch,l2population"
    assert made.one("controller", ML2, "ml2/tenant_network_types") == "vlan"
    assert made.one("controller", AGENT, "ovs/bridge_mappings") == "provider:br-provider,data:br-data,vf:br-vf"
    for host in COMPUTES:
        assert "bridge_mappings" not in made.options(host, AGENT)["ovs"]
        assert made.one(host, NOVA, "compute/cpu_dedicated_set") == "3-7,10-15,19-23,26-31"
        reserved = made.options(host, NOVA)["DEFAULT"]["reserved_huge_pages"]
        assert reserved == ["node:0,size:1048576,count:1", "node:1,size:1048576,count:1"]


def test_two_machines(services):
    made = services("ovs-dpdk on two machines")
    for host in COMPUTES:
        assert made.one(host, AGENT, "ovs/datapath_type") == "netdev"
        assert made.one(host, AGENT, "ovs/bridge_mappings") == "data:br-data"
        assert made.one(host, NOVA, "compute/cpu_dedicated_set") == "7-15"
    assert made.has("compute1", "neutron-server") and not made.has("compute2", "neutron-server")


@pytest.mark.parametrize("fault", [*OF_OVS_DPDK, *OF_SRIOV], ids=lambda fault: fault.name)
def test_a_fault_of_kolla_s_is_there_without_its_override_and_not_with_it(services, fault):
    variant = "sriov" if fault in OF_SRIOV else "ovs-dpdk"
    assert fault.seen(services(f"{variant}, without overrides")) == fault.wrong
    assert fault.seen(services(variant)) == fault.right


def test_no_password_is_among_what_is_rendered():
    from tests.kolla.genconfig import Case, rendered

    assert not [path for path, text in rendered(Case("ovs-dpdk")).items() if "password" in text]
