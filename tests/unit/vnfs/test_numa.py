"""Guests on synthesised topologies: one, two and four nodes, threads on and off, the NIC on the far node."""

import pytest

from nfvbed.errors import PrerequisiteError, UnsupportedError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.cores.topology import CpuTopology
from nfvbed.spec.flavor import Flavor, NumaNodeSpec
from nfvbed.vnfs.numa import Host, place_guest


def topology(nodes, cores, threads):
    """Number CPUs as Linux does: first threads of all cores, node by node, then the second threads."""
    total = nodes * cores
    siblings = tuple(tuple(core + thread * total for thread in range(threads)) for core in range(total))
    placed = tuple(
        tuple(cpu for core in range(node * cores, (node + 1) * cores) for cpu in siblings[core])
        for node in range(nodes)
    )
    return CpuTopology(
        allowed=tuple(range(total * threads)), nodes=tuple(tuple(sorted(n)) for n in placed), siblings=siblings
    )


def host(nodes=1, cores=8, threads=1, *, switch=(0,), generator=1, control=(2,), **more):
    arrangement = Arrangement(switch_cores=switch, generator_core=generator, control_cores=control)
    return Host(topology(nodes, cores, threads), arrangement, **more)


def flavor(**keys):
    return Flavor(name="test", title="Test", **keys)


def pinned(seat):
    assert all(len(cores) == 1 for cores in seat.vcpu_cores)
    return [cores[0] for cores in seat.vcpu_cores]


def test_shared_vcpus_float_over_the_shared_cores():
    seat = place_guest(flavor(vcpus=2), host(), (1,))
    assert seat.vcpu_cores == ((1,), (1,))
    assert seat.nodes[0].host_node is None


def test_dedicated_vcpus_keep_off_switch_generator_and_control():
    cores = pinned(place_guest(flavor(vcpus=4, cpu_policy="dedicated"), host(), (1,)))
    assert sorted(cores) == [3, 4, 5, 6]


def test_two_cores_are_too_few_for_dedicated_vcpus():
    with pytest.raises(UnsupportedError, match="2 cores of its own") as failure:
        place_guest(flavor(vcpus=2, cpu_policy="dedicated"), host(cores=2, control=(1,)), (1,))
    assert "shared" in failure.value.fix


@pytest.mark.parametrize("policy", ["prefer", "require", None])
def test_vcpus_come_in_pairs_of_threads(policy):
    cores = pinned(place_guest(flavor(vcpus=2, cpu_policy="dedicated", thread_policy=policy), host(threads=2), (1,)))
    assert cores[1] - cores[0] == 8


def test_require_refuses_a_host_without_threads():
    with pytest.raises(UnsupportedError, match="thread policy require|cores of its own"):
        place_guest(flavor(vcpus=2, cpu_policy="dedicated", thread_policy="require"), host(threads=1), (1,))


def test_isolate_takes_one_thread_a_core_and_none_beside_the_switch():
    seat = place_guest(flavor(vcpus=3, cpu_policy="dedicated", thread_policy="isolate"), host(threads=2), (1,))
    cores = pinned(seat)
    assert len({core % 8 for core in cores}) == 3
    assert not {core % 8 for core in cores} & {0, 1}


def test_emulator_threads_get_a_core_of_their_own():
    wanted = flavor(vcpus=2, cpu_policy="dedicated", emulator_threads="isolate")
    seat = place_guest(wanted, host(), (1,))
    assert len(seat.emulator_cores) == 1
    assert seat.emulator_cores[0] not in {*pinned(seat), 0, 1}


def test_emulator_core_that_is_not_left_is_reported():
    wanted = flavor(vcpus=2, cpu_policy="dedicated", emulator_threads="isolate")
    with pytest.raises(UnsupportedError, match="emulator"):
        place_guest(wanted, host(cores=5), (1,))


@pytest.mark.parametrize("nodes", [2, 4])
def test_guest_is_on_the_switchs_node(nodes):
    found = place_guest(flavor(vcpus=2, cpu_policy="dedicated"), host(nodes, 4, switch=(4,), generator=5), (1,))
    assert found.nodes[0].host_node == 1
    assert set(pinned(found)) <= {6, 7}


def two_nodes():
    return flavor(
        vcpus=4,
        memory_mib=2048,
        cpu_policy="dedicated",
        hugepages=True,
        numa=(NumaNodeSpec(cpus=(0, 1), memory_mib=1024), NumaNodeSpec(cpus=(2, 3), memory_mib=1024)),
    )


def test_guest_nodes_lie_on_host_nodes():
    found = place_guest(two_nodes(), host(2, 6), (1,))
    assert [node.host_node for node in found.nodes] == [0, 1]
    assert {core // 6 for core in pinned(found)[:2]} == {0}
    assert {core // 6 for core in pinned(found)[2:]} == {1}


def test_one_node_cannot_hold_a_guest_of_two():
    with pytest.raises(UnsupportedError, match="2 NUMA nodes"):
        place_guest(two_nodes(), host(1, 12), (1,))


def test_host_node_that_is_not_there_is_named():
    wanted = flavor(vcpus=1, memory_mib=256, numa=(NumaNodeSpec(cpus=(0,), memory_mib=256, host_node=3),))
    with pytest.raises(UnsupportedError, match="host node 3"):
        place_guest(wanted, host(2, 4), (1,))


def test_hugepages_are_counted_by_node():
    with pytest.raises(PrerequisiteError, match="node 1") as failure:
        place_guest(two_nodes(), host(2, 6, free_hugepages_mib={0: 4096, 1: 512}), (1,))
    assert failure.value.observed.startswith("512 MiB")
    place_guest(two_nodes(), host(2, 6, free_hugepages_mib={0: 1024, 1: 1024}), (1,))


def test_cores_of_other_guests_are_left_alone():
    cores = pinned(place_guest(flavor(vcpus=2, cpu_policy="dedicated"), host(taken=frozenset({3, 4})), (1,)))
    assert sorted(cores) == [5, 6]
