"""The probes on trees of other hosts: a virtual machine that was recorded, a server that was synthesised."""

import pytest

from nfvbed.dataplanes.ovs.kernel.probe import probe_openvswitch
from nfvbed.host.probes import accelerator, cpu, devices, kernel, memory
from nfvbed.host.probes.findings import DoctorReport
from nfvbed.host.probes.host import Host, parse_cpu_list
from nfvbed.records.findings import Finding, State
from nfvbed.sites.lab.examine import examine_host
from nfvbed.spec.cpulist import format_cpu_list


@pytest.fixture(name="server")
def _server(tree_of):
    return tree_of("two_socket_server")


@pytest.fixture(name="vm")
def _vm(tree_of):
    return tree_of("two_core_vm")


def test_server_processors(server):
    found = cpu.probe_cpu(server)
    assert (found.sockets, found.cores, found.threads) == (2, 8, 16)
    assert not found.hypervisor
    assert "avx512bw" in found.flags
    assert "pdpe1gb" in found.flags


def test_server_threads_share_cores(server):
    found = cpu.probe_smt(server)
    assert found.active
    assert found.siblings[0] == (0, 8)
    assert len(found.siblings) == 8
    assert "smt/control" in found.fix


def test_server_isolation(server):
    found = cpu.probe_isolation(server)
    assert found.state is State.PRESENT
    assert found.isolated == (2, 3, 6, 7, 10, 11, 14, 15)
    assert "2-3,6-7" in found.summary


def test_server_governors_differ_and_turbo_is_on(server):
    found = cpu.probe_governor(server)
    assert found.state is State.LIMITED
    assert found.governors == ("performance", "powersave")
    assert found.turbo is True


def test_server_nodes(server):
    found = memory.probe_numa(server)
    assert [node.cores[0] for node in found.nodes] == [0, 4]
    assert found.nodes[1].cores == (4, 5, 6, 7, 12, 13, 14, 15)
    assert found.nodes[0].memory_mib == 131862500 // 1024


def test_server_hugepages_are_enough_and_not_tried(server):
    found = memory.probe_hugepages(server, try_reserving=True)
    assert found.state is State.PRESENT
    assert [(pool.size_kib, pool.free) for pool in found.pools] == [(2048, 3072), (1048576, 16)]
    assert found.reservable_mib == 0


def test_server_ports(server):
    nics = devices.probe_nics(server).nics
    assert [(nic.vendor, nic.driver, nic.interfaces, nic.numa_node, nic.virtual_functions) for nic in nics] == [
        ("Mellanox", "mlx5_core", ("ens1f0np0",), 0, 8),
        ("Mellanox", "mlx5_core", ("ens1f1np1",), 0, 8),
        ("Intel", "vfio-pci", (), 1, 64),
    ]


def test_server_kernel(server):
    assert devices.probe_iommu(server).groups == 3
    assert probe_openvswitch(server).state is State.PRESENT
    assert kernel.probe_cgroup_v2(server).state is State.PRESENT
    assert kernel.probe_threaded_napi(server).state is State.PRESENT


def test_vm_is_seen_as_virtual_without_smt(vm):
    found = cpu.probe_cpu(vm)
    assert found.hypervisor
    assert (found.cores, found.threads) == (2, 2)
    assert found.mitigations.keys() == {"retbleed", "spectre_v2"}
    assert not cpu.probe_smt(vm).active
    assert cpu.probe_governor(vm).state is State.ABSENT


def test_vm_hugepages_that_were_not_tried_are_unknown(vm):
    found = memory.probe_hugepages(vm, try_reserving=False)
    assert found.state is State.UNKNOWN
    assert found.reservable_mib is None
    assert "hugepagesz=2M hugepages=1024" in found.fix


def test_vm_devices(vm):
    (nic,) = devices.probe_nics(vm).nics
    assert (nic.vendor, nic.driver, nic.interfaces) == ("virtio", "virtio-pci", ("eth0",))
    assert devices.probe_iommu(vm).state is State.ABSENT
    assert devices.probe_vhost_net(vm).state is State.ABSENT


def test_device_that_is_only_present_is_not_called_working(vm):
    found = devices.probe_kvm(vm)
    assert found.state is State.UNKNOWN
    assert "recorded" in found.probed


@pytest.mark.parametrize(
    ("guests", "state", "says"),
    [
        (State.PRESENT, State.PRESENT, "opens (API 12), and guests boot with it"),
        (State.LIMITED, State.LIMITED, "no guest boots with it: see accelerator"),
        (State.UNKNOWN, State.LIMITED, "whether it boots is open"),
    ],
)
def test_kvm_and_the_accelerator_say_the_same(guests, state, says):
    device = Finding(topic="KVM", state=State.LIMITED, summary="opens (API 12); whether it boots is open", probed="x")
    found = accelerator.kvm_with_guests(device, Finding(topic="accelerator", state=guests, summary="", probed="x"))
    assert found.state is state and says in found.summary


def test_vm_has_control_groups_in_version_2_without_controllers(vm):
    found = kernel.probe_cgroup_v2(vm)
    assert found.state is State.LIMITED
    assert "hugetlb" in found.summary


def test_empty_tree_gives_states_and_no_crash(tmp_path):
    report = examine_host(tmp_path, Host(tmp_path))
    assert report.kernel == "unknown"
    assert report.numa.state is State.ABSENT
    assert report.hugepages.state is State.ABSENT
    assert all(finding.summary for finding in report.findings)


def test_report_survives_json(vm, tmp_path):
    report = examine_host(tmp_path, vm)
    assert DoctorReport.model_validate_json(report.model_dump_json()) == report


@pytest.mark.parametrize(
    ("text", "cores"), [("0-3,8", (0, 1, 2, 3, 8)), ("", ()), (None, ()), ("5\n", (5,)), ("0-1,4-5", (0, 1, 4, 5))]
)
def test_cpu_lists(text, cores):
    assert parse_cpu_list(text) == cores
    assert parse_cpu_list(format_cpu_list(cores)) == cores
