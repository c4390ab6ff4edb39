"""One run measures the two data planes of the whole cloud, and deploys nothing again; `docs/howto/box.md` has it so.

Guests are emulated: frames are counted, and rates are not looked at.
"""

import pytest

from tests.kolla_box.boxrack import DEPLOYED_S

RUN = ("run", "pvp", "--topology", "pvp", "--frame-size", "64", "--purpose", "survey", "--repetitions", "2")
NOTHING_COMPARES = 40
pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(DEPLOYED_S)]


def test_frames_come_through_an_instance_of_each(deployed_box):
    said = deployed_box.nfvbed("verify", *deployed_box.at, timeout_s=DEPLOYED_S)
    for compute in ("compute1", "compute2"):
        assert compute in said


def test_one_run_measures_both_and_both_are_shown(deployed_box):
    deployed_box.nfvbed(*RUN, *deployed_box.at, timeout_s=DEPLOYED_S)
    deployed_box.frames_came_both_ways("ovs-dpdk", "ovs-afxdp")
    said = deployed_box.nfvbed("compare", "latest", status=NOTHING_COMPARES)
    assert "ovs-dpdk" in said and "ovs-afxdp" in said
