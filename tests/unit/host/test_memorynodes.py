"""Cores, hugepages and NICs on the nodes of a synthesised server with two sockets."""

from pathlib import Path

import pytest

from nfvbed.host.cores.memorynodes import hugepages_kib, nic_node, what_lies_apart
from nfvbed.host.cores.topology import CpuTopology
from nfvbed.records import GeneratorPort, PortKind, Role, WorkThread

TWO = CpuTopology(allowed=(0, 1, 2, 3), nodes=((0, 2), (1, 3)))
NUMA_MAPS = """\
560000000000 default file=/usr/sbin/ovs-vswitchd mapped=12 N0=12 kernelpagesize_kB=4
7f0000000000 bind:0 file=/run/nfvbed/1/hugepages-0/rtemap_0 huge dirty=128 N0=128 kernelpagesize_kB=2048
7f0010000000 default file=/memfd:memory huge dirty=64 {foreign} kernelpagesize_kB=2048
7fff00000000 default stack anon=5 dirty=5 N1=5 kernelpagesize_kB=4
"""
"""Written after proc(5)."""
NIC = GeneratorPort(engine="dpdk", spec="0000:B1:00.0", kind=PortKind.PCI)


def threads(switch: int, generator: int) -> list[WorkThread]:
    return [
        WorkThread(role=Role.SWITCH, pid=10, tid=11, core=switch, name="pmd-c00"),
        WorkThread(role=Role.GENERATOR, pid=20, tid=20, core=generator, name="generator"),
    ]


@pytest.fixture(name="root")
def _root(tmp_path: Path) -> Path:
    for pid, foreign in ((10, "N0=64"), (20, "N0=16 N1=48")):
        path = tmp_path / f"proc/{pid}/numa_maps"
        path.parent.mkdir(parents=True)
        path.write_text(NUMA_MAPS.format(foreign=foreign))
    node = tmp_path / "sys/bus/pci/devices/0000:b1:00.0/numa_node"
    node.parent.mkdir(parents=True)
    node.write_text("1\n")
    return tmp_path


def test_hugepages_are_counted_by_node_and_ordinary_pages_are_not(root: Path):
    assert hugepages_kib(10, root) == {0: 192 * 2048}
    assert hugepages_kib(20, root) == {0: 144 * 2048, 1: 48 * 2048}
    assert hugepages_kib(30, root) == {}


def test_memory_of_a_process_on_another_node(root: Path):
    assert what_lies_apart(TWO, threads(0, 2), [], root) == (
        "generator runs on NUMA node 0; 96 MiB of its hugepages are on other nodes",
    )


def test_cores_on_both_nodes_and_a_nic_far_from_one(root: Path):
    found = what_lies_apart(TWO, threads(0, 1)[:1] + threads(0, 3)[1:], [NIC], root)
    assert found[0] == "working cores are on NUMA node 0, node 1"
    assert found[-1] == "the NIC 0000:B1:00.0 is on NUMA node 1, the working cores on NUMA node 0, node 1"


def test_all_on_one_node(root: Path):
    assert what_lies_apart(TWO, threads(0, 2)[:1], [], root) == ()


def test_a_host_with_one_node_has_no_wrong_one(root: Path):
    one = CpuTopology(allowed=(0, 1), nodes=((0, 1),))
    assert what_lies_apart(one, threads(0, 1), [NIC], root) == ()


@pytest.mark.parametrize(("text", "node"), [("0\n", 0), ("-1\n", None)])
def test_a_nic_whose_machine_does_not_say_has_no_node(root: Path, text: str, node: int | None):
    (root / "sys/bus/pci/devices/0000:b1:00.0/numa_node").write_text(text)
    assert nic_node(NIC, root) == node
    assert nic_node(NIC.model_copy(update={"kind": PortKind.VETH}), root) is None
