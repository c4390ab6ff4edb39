"""The file of Kolla's program for DPDK, as the role writes it with Ansible."""

import configparser
import json
import subprocess
from pathlib import Path

import pytest

from tests.kolla.genconfig import ENVIRONMENT

ROLES = Path(__file__).resolve().parents[2] / "deploy" / "roles"
CARD = {"name": "dpdata", "bridge": "br-data", "pci": "0000:3b:00.0", "devargs": "0000:3b:00.0", "driver": "vfio-pci"}
SOCKET = {
    "name": "dptest",
    "bridge": "br-test",
    "pci": "",
    "devargs": "net_af_packet1",
    "driver": "af_packet",
    "kernel_device": "dp0",
}


def written(folder: Path, ports: list[dict[str, str]]) -> configparser.ConfigParser:
    """Return what the role's template makes of these ports."""
    given = {
        "nfvbed_ovs_dpdk_ports": ports,
        "nfvbed_ovs_dpdk_other_config": {"pmd-cpu-mask": "0x2", "dpdk-lcore-mask": "0x1"},
    }
    (folder / "given.json").write_text(json.dumps(given))
    role = ROLES / "nfvbed_ovs_dpdk"
    made = folder / "ovs-dpdkctl.conf"
    template = {"src": str(role / "templates" / "ovs-dpdkctl.conf.j2"), "dest": str(made), "mode": "0600"}
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "connection": "local",
        # The last file counts.
        "vars_files": [*(str(role / one / "main.yml") for one in ("defaults", "vars")), str(folder / "given.json")],
        "tasks": [{"ansible.builtin.template": template}],
    }
    (folder / "play.yml").write_text(json.dumps([play]))
    done = subprocess.run(
        [str(ENVIRONMENT / "bin" / "ansible-playbook"), "-i", "localhost,", str(folder / "play.yml")],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    parser = configparser.ConfigParser()
    parser.read(made)
    return parser


@pytest.mark.parametrize(
    ("ports", "driver", "devices"),
    [
        ([CARD], "vfio-pci", "-a 0000:3b:00.0"),
        ([SOCKET], "af_packet", "--no-pci --vdev=net_af_packet1,iface=dp0"),
        ([SOCKET, CARD], "vfio-pci", "-a 0000:3b:00.0 --vdev=net_af_packet1,iface=dp0"),
    ],
)
def test_the_driver_is_never_empty_and_devices_are_those_of_the_site_s_file(tmp_path, ports, driver, devices):
    """With an empty `dpdk_interface_driver` Kolla's `ovs-dpdkctl uninstall` waits on its standard input for ever."""
    made = written(tmp_path, ports)
    assert made["ovs"]["dpdk_interface_driver"] == driver
    assert made["ovs"]["pci_whitelist"] == devices
    for port in ports:
        # Its `bind_nics` leaves a NIC alone whose driver is what it finds: of a packet socket none.
        assert made[port["name"]]["driver"] == (port["driver"] if port["pci"] else "")
        # Its `init` separates address and name with a comma, and gives the address to Open vSwitch.
        assert made[port["name"]]["address"] == port["devargs"]
        assert "," not in made[port["name"]]["address"]
