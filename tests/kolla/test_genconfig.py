"""What the real kolla-ansible of 2026.1 makes of nfvbed's files, where it concerns one variant; and its faults."""

import pytest

from tests.kolla.cases import with_and_without
from tests.kolla.faults import OF_OVS_DPDK, OF_SRIOV
from tests.kolla.genconfig import Case, rendered

pytestmark = pytest.mark.timeout(1200)
"""Whoever comes first waits for kolla-ansible."""
AGENT = "neutron-openvswitch-agent/openvswitch_agent.ini"
COMPUTES = ("compute1", "compute2")


def test_what_kolla_gives_its_program_for_dpdk(services):
    made = services("ovs-dpdk")
    found = [made.given_to_dpdkctl(host) for host in COMPUTES]
    # The NIC is called otherwise on each machine, and was found by its PCI address.
    assert [given["port_mappings"] for given in found] == ["ens2f0:br-data", "ens3f0:br-data"]
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
def test_the_switch_shares_the_functions_network(services, host):
    made = services("sriov")
    assert made.one(host, AGENT, "FDB/shared_physical_device_mappings") == "vf:enp175s0f0"
    assert made.one(host, AGENT, "agent/extensions") == "fdb"


def test_tacker_s_endpoint_is_the_load_balancer_s(services):
    text = (services("ovs-kernel").folder / "controller/haproxy/services.d/tacker-server.cfg").read_text()
    assert "bind 10.10.0.250:9890" in text
    assert "server controller 10.10.0.10:9890 " in text


@pytest.mark.parametrize("fault", [*OF_OVS_DPDK, *OF_SRIOV], ids=lambda fault: fault.name)
def test_a_fault_of_kolla_s_is_there_without_its_override_and_not_with_it(services, fault):
    good, bad = with_and_without(fault)
    assert fault.seen(services(bad)) == fault.wrong
    assert fault.seen(services(good)) == fault.right


def test_no_password_is_among_what_is_rendered():
    assert not [path for path, text in rendered(Case("ovs-dpdk")).items() if "password" in text]
