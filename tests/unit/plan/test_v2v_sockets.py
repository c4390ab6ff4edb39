"""The plan of sockets between virtual machines: which cells there are, what is run in each, and for how long."""

from types import SimpleNamespace

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.plan.plan import expand
from nfvbed.records import Status, VnfKind
from nfvbed.run.kinds.sockets import _no_such_ends, between_sockets
from nfvbed.spec.testkinds.sockets import RequestResponseTest
from nfvbed.vnfs.guest.machines import path_guests
from tests.unit.vnfs.sockets.test_guest_hosts import deployment

KINDS = ("tcp-throughput", "request-response", "socket-latency")


@pytest.mark.parametrize("quick", [False, True])
def test_both_data_planes_have_two_guests_as_ends_and_every_kind_of_test(quick):
    study = open_project().load_study("v2v-sockets", {"quick": quick})
    plan = expand(study.experiment, study.variants, study.choices)
    cells = {cell.variant: cell for cell in plan.cells}
    assert set(cells) == {"linux-bridge", "ovs-dpdk"}
    for cell in cells.values():
        assert cell.topology == "v2v" and not cell.takes_loads
        choice = plan.choice(cell.deployment)
        assert choice is not None and choice.kind is VnfKind.VM
    assert {test.kind for test in study.experiment.tests} == set(KINDS)


def test_testpmd_is_no_end_of_guests():
    asked = RequestResponseTest(kind="request-response", ends="testpmd")
    guests = path_guests(deployment())
    assert "virtual machines" in _no_such_ends(asked, guests)
    assert _no_such_ends(RequestResponseTest(kind="request-response"), guests) == ""
    assert _no_such_ends(asked, None) == ""
    outcome = between_sockets(asking(deployment()), asked, lambda tools: [])
    assert (outcome.status, outcome.payload) == (Status.NOT_APPLICABLE, None)


def asking(found):
    """A test of a deployment on a site that reaches its guests as the lab does."""
    return SimpleNamespace(setup=SimpleNamespace(deployment=found, site=SimpleNamespace(path_guests=path_guests)))


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (deployment("pvpv"), "no cable of pvpv joins two guests"),
        (deployment("pvvp", kind=VnfKind.PROCESS), "hosts would be in virtual machines: its VNFs are of kind process"),
    ],
)
def test_guests_that_are_not_there_or_not_joined_are_no_hosts(found, reason):
    asked = RequestResponseTest(kind="request-response", ends="guests")
    outcome = between_sockets(asking(found), asked, lambda tools: [])
    assert outcome.status is Status.NOT_APPLICABLE and reason in outcome.reason
