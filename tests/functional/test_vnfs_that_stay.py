"""VNFs of a deployment that stays are healed, offboarded and scaled; the switch is a real one. As root."""

import os
import signal

import pytest

from nfvbed.errors import UnsupportedError
from nfvbed.measure.trace import run_trace
from tests.functional.declared import PROJECT, vnf
from tests.functional.disturbed import retried, wait_until

BRIDGE = PROJECT.load_variant("linux-bridge")


@pytest.fixture(name="site")
def _site(lab_with_vnfs):
    yield lab_with_vnfs
    lab_with_vnfs.destroy(lab_with_vnfs.find_deployed().deployment)
    lab_with_vnfs.take_down()


def onboard(site, forwarding, topology="pvp"):
    deployment, _ = site.onboard(BRIDGE, topology, vnf(forwarding), print)
    return deployment


def assert_frames_come_through(site, topology, forwarding):
    """Send as `nfvbed trace` does, which takes what is deployed as it is."""
    deployment = site.deploy(BRIDGE, topology, vnf=vnf(forwarding))
    generator = site.open_generator(deployment)
    try:
        assert retried(lambda: run_trace(site, deployment, generator, 64, 200), lambda report: report.complete).complete
    finally:
        generator.close()
        site.destroy(deployment)


@pytest.mark.parametrize(("forwarding", "others"), [("raw", ("bridge", "raw")), ("xdp", ()), ("io", ("io",))])
def test_a_killed_vnf_is_healed_and_the_switch_runs_on_without_it_and_takes_others(site, forwarding, others):
    deployment = onboard(site, forwarding)
    killed = deployment.vnfs[0].pids[0]
    assert site.dead_vnfs(deployment) == ()
    assert site.heal(deployment).vnfs[0].pids == (killed,), "what lives is left alone"
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: site.dead_vnfs(deployment))
    assert site.dead_vnfs(deployment) == ("vnf1",)
    healed = site.heal(deployment)
    assert healed.vnfs[0].pids != (killed,)
    assert site.dead_vnfs(deployment) == ()
    assert_frames_come_through(site, "pvp", forwarding)
    for other in others:
        left = site.offboard(site.find_deployed().deployment)
        found = site.find_deployed()
        assert (left.id, left.vnfs, found.deployment, found.vnf) == (deployment.id, (), left, None)
        again = onboard(site, other)
        assert again.id == deployment.id, "the data plane was not set up again"
        assert [handle.forwarding for handle in again.vnfs] == [other]
        assert_frames_come_through(site, "pvp", other)


@pytest.mark.no_hugepages
def test_vnfs_side_by_side_become_more_and_fewer(site):
    deployment = onboard(site, "raw")
    assert "would be set up again as pvpv" in site.foresee_scale(deployment, 2)
    scaled = site.scale(deployment, 2)
    assert (scaled.topology, len(scaled.vnfs)) == ("pvpv", 2)
    assert_frames_come_through(site, "pvpv", "raw")
    assert site.scale(scaled, 2).id == scaled.id
    assert site.scale(scaled, 1).topology == "pvp"


@pytest.mark.no_hugepages
def test_a_chain_is_not_scaled(site):
    deployment = onboard(site, "raw", "pvvp")
    with pytest.raises(UnsupportedError, match="cannot be scaled") as refused:
        site.scale(deployment, 3)
    assert "every frame passes all of them" in refused.value.observed
    assert site.find_deployed() is not None
