"""Masks and sets of cores come of the site's file."""

import pytest

from nfvbed.cloud.kolla.placement import Polling, place_with_polling, place_without_polling
from nfvbed.dataplanes.ovs.dpdk.kolla import held_mib
from nfvbed.dataplanes.ovs.instance import core_mask
from nfvbed.errors import ConfigurationError
from nfvbed.spec.rack import NumaSpec, RackHostSpec, RackNicSpec, cores_of


def host(*numa, nodes=(0,), offset=None) -> RackHostSpec:
    nics = [RackNicSpec(role="management", mac="52:54:00:00:00:01")]
    for place, node in enumerate(nodes):
        nics.append(RackNicSpec(role="dpdk", pci=f"0000:3b:00.{place}", network=f"n{place}", numa_node=node))
    keys = {"address": "10.0.0.1", "overlay_address": "10.1.0.1/24", "sibling_offset": offset}
    return RackHostSpec(roles=("compute",), nics=tuple(nics), numa=numa, **keys)


def numa(cores, isolated="", pages=8) -> NumaSpec:
    return NumaSpec(cores=cores, isolated=isolated, hugepages_1g=pages)


def options(pmd_cores=1, socket_memory_mib=256) -> Polling:
    return Polling(pmd_cores, socket_memory_mib)


def test_polling_threads_are_on_the_nics_node_and_not_where_kolla_has_them():
    place = place_with_polling("c", host(numa("0-7", "2-7"), numa("8-15", "10-15"), nodes=(1,)), options(pmd_cores=2))
    assert (place.polling, place.main) == ((10, 11), (8,))
    assert (core_mask(place.polling), core_mask(place.main)) == ("0xc00", "0x100")
    assert place.dedicated == (2, 3, 4, 5, 6, 7, 12, 13, 14, 15)
    assert place.shared == (0, 1, 9)


def test_every_node_with_a_nic_has_polling_threads():
    place = place_with_polling("c", host(numa("0-3", "1-3"), numa("4-7", "5-7"), nodes=(0, 1)), options(pmd_cores=1))
    assert place.polling == (1, 5)
    assert place.main == (0,)


def test_the_other_thread_of_a_polling_core_is_nobodys():
    both = "2-3,6-7"
    place = place_with_polling("c", host(numa("0-7", both), offset=4), options(pmd_cores=1))
    assert place.polling == (2,)
    assert place.dedicated == (3, 7)
    assert 6 not in (*place.dedicated, *place.shared)


def test_nobody_has_a_core_twice():
    for pmd_cores in (1, 2, 3):
        place = place_with_polling("c", host(numa("0-7,16-23", "2-7,18-23"), offset=16), options(pmd_cores=pmd_cores))
        of_guests = {*place.dedicated, *place.shared}
        assert not of_guests & {*place.polling, *place.main}
        assert not set(place.dedicated) & set(place.shared)


def test_memory_is_on_every_node_with_hugepages_in_whole_pages():
    place = place_with_polling("c", host(numa("0-3", "2-3"), numa("4-7"), numa("8-9", pages=0)), options())
    assert [(one.node, one.page_kib, one.count, one.memory_mib) for one in place.pages] == [
        (0, 1048576, 1, 1024),
        (1, 1048576, 1, 1024),
    ]


def test_small_pages_are_counted_too():
    node = NumaSpec(cores="0-3", isolated="2-3", hugepages_2m=512)
    (pages,) = place_with_polling("c", host(node), options(socket_memory_mib=257)).pages
    assert (pages.page_kib, pages.count, pages.memory_mib) == (2048, 129, 258)


def test_kernel_switches_leave_all_isolated_cores_to_guests():
    place = place_without_polling(host(numa("0-3", "2-3"), numa("4-7", "6-7")))
    assert (place.dedicated, place.shared, place.polling) == ((2, 3, 6, 7), (0, 1, 4, 5), ())


@pytest.mark.parametrize(
    ("of", "pmd_cores", "what", "where"),
    [
        (host(numa("0-3", "3")), 2, "too few isolated cores on NUMA node 0 for 2", "hosts.c.numa[0].isolated"),
        (host(numa("0-3", "0-3")), 1, "every core of c is isolated", "hosts.c.numa"),
        (host(numa("0-3", "2-3", pages=0)), 1, "too few hugepages on NUMA node 0", "hosts.c.numa[0]"),
        (host(numa("0-3", "1,3"), offset=2), 2, "too few isolated cores", "hosts.c.numa[0].isolated"),
    ],
)
def test_what_a_machine_lacks_is_named(of, pmd_cores, what, where):
    with pytest.raises(ConfigurationError) as refused:
        place_with_polling("c", of, options(pmd_cores=pmd_cores))
    assert what in refused.value.what
    assert refused.value.where == where
    assert refused.value.observed and refused.value.fix


@pytest.mark.parametrize("text", ["a", "1-", "-3", "3,2", "1,1", "0-2,2", "1;2"])
def test_lists_of_cores_are_read_strictly(text):
    with pytest.raises(ValueError, match="cores"):
        cores_of(text)


def test_lists_of_cores():
    assert cores_of("0-2,8") == (0, 1, 2, 8)
    assert cores_of("") == ()


def test_a_switch_without_hugepages_takes_none():
    assert place_with_polling("c", host(numa("0-3", "2-3", pages=0)), Polling(1)).pages == ()


def test_reserved_are_the_pages_that_the_switch_holds_and_not_those_that_it_asks_for():
    assert held_mib((1500,)) == 712 + 512
    assert held_mib((1500, 1450)) == held_mib(()), "guests' ports have the usual MTU"
    assert held_mib((9000,)) == held_mib((1500,)) + 2504
    node = NumaSpec(cores="0-3", isolated="1-3", hugepages_2m=2304)
    wanted = Polling(1, 256, held_mib)
    (pages,) = place_with_polling("c", host(node), wanted, (1500,)).pages
    assert (pages.page_kib, pages.count) == (2048, 612), "600 were held with 256 MiB asked"
    (most,) = place_with_polling("c", host(node), Polling(1, 2048, held_mib), (1500,)).pages
    assert most.count == 1024
    small = NumaSpec(cores="0-3", isolated="1-3", hugepages_2m=300)
    with pytest.raises(ConfigurationError, match="too few hugepages") as error:
        place_with_polling("c", host(small), wanted, (1500,))
    assert "reserve 1224 MiB" in error.value.fix
