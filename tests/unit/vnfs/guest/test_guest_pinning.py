"""What cores and nodes amount to: pinned, free, or neither; and where flavors put vCPUs that share cores."""

import pytest

from nfvbed.errors import UnsupportedError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.cores.topology import CpuTopology
from nfvbed.spec.flavor import Flavor, NumaNodeSpec
from nfvbed.vnfs.guest.pinning import judge
from nfvbed.vnfs.numa import Host, place_guest

TWO = CpuTopology(allowed=(0, 1, 2, 3, 4, 5), nodes=((0, 1, 2), (3, 4, 5)))
ONE = CpuTopology(allowed=(0, 1), nodes=((0, 1),))


@pytest.mark.parametrize(
    ("cores", "memory", "state"),
    [
        (((1,), (2,)), (0,), "on"),
        (((0, 1, 2), (0, 1, 2)), (0,), "on"),
        (((1,), (4,)), (0, 1), "on"),
        (((1,), (4,)), (0,), "partly"),
        (((0, 1, 2, 3, 4, 5),) * 2, None, "off"),
        (((0, 1, 2, 3, 4, 5),) * 2, (0,), "partly"),
        (((1,), (1,)), None, "partly"),
    ],
)
def test_state_is_what_threads_and_memory_show(cores, memory, state):
    assert judge(cores, memory, TWO).state == state


def test_free_on_isolated_cores_is_not_asked_of_a_guest():
    isolated = CpuTopology(allowed=(0, 1, 2, 3), isolated=(2, 3), nodes=((0, 1, 2, 3),))
    assert judge(((0, 1),), None, isolated).state == "off"


def test_one_node_is_reported():
    pinning = judge(((0, 1),) * 2, (0,), ONE)
    assert (pinning.state, pinning.host_nodes) == ("on", 1)
    assert pinning.described == "vCPUs on core 0, 1; memory bound to node 0"


def host(topology, switch=(0,), generator=1, **more):
    return Host(topology, Arrangement(switch_cores=switch, generator_core=generator, control_cores=(2,)), **more)


BOUND = Flavor(
    name="bound",
    title="Bound",
    vcpus=2,
    memory_mib=512,
    shared_over="node",
    numa=(NumaNodeSpec(cpus=(0, 1), memory_mib=512),),
)
FREE = Flavor(name="free", title="Free", vcpus=2, memory_mib=512, shared_over="host")


def test_bound_vcpus_keep_to_the_node_and_off_switch_and_generator():
    placed = place_guest(BOUND, host(TWO), (1,))
    assert placed.vcpu_cores == ((2,), (2,))
    assert placed.nodes[0].host_node == 0


def test_bound_vcpus_have_the_whole_node_where_nothing_else_is_left():
    assert place_guest(BOUND, host(ONE), (1,)).vcpu_cores == ((0, 1), (0, 1))


def test_free_vcpus_have_all_cores_and_memory_no_node():
    placed = place_guest(FREE, host(TWO), (1,))
    assert placed.vcpu_cores == ((0, 1, 2, 3, 4, 5),) * 2
    assert placed.nodes[0].host_node is None


def test_free_vcpus_leave_isolated_cores_alone():
    isolated = CpuTopology(allowed=(0, 1, 2, 3), isolated=(2, 3), nodes=((0, 1, 2, 3),))
    assert place_guest(FREE, host(isolated), (1,)).vcpu_cores == ((0, 1), (0, 1))


def test_node_without_cores_for_us_is_refused():
    far = BOUND.model_copy(update={"numa": (NumaNodeSpec(cpus=(0, 1), memory_mib=512, host_node=1),)})
    with pytest.raises(UnsupportedError, match="cores of host node 1"):
        place_guest(far, host(CpuTopology(allowed=(0, 1, 2), nodes=((0, 1, 2), (3, 4, 5)))), (1,))


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"shared_over": "node"}, "needs numa"),
        ({"shared_over": "host", "cpu_policy": "dedicated"}, "needs cpu_policy: shared"),
    ],
)
def test_flavors_that_contradict_themselves(keys, words):
    with pytest.raises(ValueError, match=words):
        Flavor(name="x", title="X", **keys)
