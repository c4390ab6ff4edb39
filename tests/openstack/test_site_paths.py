"""Paths of the site that the short tier leaves out: chains of two on each data plane that has them, and macvtap."""

import itertools
import json

import pytest

from tests.functional.brought_vpp import with_vpp
from tests.functional.disturbed import retried
from tests.openstack.cloud_driver import verb
from tests.openstack.test_site import VNF, ok

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(1800), pytest.mark.usefixtures("nothing_onboarded")]


def measured(folder, variant, *words):
    """Run the experiment until every frame of a direction arrives, which once does on a host without other work.

    Args:
        folder: where each attempt has a store of its own.
        variant: that is measured, alone.
        words: more of the command's.
    """
    stores = (folder / f"results-{number}.sqlite" for number in itertools.count())
    only = ("--variant", variant, "--set", f"baseline={variant}")
    trials = retried(lambda: trials_of(next(stores), variant, *only, *words), whole)
    assert whole(trials), trials


def trials_of(store, variant, *words):
    """Run the experiment; return the trials of its cell, of whose frames none is spoilt."""
    ok("run", "openstack", "--store", str(store), "--no-doctor", *words)
    run = json.loads(ok("export", "latest", "--store", str(store), "--format", "json"))
    assert [(cell["variant"], cell["status"]) for cell in run["cells"]] == [(variant, "ok")], run["cells"]
    trials = [trial["directions"] for trial in run["trials"] if trial["status"] == "ok"]
    print(variant, [[(one["sent"], one["received"]) for one in directions] for directions in trials])
    assert trials
    for directions in trials:
        assert all(0 < one["received"] <= one["sent"] for one in directions)
        assert all(one["corrupted"] == one["duplicated"] == 0 for one in directions)
    return trials


def whole(trials):
    """Whether all frames of some direction arrived."""
    return any(one["received"] == one["sent"] for directions in trials for one in directions)


@pytest.mark.parametrize("variant", ["linux-bridge", "ovs-dpdk", "ovs-afxdp", pytest.param("vpp", marks=with_vpp)])
def test_a_chain_of_two_vnfs_is_measured(tmp_path, variant):
    measured(tmp_path, variant, "--topology", "pvvp")


@pytest.mark.drives("vloop", ["macvtap"], ["legacy", "sol"])
@pytest.mark.parametrize("site", ["devcloud", "devcloud-sol"])
def test_macvtap_is_deployed_onboarded_traced_and_offboarded(site):
    # It has no path without a VNF: `deploy` onboards the one that `onboard` takes when nothing is said of it.
    ok("deploy", "macvtap", "--site", site)
    try:
        assert "was deployed already" in ok("onboard", "vloop", "--site", site)
        report = json.loads(ok("trace", "macvtap", "--site", site, "--json"))
        assert all(0 < one["received"] <= one["sent"] for one in report["directions"]), report
    finally:
        offboarded = verb("offboard", "--site", site)
    assert offboarded.returncode == 0, offboarded.stderr


def test_macvtap_is_measured(tmp_path):
    measured(tmp_path, "macvtap")


def test_a_chain_on_macvtap_is_refused():
    refused = verb("onboard", "vloop", "--variant", "macvtap", "--site", "devcloud", "--topology", "pvvp", *VNF)
    assert refused.returncode == 11, refused.stderr
    assert "no way to the next VNF" in refused.stderr
