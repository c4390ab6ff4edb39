"""A chain whose VNFs are in another order: numbers and ports stay, cables change."""

import pytest

from nfvbed.spec.layout import chains, each_of, layout


def names(plan):
    return [(cable.first.name, cable.second.name) for cable in plan.cables]


def test_cables_join_the_vnfs_in_the_order_given():
    plan = layout("pv3p").in_order((2, 0, 1))
    assert names(plan) == [("p0", "v3a"), ("v3b", "v1a"), ("v1b", "v2a"), ("v2b", "p1")]
    assert [end.name for end in plan.switch_ends] == ["p0", "v3a", "v3b", "v1a", "v1b", "v2a", "v2b", "p1"]
    assert (plan.name, plan.vnfs, plan.order) == ("pv3p", 3, (2, 0, 1))
    assert plan.ports_of(2) == (0, 1)


@pytest.mark.parametrize("topology", each_of(("p2p", "pvp", "pvvp", "pvNp", "pvpv", "v2v", "p2v", "v2p", "pcp")))
def test_no_order_is_the_order_of_the_numbers(topology):
    plan = layout(topology)
    assert plan.in_order(()) is plan
    assert plan.order == tuple(range(plan.vnfs))
    if topology in chains():
        assert plan.in_order(plan.order) == plan


@pytest.mark.parametrize(
    ("topology", "order"), [("pvpv", (1, 0)), ("v2v", (1, 0)), ("pvvp", (0,)), ("pvvp", (0, 0)), ("pvvp", (0, 1, 2))]
)
def test_what_is_no_order_is_refused(topology, order):
    with pytest.raises(ValueError, match=f"is no order of the VNFs of {topology}"):
        layout(topology).in_order(order)
