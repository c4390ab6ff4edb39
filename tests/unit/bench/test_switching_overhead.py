"""The switching overhead compares pairs of one class, leaves disturbed ones out, and says when it flatters."""

import pytest
from switches import Trial, idle_ticks
from switching_overhead import classes_of

from nfvbed.records import CoreDistance


def trial(side, rate, distance=25.0, after=None, **other):
    values = {"loss_ratio": 0.0, "stolen_ratio": 0.02, "generator_busy_ratio": 0.9, "refused_ratio": 0.2} | other
    return Trial(side, rate, distance=CoreDistance(before=distance, after=after or distance), **values)


def pair(ovs, io, distance=25.0, **other):
    return trial("ovs-dpdk", ovs, distance, **other), trial("testpmd-io", io, distance, **other)


def test_pairs_of_each_class_with_the_bound_of_that_class():
    near, far = classes_of([pair(7, 10)] * 3 + [pair(9, 10, 150.0)] * 3)
    assert (near.placement, near.bound, near.ratios) == ("near", 0.65, [pytest.approx(0.7)] * 3)
    assert (far.placement, far.bound) == ("far", 0.90)
    assert near.reached
    assert far.interval.low == pytest.approx(0.9)


def test_pairs_that_moved_or_were_disturbed_are_left_out():
    moved = (trial("ovs-dpdk", 1, 25.0, 150.0), trial("testpmd-io", 1))
    between = (trial("ovs-dpdk", 1), trial("testpmd-io", 1, 150.0))
    disturbed = pair(1, 1, stolen_ratio=0.3)
    near, far = classes_of([pair(7, 10), pair(7, 10), moved, between, disturbed, pair(9, 10, 150.0)])
    assert len(near.ratios) == 2
    assert len(far.ratios) == 1
    assert far.interval is None
    assert not far.reached


def test_generator_that_is_busy_and_never_pushed_back_is_the_limit():
    limited = {"generator_busy_ratio": 0.99, "refused_ratio": 0.0}
    (only,) = classes_of([(trial("ovs-dpdk", 10), trial("testpmd-io", 11, **limited))] * 4)
    assert only.generator_limited == (False, True)


def test_idle_time_can_be_read():
    assert idle_ticks((0,))[0] > 0
