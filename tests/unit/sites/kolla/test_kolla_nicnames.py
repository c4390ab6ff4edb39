"""Ports that are one PCI device, and the order in which systemd reads link files."""

from jinja2 import Environment

from nfvbed.cloud.kolla.nicnames import link_files, variables
from tests.kolla.machines import machine
from tests.unit.sites.kolla.orders import site

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
