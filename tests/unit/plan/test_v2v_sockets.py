"""The plan of sockets between virtual machines: which cells there are, what is run in each, and for how long."""

from types import SimpleNamespace

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.plan.plan import expand
from nfvbed.records import Status, VnfKind
from nfvbed.run.kinds.sockets import _no_such_ends, between_sockets
from nfvbed.spec.testkinds.sockets import RequestResponseTest
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
    assert "virtual machines" in _no_such_ends(deployment(), asked)
    assert _no_such_ends(deployment(), RequestResponseTest(kind="request-response")) == ""
    assert _no_such_ends(deployment(kind=VnfKind.PROCESS), asked) == ""
    cell_test = SimpleNamespace(setup=SimpleNamespace(deployment=deployment(), site=None))
    outcome = between_sockets(cell_test, asked, lambda tools: [])
    assert (outcome.status, outcome.payload) == (Status.NOT_APPLICABLE, None)
