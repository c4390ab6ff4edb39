"""Resolution of arrangements on synthesised topologies."""

import pytest

from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.host.cores.arrangement import resolve
from nfvbed.host.cores.topology import CpuTopology
from nfvbed.spec.site import ArrangementSpec

TWO_CORES = CpuTopology(allowed=(0, 1), nodes=((0, 1),), siblings=((0,), (1,)))
TWO_THREADS = CpuTopology(allowed=(0, 1), nodes=((0, 1),), siblings=((0, 1),))
ONE_CORE = CpuTopology(allowed=(3,), nodes=((0, 1, 2, 3),), siblings=((0,), (1,), (2,), (3,)))
LAPTOP = CpuTopology(allowed=tuple(range(8)), nodes=(tuple(range(8)),), siblings=((0, 1), (2, 3), (4, 5), (6, 7)))
"""Four cores, two threads each, neighbours in number."""
SERVER = CpuTopology(
    allowed=tuple(range(16)),
    isolated=(5, 6, 7, 13, 14, 15),
    nodes=((0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15)),
    siblings=tuple((core, core + 8) for core in range(8)),
)
"""Two sockets of four cores, two threads each, numbered by socket, then again for the second threads."""

AUTO = ArrangementSpec()


def test_two_cores_give_the_switch_the_first_and_everything_else_the_second():
    found = resolve(TWO_CORES, AUTO)
    assert (found.switch_cores, found.generator_core, found.control_cores) == ((0,), 1, (1,))
    assert not found.shares_physical_core


def test_two_threads_of_one_core_are_taken_and_the_result_says_so():
    found = resolve(TWO_THREADS, AUTO)
    assert (found.switch_cores, found.generator_core) == ((0,), 1)
    assert found.shares_physical_core


def test_threads_of_one_physical_core_are_not_shared_where_there_are_others():
    found = resolve(LAPTOP, AUTO)
    assert (found.switch_cores, found.generator_core) == ((0,), 2)
    assert found.control_cores == (4, 5, 6, 7)
    assert not found.shares_physical_core


def test_isolated_cores_of_one_node_come_first_and_control_stays_off_them():
    found = resolve(SERVER, AUTO, switch_cores=2)
    assert (found.switch_cores, found.generator_core) == ((5, 6), 7)
    assert set(found.control_cores) == {0, 1, 2, 3, 4, 8, 9, 10, 11, 12}


def test_the_switch_is_on_the_node_of_its_nics():
    found = resolve(SERVER, AUTO, near=0)
    assert {SERVER.node_of(core) for core in (*found.switch_cores, found.generator_core)} == {0}
    assert resolve(SERVER, AUTO, near=1) == resolve(SERVER, AUTO)
    beside = resolve(SERVER, ArrangementSpec(generator_core=6), near=0)
    assert SERVER.node_of(beside.switch_cores[0]) == 0
    named = resolve(SERVER, ArrangementSpec(switch_cores=(6,)), near=0)
    assert named.switch_cores == (6,)


def test_a_named_generator_core_decides_the_node():
    found = resolve(SERVER, ArrangementSpec(generator_core=2))
    assert SERVER.node_of(found.switch_cores[0]) == 0
    assert found.switch_cores[0] not in SERVER.siblings_of(2)


def test_named_switch_cores_are_taken_and_the_generator_is_put_near():
    found = resolve(SERVER, ArrangementSpec(switch_cores=(1,)))
    assert found.switch_cores == (1,)
    assert SERVER.node_of(found.generator_core) == 0
    assert found.generator_core not in SERVER.siblings_of(1)


def test_more_switch_cores_than_one_node_has_spread_over_two():
    found = resolve(SERVER, AUTO, switch_cores=6)
    assert len(set(found.switch_cores)) == 6
    assert found.generator_core not in found.switch_cores


def test_one_core_is_unsupported():
    with pytest.raises(UnsupportedError, match="a core each"):
        resolve(ONE_CORE, AUTO)


def test_too_many_pmd_cores_are_unsupported_with_the_largest_that_fits():
    with pytest.raises(UnsupportedError, match="at most 1"):
        resolve(TWO_CORES, AUTO, switch_cores=2)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (ArrangementSpec(switch_cores=(7,)), "core 7 cannot be used"),
        (ArrangementSpec(generator_core=9), "core 9 cannot be used"),
        (ArrangementSpec(switch_cores=(0,), generator_core=0), "core 0 is named twice"),
        (ArrangementSpec(switch_cores=(0, 0)), "core 0 is named twice"),
        (ArrangementSpec(switch_cores=()), "names 0"),
    ],
)
def test_bad_files_say_what_is_wrong(spec, words):
    with pytest.raises(ConfigurationError, match=words) as caught:
        resolve(TWO_CORES, spec)
    assert caught.value.where.startswith("arrangement.")


def test_fewer_named_cores_than_the_variant_wants():
    with pytest.raises(ConfigurationError, match="wants 2 switch cores and the site names 1"):
        resolve(SERVER, ArrangementSpec(switch_cores=(1,)), switch_cores=2)


def test_all_cores_named_for_the_switch_leave_none_for_the_generator():
    with pytest.raises(UnsupportedError):
        resolve(TWO_CORES, ArrangementSpec(switch_cores=(0, 1)), switch_cores=2)


def test_a_vnf_shares_the_generators_core_where_there_are_two():
    found = resolve(TWO_CORES, AUTO, vnfs=3)
    assert (found.switch_cores, found.generator_core, found.vnf_cores) == ((0,), 1, (1, 1, 1))
    assert found.control_cores == (1,)


def test_without_vnfs_nothing_changes():
    assert resolve(LAPTOP, AUTO).vnf_cores == ()
    assert resolve(LAPTOP, AUTO, vnfs=0) == resolve(LAPTOP, AUTO)


@pytest.mark.parametrize(
    ("vnfs", "cores"),
    [
        (1, (4,)),
        (2, (4, 6)),
        (3, (4, 6, 5)),
        (4, (4, 6, 5, 7)),
        (6, (4, 6, 5, 7, 3, 4)),
    ],
)
def test_vnfs_take_whole_cores_first_and_never_the_switchs_second_thread(vnfs, cores):
    found = resolve(LAPTOP, AUTO, vnfs=vnfs)
    assert (found.switch_cores, found.generator_core) == ((0,), 2)
    assert found.vnf_cores == cores


def test_control_stays_off_the_vnfs_where_there_is_a_choice():
    assert resolve(LAPTOP, AUTO, vnfs=1).control_cores == (6, 7)
    assert set(resolve(LAPTOP, AUTO, vnfs=2).control_cores).isdisjoint({0, 2, 4, 6})


def test_vnfs_stay_on_the_switchs_socket_isolated_cores_first():
    found = resolve(SERVER, AUTO, vnfs=8)
    assert (found.switch_cores, found.generator_core) == ((5,), 6)
    assert found.vnf_cores[0] == 7
    assert all(SERVER.node_of(core) == 1 for core in found.vnf_cores)
    assert not set(found.vnf_cores) & SERVER.siblings_of(5)
    assert set(found.control_cores) <= {0, 1, 2, 3, 4, 8, 9, 10, 11, 12}


def test_a_socket_without_a_free_core_leaves_vnfs_beside_the_generator():
    spec = ArrangementSpec(switch_cores=(4, 5, 6, 7), generator_core=0)
    found = resolve(SERVER, spec, switch_cores=4, vnfs=2)
    assert found.vnf_cores == (0, 0), "all that is free there are second threads of the switch's cores"


@pytest.mark.parametrize(
    ("topology", "queues", "more"),
    [(TWO_CORES, 4, ()), (LAPTOP, 1, ()), (LAPTOP, 2, (4,)), (LAPTOP, 16, (4,)), (SERVER, 3, (7, 4))],
)
def test_a_generator_of_several_queues_has_cores_that_nobody_else_has(topology, queues, more):
    """Whole ones, of the nodes in use first, and one is left for control."""
    found = resolve(topology, AUTO, generator_queues=queues)
    assert found.more_generator_cores == more
    assert not {*more} & {*found.switch_cores, found.generator_core, *found.control_cores}
    assert found.model_copy(update={"more_generator_cores": ()}).switch_cores == resolve(topology, AUTO).switch_cores
