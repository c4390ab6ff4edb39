"""Ports that are one PCI device, and the order in which systemd reads link files."""

from jinja2 import Environment

from nfvbed.cloud.kolla.nicnames import link_files, variables, with_address
from tests.kolla.machines import machine
from tests.unit.sites.kolla.orders import site, without_pci

HOST = site(name="rack-connectx").hosts["compute1"]


def test_ports_of_one_pci_device_are_told_apart():
    facts = machine("compute1", HOST, 0)
    ports = {name for name, one in facts.items() if isinstance(one, dict) and one.get("pciid") == "0000:81:00.0"}
    assert len(ports) == 2
    expressions = variables(HOST, "ansible_facts")
    names = {name: Environment().from_string(text).render(ansible_facts=facts) for name, text in expressions.items()}
    assert (names["nfvbed_nic_external_sriov"], names["nfvbed_nic_sriov_sriov"]) == ("enp175s0d1", "enp175s0f0")
    assert len(set(names.values())) == len(HOST.nics)


def test_files_that_name_a_mac_address_are_read_before_those_of_pci_devices():
    files = sorted(link_files("compute1", HOST).items())
    kinds = ["MACAddress=" in text for _, text in files]
    assert kinds == sorted(kinds, reverse=True) and {*kinds} == {True, False}


def device(name, mac, kind="ether", **others):
    return {name: {"device": name, "macaddress": mac, "type": kind, **others}}


def test_a_device_without_a_driver_is_a_nic_where_the_file_has_such_nics():
    """As Ansible has a machine's after the deployment: the bridge of Open vSwitch has its port's MAC address."""
    host = site(without_pci()).hosts["compute1"]
    (management,), (data,) = host.nics_of("management"), host.nics_of("dpdk")
    facts = {
        "default_ipv4": {"macaddress": management.mac, "interface": "mg0", "type": "ether"},
        **device("br-data", data.mac),
        **device("docker0", data.mac, "bridge"),
        **device("dp0", data.mac),
        **device("mg0", management.mac),
    }
    names = {
        name: text for name, text in variables(host, "ansible_facts").items() if not name.endswith(("vf", "sriov"))
    }
    found = {name: Environment().from_string(text).render(ansible_facts=facts) for name, text in names.items()}
    assert (found["nfvbed_nic_management"], found["nfvbed_nic_dpdk_data"]) == ("mg0", "dp0")
    # A NIC with a driver comes before what lies on it.
    facts |= device("eth0.10", management.mac) | device("eth1", management.mac, module="ice", pciid="0000:01:00.0")
    text = variables(host, "ansible_facts")["nfvbed_nic_management"]
    assert Environment().from_string(text).render(ansible_facts=facts) == "eth1"


def test_the_apis_are_on_the_device_that_has_the_address():
    host = site().hosts["compute1"]
    (management,) = host.nics_of("management")
    text = with_address(host)
    for name in ("eth0", "bond0", "br-mgmt", "bond0.10"):
        facts = {
            "default_ipv4": {"address": host.address, "interface": name},
            "all_ipv4_addresses": [host.address],
            **device("eth0", management.mac, module="ice"),
            **device("eth1", management.mac, module="ice", ipv4={"address": "10.20.0.11"}),
        }
        facts.setdefault(name, {"device": name})["ipv4"] = {"address": host.address}
        assert Environment().from_string(text).render(ansible_facts=facts) == name
