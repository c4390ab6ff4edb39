"""Fixes of a host in words that hold on others: the kernel's option beside a module, a name beside a package."""

import pytest

from nfvbed.host import fixes
from nfvbed.host.probes import cpu, devices, kernel
from nfvbed.host.probes.host import Host
from nfvbed.records.findings import State


@pytest.mark.parametrize(
    ("modules", "option", "said"),
    [
        (("veth",), "", "modprobe veth (of a kernel with CONFIG_VETH; for a container on its host)"),
        (("bridge", "veth"), "", "modprobe -a bridge veth (of a kernel with CONFIG_BRIDGE, CONFIG_VETH;"),
        (("tcp_bbr",), "CONFIG_TCP_CONG_BBR", "modprobe tcp_bbr (of a kernel with CONFIG_TCP_CONG_BBR;"),
    ],
)
def test_a_module_is_named_with_the_kernels_option(modules, option, said):
    assert fixes.load(*modules, option=option).startswith(said)


def test_a_module_whose_option_is_not_known_is_a_fault_of_ours():
    with pytest.raises(KeyError):
        fixes.load("unknown")


def test_a_program_is_named_beside_the_package():
    assert fixes.install("libsctp", "libsctp1") == "install libsctp (Debian's package libsctp1)"


def test_what_a_bridges_filter_takes_from_others_is_said():
    assert "all bridges of this host" in fixes.BRIDGE_NETFILTER


def test_a_host_is_told_what_a_setting_means_for_others(tree_of_two_threads):
    host = tree_of_two_threads
    assert "yours alone" in cpu.probe_smt(host).fix
    assert "others on this host" in cpu.probe_isolation(host).fix
    governor = cpu.probe_governor(host).fix
    assert "/sys/devices/system/cpu/cpufreq/policy*/scaling_governor" in governor and "for all of this host" in governor
    assert "firmware" in devices.probe_iommu(host).fix and "amd_iommu" not in devices.probe_iommu(host).fix
    assert "version 1" in kernel.probe_cgroup_v2(host).fix


@pytest.fixture(name="tree_of_two_threads")
def _tree(tmp_path):
    """A machine whose threads share a core, with a governor that saves power and few controllers in version 2."""
    files = {
        "sys/devices/system/cpu/cpu0/topology/thread_siblings_list": "0-1",
        "sys/devices/system/cpu/cpu1/topology/thread_siblings_list": "0-1",
        "sys/devices/system/cpu/cpufreq/policy0/scaling_governor": "powersave",
        "sys/fs/cgroup/cgroup.controllers": "hugetlb",
        "proc/mounts": "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0",
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content + "\n")
    return Host(tmp_path)


@pytest.mark.parametrize(("second", "state"), [("kthreadd", State.PRESENT), ("make", State.LIMITED)])
def test_a_container_with_process_ids_of_its_own_does_not_see_the_kernels_threads(tmp_path, second, state):
    (tmp_path / "sys/class/net/lo").mkdir(parents=True)
    (tmp_path / "sys/class/net/lo/threaded").write_text("0\n")
    (tmp_path / "proc/2").mkdir(parents=True)
    (tmp_path / "proc/2/comm").write_text(f"{second}\n")
    found = kernel.probe_threaded_napi(Host(tmp_path))
    assert (found.state, found.fix) == (state, fixes.KERNEL_THREADS if state is State.LIMITED else "")
