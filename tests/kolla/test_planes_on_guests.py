"""Roles for data planes on a real machine, emulated, with a real Open vSwitch on DPDK or AF_XDP of Debian's."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kolla.genconfig import ENVIRONMENT
from tests.kolla.guests import IGB, NAME, Guest, Played

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(2400)]
"""An emulated machine takes half a minute to start and a second for each task."""
RESTARTS = ("-e", "nfvbed_reboot=true")
MACHINE: dict[str, Any] = {
    "nfvbed_host_hugepages": [{"node": 0, "size_kib": 2048, "count": 160}],
    "nfvbed_host_iommu": True,
    "nfvbed_nics_bindings": [{"pci": IGB, "driver": "vfio-pci"}],
}
ON_THE_MACHINE = {"nfvbed_ovs_runs_in": "host"}
DPDK: dict[str, Any] = ON_THE_MACHINE | {
    "nfvbed_roles": ["nfvbed_ovs_dpdk"],
    "nfvbed_ovs_dpdk_other_config": {"pmd-cpu-mask": "0x2", "dpdk-lcore-mask": "0x1", "pmd-rxq-assign": "group"},
    "nfvbed_ovs_dpdk_polling_cores": [1],
    "nfvbed_ovs_dpdk_ports": [
        {
            **{"name": "dpdata", "bridge": "br-data", "pci": IGB, "devargs": IGB, "driver": "vfio-pci"},
            **{"n_rxq": 1, "n_rxq_desc": 512, "mtu_request": 1500, "affinity": "0:1"},
        }
    ],
    "nfvbed_ovs_dpdk_address": "198.18.9.1/24",
    "nfvbed_ovs_dpdk_memory_mib": "256",
    "nfvbed_ovs_dpdk_initialise": True,
}
AFXDP: dict[str, Any] = ON_THE_MACHINE | {
    "nfvbed_roles": ["nfvbed_afxdp"],
    "nfvbed_afxdp_other_config": {"pmd-cpu-mask": "0x2"},
    "nfvbed_afxdp_polling_cores": [1],
    "nfvbed_afxdp_options": {"n_rxq": "1", "xdp-mode": "best-effort", "use-need-wakeup": "true"},
    "nfvbed_afxdp_ports": [{"name": "uplink0", "bridge": "br-data", "affinity": ""}],
}
KOLLAS_PROGRAM = ENVIRONMENT / "share/kolla-ansible/ansible/roles/ovs-dpdk/files/ovs-dpdkctl.sh"
WITH_DPDK = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"


@pytest.fixture(name="guest")
def _guest(tmp_path: Path) -> Iterator[Guest]:
    """Start a machine whose Open vSwitch is Debian's with DPDK in it, not initialised."""
    with Guest(tmp_path) as guest:
        guest.run("update-alternatives", "--set", "ovs-vswitchd", WITH_DPDK)
        guest.run("systemctl", "enable", "openvswitch-switch.service")
        guest.run("systemctl", "start", "openvswitch-switch.service")
        yield guest


def play(guest: Guest, playbook: str, variables: dict[str, Any], *more: str) -> Played:
    """Run a playbook, which must succeed."""
    played = guest.play(playbook, variables, more)
    assert played.status == 0, played.output
    return played


def refused(guest: Guest, variables: dict[str, Any]) -> str:
    """Tune a machine that cannot be tuned so, and return what is said."""
    played = guest.play("tune.yml", variables)
    assert played.status != 0 and played.counts["failed"] == 1, played.output
    return " ".join(played.output.split())


def converged(guest: Guest, variables: dict[str, Any]) -> None:
    """Tune the machine twice; the second time nothing changes."""
    assert play(guest, "tune.yml", variables).counts["changed"] > 0
    again = play(guest, "tune.yml", variables)
    assert again.counts["changed"] == 0, again.output


def vsctl(guest: Guest, *words: str) -> str:
    """Run ovs-vsctl in the guest."""
    return guest.run("ovs-vsctl", *words).strip()


def threads(guest: Guest) -> str:
    """Return who polls what, by Open vSwitch's own account."""
    return guest.run("ovs-appctl", "-t", "ovs-vswitchd", "dpif-netdev/pmd-rxq-show")


def vswitchd(guest: Guest) -> str:
    """Return the daemon's process."""
    return guest.read("/run/openvswitch/ovs-vswitchd.pid")


def settings(guest: Guest) -> dict[str, str]:
    """Return what the switch's record says, but for what it finds out itself."""
    return {one: vsctl(guest, "get", "Open_vSwitch", ".", one) for one in ("other_config", "bridges")}


def test_ovs_dpdk(guest):
    before = settings(guest)
    assert "has the driver igb, and the site's file says vfio-pci" in refused(guest, DPDK)
    assert settings(guest) == before
    play(guest, "prepare.yml", MACHINE, *RESTARTS)
    assert guest.driver(IGB) == "vfio-pci"
    daemon = vswitchd(guest)

    converged(guest, DPDK)

    assert vswitchd(guest) != daemon, "DPDK is initialised when the daemon starts"
    assert vsctl(guest, "get", "Open_vSwitch", ".", "dpdk_initialized") == "true"
    assert vsctl(guest, "get", "Open_vSwitch", ".", "other_config:pmd-cpu-mask") == '"0x2"'
    assert vsctl(guest, "get", "Interface", "dpdata", "status:driver_name") == "net_e1000_igb"
    assert vsctl(guest, "get", "Interface", "dpdata", "options:n_rxq_desc") == '"512"'
    shown = threads(guest)
    assert re.findall(r"pmd thread numa_id \d+ core_id (\d+)", shown) == ["1"]
    assert re.search(r"port: dpdata\s+queue-id:\s+0 \(enabled\)", shown), shown
    assert cores_of_threads(guest, "pmd-") == {"1"}
    assert cores_of_threads(guest, "ovs-vswitchd") == {"0"}, "the main thread is the lcore's"
    assert "198.18.9.1/24" in guest.run("ip", "-o", "addr", "show", "dev", "br-data")

    daemon = vswitchd(guest)
    moved = DPDK | {"nfvbed_ovs_dpdk_other_config": {"pmd-cpu-mask": "0x1", "dpdk-lcore-mask": "0x1"}}
    moved |= {"nfvbed_ovs_dpdk_polling_cores": [0]}
    moved["nfvbed_ovs_dpdk_ports"] = [DPDK["nfvbed_ovs_dpdk_ports"][0] | {"affinity": ""}]
    assert play(guest, "tune.yml", moved).counts["changed"] > 0
    assert vswitchd(guest) == daemon, "the mask of polling threads is taken while it runs"
    assert re.findall(r"pmd thread numa_id \d+ core_id (\d+)", threads(guest)) == ["0"]

    guest.restart()
    assert play(guest, "tune.yml", moved).counts["changed"] == 0
    assert "198.18.9.1/24" in guest.run("ip", "-o", "addr", "show", "dev", "br-data"), "it is gone after a restart"

    play(guest, "undo-tune.yml", moved)
    assert settings(guest) == before
    assert guest.run("ip", "-o", "link", "show", "dev", "br-data", check=False) == ""
    assert not guest.has("/var/lib/nfvbed/ovs-dpdk.json")
    assert play(guest, "undo-tune.yml", moved).counts["changed"] == 0


def test_kolla_s_program_finds_a_nic_that_dpdk_has(guest):
    """Its file is there before it, with the NIC's address: in a second run, too, it knows the NIC and leaves it."""
    play(guest, "prepare.yml", MACHINE | {"nfvbed_host_hugepages": []}, *RESTARTS)
    assert guest.driver(IGB) == "vfio-pci"
    guest.run("sh", "-c", f"cat > /var/tmp/ovs-dpdkctl.sh <<'END'\n{KOLLAS_PROGRAM.read_text()}\nEND")
    kollas = ("env", "CONFIG_FILE=/etc/kolla/ovsdpdk-db/ovs-dpdkctl.conf", "bash", "/var/tmp/ovs-dpdkctl.sh")
    for changed in (True, False):
        assert bool(play(guest, "before-kolla.yml", DPDK).counts["changed"]) == changed
        guest.run(*kollas, "bind_nics")
        assert guest.driver(IGB) == "vfio-pci"
    # In Kolla the daemon's container comes after it; one that runs initialises DPDK at once, here without memory.
    guest.run("systemctl", "stop", "ovs-vswitchd.service")
    guest.run("systemctl", "start", "ovsdb-server.service")
    guest.run(*kollas, "init_ovs_db")
    assert vsctl(guest, "get", "Open_vSwitch", ".", "other_config:pmd-cpu-mask") == '"0x2"'
    assert vsctl(guest, "get", "Open_vSwitch", ".", "other_config:dpdk-lcore-mask") == '"0x1"'
    assert IGB in vsctl(guest, "get", "Open_vSwitch", ".", "other_config:dpdk-extra")


def test_afxdp(guest):
    before = settings(guest)
    assert "Look at the devices" in refused(guest, AFXDP)
    guest.run("ip", "link", "add", "uplink0", "type", "veth", "peer", "name", "wire0")
    guest.run("ip", "link", "set", "wire0", "up")
    vsctl(guest, "add-br", "br-data", "--", "add-port", "br-data", "uplink0")

    converged(guest, AFXDP)

    assert vsctl(guest, "get", "Bridge", "br-data", "datapath_type") == "netdev"
    assert vsctl(guest, "get", "Interface", "uplink0", "type") == "afxdp"
    assert re.search(r"port: uplink0\s+queue-id:\s+0 \(enabled\)", threads(guest))
    assert cores_of_threads(guest, "pmd-") == {"1"}

    # As Nova and Neutron make a port of an instance.
    guest.run("ip", "tuntap", "add", "tap1", "mode", "tap")
    vsctl(guest, "add-port", "br-data", "tap1", "--", "set", "Interface", "tap1", "external_ids:iface-id=x")
    guest.run("timeout", "150", "sh", "-c", "until ovs-vsctl get Interface tap1 type | grep -q afxdp; do sleep 1; done")

    play(guest, "undo-tune.yml", AFXDP)
    assert {vsctl(guest, "get", "Interface", name, "type") for name in ("uplink0", "tap1")} == {'""'}
    assert vsctl(guest, "get", "Bridge", "br-data", "datapath_type") == '""'
    vsctl(guest, "del-br", "br-data")
    assert settings(guest) == before
    assert play(guest, "undo-tune.yml", AFXDP).counts["changed"] == 0


def cores_of_threads(guest: Guest, name: str) -> set[str]:
    """Return the cores that the daemon's threads of a name may run on; the machine is named for messages."""
    process = vswitchd(guest)
    found = set()
    for thread in guest.run("ls", f"/proc/{process}/task").split():
        if guest.read(f"/proc/{process}/task/{thread}/comm").startswith(name):
            status = guest.read(f"/proc/{process}/task/{thread}/status")
            found.add(re.search(r"Cpus_allowed_list:\s+(\S+)", status)[1])
    assert found, f"{NAME} has no thread {name}"
    return found
