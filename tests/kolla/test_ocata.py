"""What Ocata's real playbook makes of nfvbed's files: agents, NICs that link files name, and its faults."""

import json
import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import ansible_runner
import pytest

from tests.kolla.cases import SHORTEST_OF_OCATA, with_and_without
from tests.kolla.faults import OF_OCATAS_BRIDGES, OF_OCATAS_SWITCHES
from tests.kolla.genconfig import Case, rendered
from tests.kolla.linkfiles import named_by_links
from tests.kolla.ocata import ENVIRONMENT, SHARE

pytestmark = pytest.mark.timeout(3600)
"""The first test waits for kolla-ansible."""
on_demand = pytest.mark.on_demand
AGENTS = {
    "linux-bridge": "neutron-linuxbridge-agent",
    "ovs-kernel": "neutron-openvswitch-agent",
    "sriov": "neutron-openvswitch-agent",
}
OF_OCATA = [pytest.param(one, marks=() if f"ocata {one} rack" == SHORTEST_OF_OCATA else (on_demand,)) for one in AGENTS]


def ports_and_kernel_names(mac, pci):
    return {
        "interfaces": ["lo", "eth0", "eth1"],
        "eth0": {"device": "eth0", "pciid": pci, "macaddress": "52:54:00:00:00:01"},
        "eth1": {"device": "eth1", "pciid": pci, "macaddress": mac},
    }


def test_what_passes_events_on_is_not_for_its_python(tmp_path):
    """So Ocata is refused by `nfvbed deploy`: an ansible-runner that can follow it would make this fail."""
    source = Path(ansible_runner.__file__).parent / "display_callback/callback/awx_display.py"
    copy = tmp_path / source.name
    shutil.copy(source, copy)
    argv = [str(ENVIRONMENT / "bin/python"), "-m", "py_compile", str(copy)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert "SyntaxError" in done.stderr


@pytest.mark.parametrize("variant", OF_OCATA)
def test_agents_read_the_file_that_is_overridden(services, variant):
    made = services(f"ocata {variant} rack")
    for host in ("controller", "compute1", "compute2"):
        config = json.loads((made.folder / host / AGENTS[variant] / "config.json").read_text())
        assert "--config-file /etc/neutron/plugins/ml2/ml2_conf.ini" in config["command"]
        sources = {one["dest"]: one["source"] for one in config["config_files"]}
        assert sources["/etc/neutron/plugins/ml2/ml2_conf.ini"].endswith("/ml2_conf.ini")
        assert not list((made.folder / host).rglob("openvswitch_agent.ini"))


def test_tacker_asks_the_services_at_the_virtual_address(services):
    made = services(SHORTEST_OF_OCATA)
    endpoints = {
        "keystone_authtoken/auth_uri": "http://10.10.0.250:5000",
        "DEFAULT/nova_url": "http://10.10.0.250:8774",
        "tacker_heat/heat_uri": "http://10.10.0.250:8004/v1",
    }
    found = {option: made.one("controller", "tacker/tacker.conf", option) for option in endpoints}
    assert found == endpoints


@on_demand
def test_the_second_port_of_a_connectx_is_on_the_controllers_bridge_for_dhcp_and_routers(services):
    """As published: VF networks of both computes reach DHCP and routers over br-sriov of the controller alone."""
    made = services("ocata sriov rack-connectx")
    agent = "neutron-openvswitch-agent/ml2_conf.ini"
    assert made.one("compute1", agent, "ovs/bridge_mappings") == "ext:br-ext,data:br-data,sriov:br-sriov"
    assert made.one("compute2", agent, "ovs/bridge_mappings") == "data:br-data"
    for host in ("compute1", "compute2"):
        # Nova's network is called as the bridge's: only so do functions and bridge share a network.
        device = json.loads(made.one(host, "nova-compute/nova.conf", "pci/passthrough_whitelist"))
        assert device == {"address": "0000:81:00.0", "physical_network": "sriov"}
    for service in ("neutron-dhcp-agent", "neutron-l3-agent"):
        assert made.has("compute1", service) and not made.has("compute2", service)


def test_both_ports_of_a_connectx_get_their_own_names():
    files = rendered(Case("sriov", "rack-connectx", "ocata"), SHARE)
    links = {path: text for path, text in files.items() if path.startswith("nfvbed/links/compute1/")}
    kernel = ports_and_kernel_names("52:54:00:81:00:12", "0000:81:00.0")
    found = named_by_links(kernel, links)
    assert (found["srsriov"]["macaddress"], found["exsriov"]["macaddress"]) == (
        "52:54:00:00:00:01",
        "52:54:00:81:00:12",
    )
    # The file of the PCI device fits both ports: read first, it would take the name for either.
    wrong = {path.replace("/11-", "/09-"): text for path, text in links.items()}
    with pytest.raises(AssertionError, match="two NICs one name"):
        named_by_links(kernel, wrong)


@pytest.mark.parametrize("site", ["rack", "rack-two-machines", "rack-connectx"])
def test_names_of_link_files_are_those_that_linux_takes(site):
    files = rendered(Case("linux-bridge", site, "ocata"), SHARE)
    for path, text in files.items():
        if path.endswith(".link"):
            parser = ConfigParser(interpolation=None)
            parser.read_string(text)
            assert 0 < len(parser["Link"]["Name"]) <= 15 and parser["Link"]["Name"].isalnum()


@on_demand
@pytest.mark.parametrize("fault", [*OF_OCATAS_SWITCHES, *OF_OCATAS_BRIDGES], ids=lambda fault: fault.name)
def test_a_fault_of_ocatas_is_there_without_its_override_and_not_with_it(services, fault):
    good, bad = with_and_without(fault)
    assert fault.seen(services(bad)) == fault.wrong
    assert fault.seen(services(good)) == fault.right
