"""Fitting an experiment of another site to one that is an OpenStack: what is left out is said, what is named stays."""

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.plan.fitted import OnboardedPath, SiteState, fit_to_site
from nfvbed.spec.vnf import VnfUse

PROJECT = open_project()
RACK = {"site": "rack"}
ONBOARDED = OnboardedPath("ovs-dpdk", "pvp", VnfUse(kind="vm", forwarding="mac"))


def fitted(name="pvp", state=None, **given):
    overrides = {**RACK, **given}
    return fit_to_site(PROJECT.load_study(name, overrides), overrides, state or SiteState())


def test_the_lab_takes_an_experiment_as_it_is_written():
    assert fit_to_site(PROJECT.load_study("pvp"), {}, SiteState()) == ({}, ())


def test_an_experiment_knows_the_site_that_it_is_written_for():
    assert [PROJECT.own_site_of(name) for name in ("openstack", "pvp")] == ["devcloud", "lab"]


def test_a_simulated_one_is_not_touched():
    assert fitted("simulated") == ({}, ())


def test_variants_that_are_not_there_are_left_out_and_all_are_replaced_where_none_is():
    keys, notes = fitted(state=SiteState(("ovs-dpdk",)))
    assert keys["variants"] == ["ovs-dpdk"]
    assert notes[0] == "ovs-dpdk without linux-bridge: deployed there: ovs-dpdk"
    assert fitted(state=SiteState(("macvtap",)))[0]["variants"] == ["macvtap"]
    assert "variants" not in fitted(state=SiteState(("linux-bridge", "ovs-dpdk")))[0]


def test_those_that_are_there_side_by_side_are_all_measured():
    keys, notes = fitted(state=SiteState(("ovs-dpdk", "macvtap")))
    assert keys["variants"] == ["ovs-dpdk", "macvtap"]
    assert notes[0] == "ovs-dpdk, macvtap without linux-bridge: deployed there: ovs-dpdk, macvtap"


def test_what_is_onboarded_is_measured_alone():
    keys, notes = fitted(state=SiteState(("ovs-dpdk",), ONBOARDED))
    assert keys["topologies"] == ["pvp"]
    assert keys["vnfs"] == [{"kind": "vm", "forwarding": "mac"}]
    assert any(line.startswith("no pvvp: pvp is onboarded on site rack; nfvbed offboard --site rack") for line in notes)


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"variants": ("linux-bridge",)}, "variants"),
        ({"topologies": ("pvvp",)}, "topologies"),
        ({"vnfs": [{"kind": "process", "forwarding": "io"}]}, "vnfs"),
        ({"ceilings": True}, "ceilings"),
    ],
)
def test_what_the_command_line_names_stays(given, key):
    keys, _ = fitted(state=SiteState(("ovs-dpdk",), ONBOARDED), **given)
    assert key not in keys


def test_ceilings_stay_where_a_test_refers_to_them():
    keys, _ = fitted("throughput")
    assert "ceilings" not in keys
    assert fitted("pvp")[0]["ceilings"] is False


def test_the_fitted_experiment_passes_the_checks_of_its_file():
    keys, _ = fitted(state=SiteState(("ovs-dpdk",), ONBOARDED))
    study = PROJECT.load_study("pvp", {**RACK, **keys})
    assert [use.label for use in study.experiment.vnfs] == ["vm-mac"]
    assert study.experiment.baseline is None
