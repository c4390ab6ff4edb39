"""Which sessions an experiment has: mirrored where a variant tracks connections, unless it says otherwise."""

import pytest

from nfvbed.dataplanes.catalogue import VariantModel, open_project
from nfvbed.errors import ConfigurationError
from nfvbed.plan.stored import stored_study
from nfvbed.records import Sessions
from nfvbed.run.visits import with_sessions

MIRRORED, UNREPLIED = Sessions.MIRRORED, Sessions.UNREPLIED


@pytest.mark.parametrize(
    ("variants", "asked", "sessions"),
    [
        (["linux-bridge", "ovs-dpdk"], None, UNREPLIED),
        (["ovs-dpdk", "ovs-overlay-geneve"], None, MIRRORED),
        (["ovs-overlay-geneve"], "unreplied", UNREPLIED),
        (["ovs-dpdk"], "mirrored", MIRRORED),
    ],
)
def test_a_variant_that_tracks_connections_decides_for_all_that_are_compared(variants, asked, sessions):
    overrides = {"variants": variants, "baseline": None, "topologies": ["p2p"], "vnfs": []}
    found = open_project().load_study("continuous", overrides | ({"traffic.sessions": asked} if asked else {}))
    assert found.experiment.traffic.sessions is sessions


def test_the_overlays_suite_has_mirrored_ones_where_the_generator_has_both_ends():
    traffic = open_project().load_study("overlay").experiment.traffic
    assert (traffic.sessions_in("p2p"), traffic.sessions_in("v2v"), traffic.sessions_in("p2v")) == (
        *(MIRRORED, UNREPLIED),
        UNREPLIED,
    )
    assert open_project().load_study("demo").experiment.traffic.sessions_in("p2p") is UNREPLIED


def test_a_vnf_that_swaps_five_tuples_makes_requests_of_replies():
    vnfs = [{"kind": "process", "forwarding": "5tswap"}]
    asked = {"variants": ["ovs-overlay-geneve"], "baseline": None, "topologies": ["pvp"], "vnfs": vnfs}
    with pytest.raises(ConfigurationError, match="do not come back as replies") as caught:
        open_project().load_study("continuous", asked)
    assert "5tswap" in caught.value.observed
    found = open_project().load_study("continuous", asked | {"traffic.sessions": "unreplied"})
    assert found.experiment.traffic.sessions is UNREPLIED


def test_a_stored_run_from_before_there_was_a_choice_goes_on_as_it_began():
    asked = {"variants": ["ovs-overlay-geneve"], "baseline": None, "topologies": ["p2p"], "vnfs": []}
    found = open_project().load_study("continuous", asked)
    plan = {
        "experiment": found.experiment.model_dump(mode="json"),
        "variants": [variant.model_dump(mode="json") for variant in found.variants],
        "site": found.site.model_dump(mode="json"),
        "runnable": [],
    }
    assert stored_study(plan, VariantModel)[0].experiment.traffic.sessions is MIRRORED
    del plan["experiment"]["traffic"]["sessions"]
    assert stored_study(plan, VariantModel)[0].experiment.traffic.sessions is UNREPLIED


def test_the_rig_says_which_form_and_keeps_the_hash_that_it_had():
    rig = {"site": "lab"}
    assert with_sessions(rig, UNREPLIED) == rig
    assert with_sessions(rig, MIRRORED) == {"site": "lab", "sessions": "mirrored"}
