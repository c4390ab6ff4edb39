"""Which network ports may be taken, and how they are taken and given back; on folders that stand for /sys.

The folders hold what a server with two sockets shows, cut down to what is read: four ports of Intel NICs (ixgbe), two
of them on each node, one Mellanox ConnectX-5, a disk. That a NIC works is shown by `node_proofs_cables.py` alone.
"""

from pathlib import Path

import pytest

from nfvbed.errors import UnsupportedError
from nfvbed.host.cores.topology import CpuTopology
from nfvbed.host.ledger.entries import DriverEntry, LinkStateEntry, NetdevEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.owner import this_process
from nfvbed.host.network import rebind
from nfvbed.host.nics import netdevs, take
from nfvbed.host.nics.fit import Machine, require
from nfvbed.host.nics.uses import devices_of_default
from nfvbed.records import PortKind, QualityWarning
from nfvbed.spec.pci import CableSpec
from tests.refusals import refusal

NEAR, FAR = ("0000:3b:00.0", "0000:3b:00.1"), ("0000:af:00.0", "0000:af:00.1")
MELLANOX, DISK = "0000:5e:00.0", "0000:00:17.0"
CABLES = (CableSpec(switch=NEAR[0], generator=FAR[0]), CableSpec(switch=NEAR[1], generator=FAR[1]))
TWO = CpuTopology(allowed=(0, 1, 2, 3), nodes=((0, 2), (1, 3)))
ONE = CpuTopology(allowed=(0, 1), nodes=((0, 1),))


class Tree:
    """A folder that stands for /sys, and the answers that only a kernel can give."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.uses: dict[str, tuple[str, ...]] = {}
        self.reason = ""
        self.busy: set[int] = set()
        (root / "bus/pci/drivers/vfio-pci").mkdir(parents=True)

    def device(self, address, node=0, group=1, driver="ixgbe", name="", vendor=0x8086, kind=0x020000):
        folder = self.root / "bus/pci/devices" / address
        folder.mkdir(parents=True)
        values = {"class": hex(kind), "vendor": hex(vendor), "device": "0x10fb", "numa_node": node}
        for key, value in (values | {"driver_override": "(null)"}).items():
            (folder / key).write_text(f"{value}\n")
        if driver:
            (folder / "driver").symlink_to(self.root / "bus/pci/drivers" / driver)
        members = self.root / "kernel/iommu_groups" / str(group) / "devices"
        members.mkdir(parents=True, exist_ok=True)
        (members / address).symlink_to(folder)
        (folder / "iommu_group").symlink_to(members.parent)
        if name:
            self.netdev(address, name)

    def netdev(self, address, name, flags=0x1002):
        folder = self.root / "bus/pci/devices" / address / "net" / name
        folder.mkdir(parents=True)
        for key, value in (("address", "02:00:00:00:00:01"), ("dev_port", 0), ("flags", hex(flags))):
            (folder / key).write_text(f"{value}\n")
        (self.root / "class/net").mkdir(parents=True, exist_ok=True)
        (self.root / "class/net" / name).symlink_to(folder)

    @property
    def machine(self):
        return Machine(
            self.root, lambda name: self.uses.get(name, ()), lambda: self.reason, lambda group: group in self.busy
        )


@pytest.fixture(name="tree")
def _tree(tmp_path):
    tree = Tree(tmp_path / "sys")
    for number, address in enumerate(NEAR):
        tree.device(address, 0, 10 + number, name=f"near{number}")
    for number, address in enumerate(FAR):
        tree.device(address, 1, 20 + number, name=f"far{number}")
    tree.device(MELLANOX, 0, 30, "mlx5_core", "mlx", vendor=0x15B3)
    tree.device(DISK, 0, 40, "ahci", kind=0x010601)
    return tree


@pytest.fixture(name="ledger")
def _ledger(tmp_path):
    return Ledger.create(tmp_path / "ledger.jsonl", this_process())


def refused(tree, cables=CABLES):
    error = refusal(lambda: require(cables, tree.machine), UnsupportedError)
    return f"{error.what}: {error.observed}"


def with_switch(address):
    return (CableSpec(switch=address, generator=FAR[0]), CABLES[1])


def test_free_ports_are_given_by_address(tree):
    found = require(CABLES, tree.machine)
    assert list(found) == [*NEAR, *FAR]
    assert {nic.driver for nic in found.values()} == {"ixgbe"}


def test_without_cables_nothing_can_be_taken(tree):
    assert "names no cables" in refused(tree, ())


def test_an_address_that_is_not_there_is_reported_with_those_that_are(tree):
    reported = refused(tree, with_switch("0000:99:00.0"))
    assert "not on this machine: 0000:99:00.0" in reported
    assert NEAR[0] in reported
    assert DISK not in reported


def test_a_disk_is_no_port(tree):
    assert "no NIC" in refused(tree, with_switch(DISK))


def test_a_port_of_the_host_is_never_taken(tree):
    tree.uses["far1"] = ("it has the address 192.0.2.7/24", "the default route leaves by it")
    reported = refused(tree)
    assert "in use by this host" in reported
    assert "0000:af:00.1 is far1: it has the address 192.0.2.7/24; the default route leaves by it" in reported


def test_a_device_that_is_in_another_namespace_may_be_in_use_there(tree):
    (tree.root / "bus/pci/devices" / NEAR[0] / "net").rename(tree.root / "elsewhere")
    assert "another network namespace" in refused(tree)


def test_two_ports_at_one_address_cannot_be_distinguished(tree):
    tree.netdev(NEAR[0], "second")
    assert "ConnectX-3" in refused(tree)


def test_without_an_iommu_and_without_the_driver(tree):
    tree.reason = "no IOMMU group: no IOMMU, or it is switched off"
    assert "no IOMMU" in refused(tree)
    tree.reason = ""
    (tree.root / "bus/pci/drivers/vfio-pci").rmdir()
    assert "vfio-pci is not loaded" in refused(tree)


def test_switch_and_generator_need_groups_of_their_own(tree):
    other = tree.root / "kernel/iommu_groups/10/devices" / FAR[1]
    other.symlink_to(tree.root / "bus/pci/devices" / FAR[1])
    assert "0000:3b:00.0 (switch) and 0000:af:00.1 (generator): group 10" in refused(tree)


def test_a_neighbour_in_the_group_that_the_kernel_drives(tree):
    tree.device("0000:3b:00.2", 0, 10, "ixgbe")
    assert "0000:3b:00.0 and 0000:3b:00.2, driver ixgbe" in refused(tree)


def test_bridges_and_devices_without_a_driver_are_no_bad_neighbours(tree):
    tree.device("0000:3a:00.0", 0, 10, "pcieport", kind=0x060400)
    tree.device("0000:3b:00.3", 0, 10, "")
    assert require(CABLES, tree.machine)


def test_a_port_that_another_program_has_over_vfio(tree):
    tree.device("0000:60:00.0", 0, 60, "vfio-pci")
    assert require(with_switch("0000:60:00.0"), tree.machine)
    tree.busy.add(60)
    assert "over vfio: /dev/vfio/60" in refused(tree, with_switch("0000:60:00.0"))


def test_mellanox_needs_no_vfio(tree):
    tree.device("0000:5e:00.1", 0, 31, "mlx5_core", "mlx1", vendor=0x15B3)
    tree.device("0000:5f:00.0", 0, 32, "mlx5_core", "mlx2", vendor=0x15B3)
    tree.device("0000:5f:00.1", 0, 33, "mlx5_core", "mlx3", vendor=0x15B3)
    tree.reason = "no IOMMU"
    first = CableSpec(switch=MELLANOX, generator="0000:5f:00.0")
    last = CableSpec(switch="0000:5e:00.1", generator="0000:5f:00.1")
    assert len(require((first, last), tree.machine)) == 4


def test_ports_are_bound_and_the_ledger_knows_what_they_were(tree, ledger, monkeypatch):
    done = []

    def rebound(address, driver, override, sysfs):
        done.append((address, driver, override))
        link = sysfs / "bus/pci/devices" / address / "driver"
        link.unlink()
        link.symlink_to(sysfs / "bus/pci/drivers" / driver)

    monkeypatch.setattr(rebind, "rebind", rebound)
    near = tree.root / "class/net/near0/flags"
    near.write_text("0x1003\n")
    take.take(CABLES, "/run/netns/switch", ledger, tree.machine)
    assert done == [(address, "vfio-pci", "") for address in (*NEAR, *FAR)]
    entries = [entry for entry in ledger.entries if isinstance(entry, DriverEntry)]
    assert [entry.netdev for entry in entries] == ["near0", "near1", "far0", "far1"]
    assert [entry.was_up for entry in entries] == [True, False, False, False]
    assert {entry.previous for entry in entries} == {"ixgbe"}


def test_nothing_is_recorded_where_one_may_not_be_taken(tree, ledger):
    tree.uses["far1"] = ("br0 is on top of it",)
    before = list(ledger.entries)
    with pytest.raises(UnsupportedError):
        take.take(CABLES, "/run/netns/switch", ledger, tree.machine)
    assert list(ledger.entries) == before


def test_a_port_that_keeps_its_driver_goes_into_the_switchs_namespace(tree, ledger, monkeypatch):
    reported = []
    monkeypatch.setattr(netdevs, "move", lambda port, netns, name, _: reported.append(("move", port.name, netns, name)))
    monkeypatch.setattr(netdevs, "bring_up", lambda name, _: reported.append(("up", name)))
    monkeypatch.setattr(take, "inside", lambda netns, _: reported.append(("set up inside", netns)))
    monkeypatch.setattr(take.binding, "bind", lambda address, driver, *_: reported.append((address, driver)))
    tree.device("0000:5f:00.0", 0, 32, "mlx5_core", "mlx2", vendor=0x15B3)
    cables = (CableSpec(switch=MELLANOX, generator="0000:5f:00.0"), CABLES[1])
    take.take(cables, "/run/netns/switch", ledger, tree.machine)
    assert reported == [
        ("move", "mlx", "/run/netns/switch", "mlx"),
        ("set up inside", "/run/netns/switch"),
        (NEAR[1], "vfio-pci"),
        ("up", "mlx2"),
        (FAR[1], "vfio-pci"),
    ]
    assert not [entry for entry in ledger.entries if isinstance(entry, LinkStateEntry | NetdevEntry)]


def test_the_generator_has_the_other_ends():
    ports = take.generator_ports(CABLES)
    assert [port.spec for port in ports] == ["pci:0000:af:00.0", "pci:0000:af:00.1"]
    assert {port.kind for port in ports} == {PortKind.PCI}
    assert {port.engine for port in ports} == {"dpdk"}


def test_a_generator_alone_takes_both_ports(tree, ledger, monkeypatch):
    bound = []
    monkeypatch.setattr(take.binding, "bind", lambda address, driver, *_: bound.append((address, driver)))
    given = dict.fromkeys(NEAR, "generator")
    ports = take.take_addresses(given, "ports", ledger, tree.machine)
    assert bound == [(address, "vfio-pci") for address in NEAR]
    assert [(port.spec, port.kind, port.engine) for port in ports] == [
        (f"pci:{address}", PortKind.PCI, "dpdk") for address in NEAR
    ]
    tree.uses["near1"] = ("the default route leaves by it",)
    with pytest.raises(UnsupportedError, match="a port of the site's ports is in use by this host") as refused:
        take.take_addresses(given, "ports", ledger, tree.machine)
    assert refused.value.where == f"ports, {NEAR[1]}"


def test_the_node_of_the_switchs_ports(tree):
    assert take.near_node(CABLES, tree.root) == 0
    assert take.near_node((CABLES[0], CableSpec(switch=FAR[1], generator=NEAR[1])), tree.root) is None
    (tree.root / "bus/pci/devices" / NEAR[0] / "numa_node").write_text("-1\n")
    (tree.root / "bus/pci/devices" / NEAR[1] / "numa_node").write_text("-1\n")
    assert take.near_node(CABLES, tree.root) is None


def test_memory_is_on_the_nodes_of_ports_and_cores(tree):
    nics = [require(CABLES, tree.machine)[address] for address in NEAR]
    assert take.memory_nodes(nics, (0, 2), TWO) == (0,)
    assert take.memory_nodes(nics, (1, 3), TWO) == (0, 1)
    assert take.memory_nodes(nics, (0, 1), ONE) == ()


def test_a_switch_far_from_its_ports_has_a_warning(tree):
    nics = [require(CABLES, tree.machine)[address] for address in NEAR]
    assert take.warnings(nics, (0, 2), TWO) == ()
    assert take.warnings(nics, (0, 1), TWO) == (QualityWarning.WRONG_NUMA_NODE,)


def test_a_rig_names_the_cables(tree):
    reported = take.described(CABLES, tree.root)
    assert reported[0] == {"switch": "0000:3b:00.0 8086:10fb", "generator": "0000:af:00.0 8086:10fb"}


class Route(dict):
    """A route as pyroute2 gives it, with what is read of it."""

    def get_attr(self, name):
        return self.get(name)


def test_default_routes_and_what_they_leave_by():
    plain = Route(dst_len=0, type=1, RTA_OIF=3)
    several = Route(dst_len=0, type=1, RTA_MULTIPATH=[{"oif": 4}, {"oif": 5}])
    assert devices_of_default(plain) == {3}
    assert devices_of_default(several) == {4, 5}
    assert devices_of_default(Route(dst_len=24, type=1, RTA_OIF=3)) == set()
    assert devices_of_default(Route(dst_len=0, type=7, RTA_OIF=3)) == set()
