"""What is an order of VNFs, and what is none."""

import pytest

from nfvbed.errors import UsageError
from nfvbed.records.chain import order_of

RUNNING = ("vnf1", "vnf2", "vnf3")


def test_names_become_numbers():
    assert order_of(("vnf3", "vnf1", "vnf2"), RUNNING) == (2, 0, 1)
    assert order_of(RUNNING, RUNNING) == (0, 1, 2)


@pytest.mark.parametrize(
    ("names", "observed"),
    [
        (("vnf1", "vnf2"), "vnf3 is missing"),
        (("vnf1", "vnf2", "vnf9"), "vnf9 is not running; vnf3 is missing"),
        (("vnf1", "vnf2", "vnf2"), "vnf2 is named 2 times; vnf3 is missing"),
        (("vnf1", "vnf2", "vnf3", "vnf1"), "vnf1 is named 2 times"),
        ((), "vnf1 is missing; vnf2 is missing; vnf3 is missing"),
        (("", "vnf2", " vnf3"), " is not running;  vnf3 is not running; vnf1 is missing; vnf3 is missing"),
    ],
)
def test_what_is_wrong_with_an_order_is_said_at_once(names, observed):
    with pytest.raises(UsageError) as refused:
        order_of(names, RUNNING)
    assert refused.value.observed == observed
    assert "vnf1, vnf2, vnf3" in refused.value.fix
    assert refused.value.where
