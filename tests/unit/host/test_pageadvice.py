"""How a host comes to more hugepages: its own numbers, by size and node, on hosts of every kind, and never fewer."""

import re

import pytest

from nfvbed.host.memory.hugepages import HugepagePool
from nfvbed.host.memory.pageadvice import more_pages
from nfvbed.host.probes.host import Host
from nfvbed.host.probes.memory import probe_hugepages
from nfvbed.records.findings import State

NEEDED = 1024
MEMORY_KIB = 131_072_000


class Tree:
    """A machine's files: its pools by size in KiB as (all, free), of the whole or of each node."""

    def __init__(self, root, nodes, command_line="", default_kib=2048, available_kib=MEMORY_KIB // 2):
        self.root, self.nodes = root, nodes
        self.write("proc/cmdline", command_line)
        self.write("proc/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0")
        self.write(
            "proc/meminfo",
            f"MemTotal: {MEMORY_KIB} kB\nMemAvailable: {available_kib} kB\nHugepagesize: {default_kib} kB",
        )
        whole = {}
        for number, pools in enumerate(nodes):
            place = f"sys/devices/system/node/node{number}"
            self.write(f"{place}/cpulist", f"{2 * number}-{2 * number + 1}")
            self.write(f"{place}/meminfo", f"Node {number} MemTotal: {MEMORY_KIB // len(nodes)} kB")
            for size, (total, free) in pools.items():
                self.pool(place, size, total, free)
                before = whole.get(size, (0, 0))
                whole[size] = (before[0] + total, before[1] + free)
        for size, (total, free) in whole.items():
            self.pool("sys/kernel/mm", size, total, free)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")

    def pool(self, place, size, total, free):
        folder = f"{place}/hugepages/hugepages-{size}kB"
        for name, count in (("nr", total), ("free", free), ("surplus", 0)):
            self.write(f"{folder}/{name}_hugepages", count)

    def holder(self, pid, name, mib):
        self.write(f"proc/{pid}/status", f"Name:\t{name}\nHugetlbPages:\t{mib * 1024} kB")

    @property
    def finding(self):
        return probe_hugepages(Host(self.root), try_reserving=False)

    def number(self, file):
        return int((self.root / file.lstrip("/")).read_text())


GIB = 1 << 20
HOSTS = {
    "pages of 1 GiB by default": (
        {
            "nodes": [{2048: (0, 0), GIB: (12, 12)}] * 2,
            "command_line": "default_hugepagesz=1G hugepagesz=1G hugepages=24 isolcpus=2",
            "default_kib": GIB,
        },
        "beside what is there: hugepagesz=2M hugepages=0:1024,1:1024",
    ),
    "one node of two has all": (
        {"nodes": [{2048: (2048, 2048)}, {2048: (0, 0)}], "command_line": "hugepages=2048"},
        "in the place of hugepages=2048: hugepagesz=2M hugepages=0:2048,1:1024",
    ),
    "a large pool in use": (
        {"nodes": [{2048: (9000, 16)}], "command_line": "hugepages=9000"},
        "in the place of hugepages=9000: hugepagesz=2M hugepages=10008",
    ),
    "both sizes at boot": (
        {
            "nodes": [{2048: (512, 512), GIB: (4, 0)}],
            "command_line": "default_hugepagesz=1G hugepagesz=2M hugepages=512 hugepagesz=1G hugepages=4",
            "default_kib": GIB,
        },
        "in the place of hugepagesz=2M hugepages=512: hugepagesz=2M hugepages=1024",
    ),
    "nothing yet": ({"nodes": [{2048: (0, 0)}]}, "beside what is there: hugepagesz=2M hugepages=1024"),
    "four nodes": (
        {"nodes": [{2048: (2000, 1500)}, {2048: (10, 0)}, {2048: (0, 0)}, {2048: (1024, 1024)}]},
        "hugepages=0:2000,1:1034,2:1024,3:1024",
    ),
}


@pytest.mark.parametrize(("host", "at_boot"), HOSTS.values(), ids=HOSTS)
def test_advice_is_by_size_and_node_and_lowers_no_pool(tmp_path, host, at_boot):
    tree = Tree(tmp_path, **host)
    found = tree.finding
    assert found.state in (State.UNKNOWN, State.LIMITED)
    assert at_boot in found.fix
    commands = re.findall(r"echo (\d+) > ([^\s;]+)", found.fix)
    assert commands
    for number, file in commands:
        assert "hugepages-2048kB" in file, "named by size: vm.nr_hugepages is about the default size"
        assert int(number) > tree.number(file)
    for node, number in re.findall(r"[=,](\d+):(\d+)", at_boot):
        place = f"/sys/devices/system/node/node{node}/hugepages/hugepages-2048kB/nr_hugepages"
        assert int(number) >= tree.number(place), "a node that is left out would have none"
    assert "sysctl" not in found.fix and "vm.nr" not in found.fix


def test_each_node_with_cores_is_counted(tmp_path):
    found = Tree(tmp_path, **HOSTS["one node of two has all"][0]).finding
    assert "node 0: 2048 of 2048, node 1: 0 of 0" in found.summary
    assert found.state is State.LIMITED


def test_enough_on_every_node_is_enough(tmp_path):
    found = Tree(tmp_path, [{2048: (1024, 1024)}] * 2).finding
    assert (found.state, found.fix) == (State.PRESENT, "")


def test_a_kernel_that_shows_no_pages_of_2_mib(tmp_path):
    found = Tree(tmp_path, [{GIB: (12, 12)}] * 2, default_kib=GIB).finding
    assert found.state is State.ABSENT
    assert "shows 1 GiB alone" in found.fix and "hugepagesz=2M hugepages=1024" in found.fix


def test_who_holds_them_is_named(tmp_path):
    tree = Tree(tmp_path, [{2048: (9000, 16)}])
    assert "not visible from here" in tree.finding.fix
    tree.holder(812, "ovs-vswitchd", 8192)
    tree.holder(900, "qemu-system-x86", 9000)
    tree.holder(901, "bash", 0)
    tree.write("proc/mounts", "hugetlbfs /dev/hugepages hugetlbfs rw,pagesize=2M 0 0")
    tree.write("dev/hugepages/rtemap_0", "x" * (1 << 21))
    fix = tree.finding.fix
    assert "held by qemu-system-x86 (pid 900, 9000 MiB), ovs-vswitchd (pid 812, 8192 MiB)" in fix
    assert "1 files in /dev/hugepages (2 MiB)" in fix
    assert "bash" not in fix and "end what is yours alone" in fix


def test_memory_that_is_not_there_is_told(tmp_path):
    fix = Tree(tmp_path, [{2048: (0, 0)}], available_kib=100_000).finding.fix
    assert "that takes 2048 MiB, and 97 MiB are available" in fix


def test_sysfs_that_cannot_be_written(tmp_path, monkeypatch):
    tree = Tree(tmp_path, [{2048: (0, 0)}])
    assert "on the host itself" not in tree.finding.fix
    monkeypatch.setattr("nfvbed.host.memory.pageadvice.os.access", lambda path, mode: False)
    assert tree.finding.fix.startswith("on the host itself, as /sys cannot be written here: echo 1024 > /sys/")


def test_other_pages_are_left_alone(tmp_path):
    fix = Tree(tmp_path, **HOSTS["pages of 1 GiB by default"][0]).finding.fix
    assert "24 free pages of 1 GiB are reserved beside them, which nfvbed does not take" in fix
    assert "hugepages-1048576kB" not in fix


def test_a_deployment_that_is_short_is_told_the_same(tmp_path):
    Tree(tmp_path, [{2048: (100, 40)}])
    advice = HugepagePool(None, tmp_path).how_to_have(64)
    assert "echo 124 > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages" in advice
    assert "hugepages_mib" in advice
    assert "node0/hugepages" in HugepagePool(0, tmp_path).how_to_have(64)


def test_no_pool_at_all(tmp_path):
    assert "CONFIG_HUGETLBFS" in more_pages({None: NEEDED}, tmp_path)
