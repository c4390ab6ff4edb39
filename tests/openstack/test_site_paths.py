"""Paths of the site that the short tier leaves out: chains of two on each data plane that has them, and macvtap."""

import json

import pytest

from tests.functional.brought_vpp import with_vpp
from tests.openstack.cloud_driver import verb
from tests.openstack.test_site import VNF, ok

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(1800), pytest.mark.usefixtures("nothing_onboarded")]


def measured(store, *words):
    """Run the experiment, so that every frame of its load has to arrive; return its cells and trials by variant."""
    ok("run", "openstack", "--store", str(store), "--no-doctor", *words)
    run = json.loads(ok("export", "latest", "--store", str(store), "--format", "json"))
    assert {cell["status"] for cell in run["cells"]} == {"ok"}, run["cells"]
    trials = {cell["variant"]: [t for t in run["trials"] if t["cell"] == cell["id"]] for cell in run["cells"]}
    for variant, listed in trials.items():
        passed = [trial for trial in listed if trial["status"] == "ok"]
        assert passed, variant
        for trial in passed:
            print(variant, [(one["sent"], one["received"]) for one in trial["directions"]])
            assert all(one["sent"] > 0 for one in trial["directions"])
            assert all(one["corrupted"] == one["duplicated"] == 0 for one in trial["directions"])
        assert any(one["received"] == one["sent"] for trial in passed for one in trial["directions"])
    return trials


@pytest.mark.parametrize("variant", ["linux-bridge", "ovs-dpdk", "ovs-afxdp", pytest.param("vpp", marks=with_vpp)])
def test_a_chain_of_two_vnfs_is_measured(tmp_path, variant):
    words = ("--topology", "pvvp", "--variant", variant, "--set", f"baseline={variant}")
    assert set(measured(tmp_path / "results.sqlite", *words)) == {variant}


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
    words = ("--variant", "macvtap", "--set", "baseline=macvtap")
    assert set(measured(tmp_path / "results.sqlite", *words)) == {"macvtap"}


def test_a_chain_on_macvtap_is_refused():
    refused = verb("onboard", "vloop", "--variant", "macvtap", "--site", "devcloud", "--topology", "pvvp", *VNF)
    assert refused.returncode == 11, refused.stderr
    assert "no way to the next VNF" in refused.stderr
