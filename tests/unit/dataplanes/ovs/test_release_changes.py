"""What stands beside a step from one Open vSwitch to another."""

import pytest

from nfvbed.dataplanes.catalogue import CATALOGUE
from nfvbed.dataplanes.ovs.releasechanges import CHANGES, changes_between
from nfvbed.spec.options import name_of


def test_changes_are_in_the_order_of_versions():
    assert [change.since for change in CHANGES] == sorted(change.since for change in CHANGES)


@pytest.mark.parametrize(
    ("before", "after", "since"),
    [
        ("2.15.0", "3.1.0", ["2.17", "2.17", "3.1"]),
        ("3.1.0", "3.5.0", ["3.2", "3.2", "3.5"]),
        ("3.5.0", "4.0.0", ["3.7", "4.0"]),
        ("4.0.0", "3.5.0", ["3.7", "4.0"]),
        ("3.1.0", "3.1.7", []),
        ("3.1.0", "", []),
    ],
)
def test_a_step_has_what_came_after_the_older_up_to_the_newer(before, after, since):
    assert [text.partition(":")[0] for text in changes_between(before, after)] == since


def test_planes_of_open_vswitch_say_it_of_what_a_deployment_recorded_and_others_say_nothing():
    versions = {"openvswitch": "3.1.0"}, {"openvswitch": "3.5.0"}
    found = {name_of(model) for model in CATALOGUE.options if model.changes_of(*versions)}
    assert {"ovs-dpdk", "ovs-afxdp", "ovs-kernel"} <= found and "linux-bridge" not in found
