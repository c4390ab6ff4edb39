"""Each role on a real machine, emulated: it converges, changes nothing the second time, and is taken back."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kolla.guests import IGB, Guest, Played

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(3600)]
"""An emulated machine takes half a minute to start and a second for each task."""
GIB_KIB, PAGE_KIB = 1024 * 1024, 2048
NODES = "/sys/devices/system/node"
RESTARTS = ("-e", "nfvbed_reboot=true")
HOST: dict[str, Any] = {
    "nfvbed_host_isolated_cores": "1",
    "nfvbed_host_hugepages": [
        {"node": 1, "size_kib": GIB_KIB, "count": 1},
        {"node": 0, "size_kib": PAGE_KIB, "count": 40},
        {"node": 1, "size_kib": PAGE_KIB, "count": 20},
    ],
    "nfvbed_host_iommu": True,
    "nfvbed_host_governor": "performance",
}


@pytest.fixture(name="guest")
def _guest(tmp_path: Path) -> Iterator[Guest]:
    with Guest(tmp_path) as guest:
        yield guest


def converged(guest: Guest, role: str, variables: dict[str, Any], *more: str) -> None:
    """Run a role twice; the second time it has nothing to do."""
    first = play(guest, "prepare.yml", role, variables, *more)
    assert first.counts["changed"] > 0
    second = play(guest, "prepare.yml", role, variables, *more)
    assert second.counts["changed"] == 0, second.output


def play(guest: Guest, playbook: str, role: str, variables: dict[str, Any], *more: str) -> Played:
    """Run a role of a playbook, which must succeed."""
    played = guest.play(playbook, variables, ["--tags", role, *more])
    assert played.status == 0, played.output
    return played


def refused(guest: Guest, role: str, variables: dict[str, Any]) -> str:
    """Run a role that must fail, and return what it says."""
    played = guest.play("prepare.yml", variables, ["--tags", role])
    assert played.status != 0 and played.counts["failed"] == 1, played.output
    return " ".join(played.output.split())


def pages(guest: Guest) -> dict[tuple[int, int], int]:
    """Return the numbers of hugepages by node and size."""
    places = [(node, size) for node in (0, 1) for size in (PAGE_KIB, GIB_KIB)]
    files = [f"{NODES}/node{node}/hugepages/hugepages-{size}kB/nr_hugepages" for node, size in places]
    return dict(zip(places, map(int, guest.run("cat", *files).split()), strict=True))


@pytest.fixture(name="large_guest")
def _large_guest(tmp_path: Path) -> Iterator[Guest]:
    """A machine whose second node has a free piece of 1 GiB: below 2 GiB its boot loader puts the initial ramdisk."""
    with Guest(tmp_path, (1024, 3072)) as guest:
        yield guest


def command_line(guest: Guest) -> list[str]:
    """Return the kernel's parameters, but for those by which the boot loader names the kernel and the root."""
    line = guest.read("/proc/cmdline").split()
    return [word for word in line if not word.startswith(("BOOT_IMAGE=", "root="))]


def test_host(large_guest):
    guest = large_guest
    before, none = command_line(guest), pages(guest)
    assert set(none.values()) == {0}
    assert "cores are to be isolated that are not there: 7" in refused(
        guest, "nfvbed_host", HOST | {"nfvbed_host_isolated_cores": "1,7"}
    )
    assert "would be larger than its memory" in refused(
        guest, "nfvbed_host", HOST | {"nfvbed_host_hugepages": [{"node": 0, "size_kib": GIB_KIB, "count": 1}]}
    )
    started = guest.boot_id()
    assert "-e nfvbed_reboot=true" in refused(guest, "nfvbed_host", HOST)
    assert guest.boot_id() == started

    converged(guest, "nfvbed_host", HOST, *RESTARTS)

    assert guest.boot_id() != started
    wanted = "isolcpus=managed_irq,domain,1 nohz_full=1 rcu_nocbs=1 intel_iommu=on iommu=pt"
    assert {*wanted.split(), "default_hugepagesz=1G", "hugepagesz=1G", "hugepages=1:1"} < set(command_line(guest))
    # Those of 2 MiB were set before the restart, and by their unit after it.
    assert pages(guest) == {(0, PAGE_KIB): 40, (1, PAGE_KIB): 20, (0, GIB_KIB): 0, (1, GIB_KIB): 1}
    assert "pagesize=2M" in guest.run("findmnt", "-n", "-o", "OPTIONS", "/dev/hugepages2M")
    assert "pagesize=1024M" in guest.run("findmnt", "-n", "-o", "OPTIONS", "/dev/hugepages")
    assert guest.read("/sys/devices/system/cpu/isolated") == "1"
    assert guest.run("ls", "/sys/kernel/iommu_groups").split()

    play(guest, "undo.yml", "nfvbed_host", HOST, *RESTARTS)
    assert command_line(guest) == before
    assert pages(guest) == none
    assert guest.run("findmnt", "-n", "/dev/hugepages2M", check=False) == ""
    assert not guest.has("/etc/default/grub.d/90-nfvbed.cfg") and not guest.has("/usr/local/sbin/nfvbed-hugepages")
    assert play(guest, "undo.yml", "nfvbed_host", HOST).counts["changed"] == 0


@pytest.mark.parametrize("use_driverctl", [True, False])
def test_nics(guest, use_driverctl):
    assert guest.has(f"/sys/bus/pci/devices/{IGB}/iommu_group"), "Debian's kernel uses an IOMMU without being asked"
    reached = {"nfvbed_nics_bindings": [{"pci": management(guest), "driver": "vfio-pci"}]}
    assert "is the management NIC, which no data plane gets" in refused(guest, "nfvbed_nics", reached)
    assert guest.driver(IGB) == "igb"

    variables: dict[str, Any] = {"nfvbed_nics_bindings": [{"pci": IGB, "driver": "vfio-pci"}]}
    variables["nfvbed_nics_use_driverctl"] = use_driverctl
    converged(guest, "nfvbed_nics", variables)
    assert guest.driver(IGB) == "vfio-pci"
    assert guest.has("/etc/systemd/system/nfvbed-bind.service") != use_driverctl
    guest.restart()
    assert guest.driver(IGB) == "vfio-pci", "it is gone after a restart"

    play(guest, "undo.yml", "nfvbed_nics", variables)
    assert guest.driver(IGB) == "igb"
    assert play(guest, "undo.yml", "nfvbed_nics", variables).counts["changed"] == 0


def test_names(guest, tmp_path):
    links = tmp_path / "links"
    links.mkdir()
    (links / "10-nfvbed-dpdata.link").write_text(f"[Match]\nPath=pci-{IGB}\n\n[Link]\nName=dpdata\n")
    variables = {"nfvbed_nics_links_folder": str(links), "nfvbed_nics_names": ["dpdata"]}
    before = guest.run("ls", "/sys/class/net").split()
    assert "dpdata" not in before
    converged(guest, "nfvbed_nics", variables, *RESTARTS)
    assert "dpdata" in guest.run("ls", "/sys/class/net").split()
    play(guest, "undo.yml", "nfvbed_nics", variables, *RESTARTS)
    assert guest.run("ls", "/sys/class/net").split() == before


def test_sriov(guest):
    number = f"/sys/bus/pci/devices/{IGB}/sriov_numvfs"
    variables: dict[str, Any] = {
        "nfvbed_sriov_functions": [{"pci": IGB, "functions": 2, "trust": "on", "spoof_check": "off"}]
    }
    too_many = {"nfvbed_sriov_functions": [{"pci": IGB, "functions": 8}]}
    assert f"{IGB} cannot have 8 virtual functions. Observed: sriov_totalvfs is 7" in refused(
        guest, "nfvbed_sriov", too_many
    )
    assert guest.read(number) == "0"

    converged(guest, "nfvbed_sriov", variables)
    assert guest.read(number) == "2"
    assert settings_of_functions(guest) == [("on", "off")] * 2
    guest.restart()
    assert guest.read(number) == "2", "they are gone after a restart"
    assert settings_of_functions(guest) == [("on", "off")] * 2

    play(guest, "undo.yml", "nfvbed_sriov", variables)
    assert guest.read(number) == "0"
    assert not guest.has("/etc/nfvbed/sriov.conf")
    assert play(guest, "undo.yml", "nfvbed_sriov", variables).counts["changed"] == 0


def settings_of_functions(guest: Guest) -> list[tuple[str, ...]]:
    """Return trust and spoof check of each function."""
    device = guest.run("ls", f"/sys/bus/pci/devices/{IGB}/net").strip()
    lines = [line for line in guest.run("ip", "link", "show", "dev", device).splitlines() if " vf " in line]
    return [tuple(line.partition(word)[2].split(",")[0] for word in ("trust ", "spoof checking ")) for line in lines]


def management(guest: Guest) -> str:
    """Return the PCI address of the NIC by which the guest is reached."""
    device = guest.run("ip", "-o", "addr", "show", "to", "10.0.2.15").split()[1]
    return guest.run("realpath", f"/sys/class/net/{device}/device").strip().split("/")[-2]
