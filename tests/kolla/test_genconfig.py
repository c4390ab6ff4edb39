"""What the real kolla-ansible of 2026.1 makes of nfvbed's files, where it concerns one variant; and its faults."""

import json
from pathlib import PurePosixPath

import pytest
import yaml

from tests.kolla.cases import with_and_without
from tests.kolla.faults import OF_OVN, OF_OVS_DPDK, OF_SRIOV
from tests.kolla.genconfig import ENVIRONMENT, Case, rendered

pytestmark = pytest.mark.timeout(1200)
"""The first test waits for kolla-ansible."""
AGENT = "neutron-openvswitch-agent/openvswitch_agent.ini"
NOVA = "nova-compute/nova.conf"
COMPUTES = ("compute1", "compute2")


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
def test_the_switch_shares_the_functions_network(services, host):
    made = services("sriov")
    assert made.one(host, AGENT, "FDB/shared_physical_device_mappings") == "vf:enp175s0f0"
    assert made.one(host, AGENT, "agent/extensions") == "fdb"


def test_tacker_s_endpoint_is_the_load_balancer_s(services):
    text = (services("ovs-kernel").folder / "controller/haproxy/services.d/tacker-server.cfg").read_text()
    assert "bind 10.10.0.250:9890" in text
    assert "server controller 10.10.0.10:9890 " in text


def test_server_and_conductor_of_tacker_share_the_folder_of_the_vims_keys(services):
    text = (ENVIRONMENT / "share/kolla-ansible/ansible/roles/tacker/defaults/main.yml").read_text()
    role, made = yaml.safe_load(text), services("ovs-kernel")
    for service in ("server", "conductor"):
        keys = PurePosixPath(made.one("controller", f"tacker-{service}/tacker.conf", "vim_keys/openstack"))
        volumes = [one.split(":")[:2] for one in role[f"tacker_{service}_default_volumes"] if one.count(":")]
        of_keys = [name for name, inside in volumes if keys.is_relative_to(inside)]
        assert of_keys == ["kolla_tacker_csar_files"]
        config = json.loads((made.folder / f"controller/tacker-{service}/config.json").read_text())
        assert {"path": str(keys.parent), "owner": "tacker:tacker"} in config["permissions"]


@pytest.mark.on_demand
def test_afxdp_is_without_kollas_role_for_dpdk(services):
    made = services("ovs-afxdp")
    for host in COMPUTES:
        assert made.one(host, AGENT, "securitygroup/firewall_driver") == "openvswitch"
        assert "vhostuser_socket_dir" not in made.options(host, AGENT)["ovs"]
        assert "reserved_huge_pages" not in made.options(host, NOVA)["DEFAULT"]


@pytest.mark.on_demand
def test_nova_leaves_vpp_its_hugepages(services):
    made = services("vpp")
    for host in COMPUTES:
        reserved = made.options(host, NOVA)["DEFAULT"]["reserved_huge_pages"]
        assert reserved == ["node:0,size:1048576,count:1", "node:1,size:1048576,count:1"]


@pytest.mark.parametrize("fault", [*OF_OVS_DPDK, *OF_SRIOV, *OF_OVN], ids=lambda fault: fault.name)
def test_a_fault_of_kolla_s_is_there_without_its_override_and_not_with_it(services, fault):
    good, bad = with_and_without(fault)
    assert fault.seen(services(bad)) == fault.wrong
    assert fault.seen(services(good)) == fault.right


def test_no_password_is_among_what_is_rendered():
    assert not [path for path, text in rendered(Case("ovs-dpdk")).items() if "password" in text]
