"""Virtual machines between a switch's ports: every frame comes through, and is counted in the guest. As root."""

import os

import pytest
from lab_host import MARK, assert_back_to, snapshot
from vm_guests import PROJECT, choice

from nfvbed.deploy.sites import open_site
from nfvbed.errors import UnsupportedError
from nfvbed.onboard.site import OnboardingSite
from nfvbed.records import Accelerator, Role
from nfvbed.spec.flavor import Flavor
from nfvbed.traffic.generator import TrafficRequest

pytestmark = pytest.mark.usefixtures("vloop_image")

FRAMES = 200
REQUEST = TrafficRequest(duration_ns=2_000_000_000, frame_size=64, rate_pps=200, frames=FRAMES, learning_frames=0)


@pytest.fixture(name="site")
def _site(monkeypatch):
    mark = f"vm-{os.getpid()}"
    monkeypatch.setenv(MARK, mark)
    lab = open_site(PROJECT.load_site("lab"), PROJECT.root)
    opened = OnboardingSite(lab, PROJECT.root)
    opened.begin()
    before = snapshot(mark)
    try:
        yield opened
        assert_back_to(before, mark)
    finally:
        opened.close()


@pytest.mark.parametrize(
    ("variant", "forwarding", "flavor"),
    [("ovs-dpdk", "io", "hugepages"), ("linux-bridge", "io", "default"), ("linux-bridge", "bridge", "default")],
)
def test_every_frame_passes_the_guest_and_is_counted_there(site, variant, forwarding, flavor):
    loaded = PROJECT.load_variant(variant)
    deployment = site.deploy(loaded, "pvp", vnf=choice(forwarding, flavor=flavor))
    (handle,) = deployment.vnfs
    assert handle.accelerator in (Accelerator.KVM, Accelerator.TCG)
    assert {"qemu", "image", "guest", "guest-kernel"} <= set(handle.versions)
    steps = [step for step, _ in deployment.steps]
    assert steps.index("onboard.vnf1.boot") < steps.index("onboard.vnf1.forward") < steps.index("onboard.first-frame")
    generator = site.open_generator(deployment)
    before = {hop.name: hop for hop in site.hops(deployment)}
    result = generator.run(REQUEST)
    after = {hop.name: hop for hop in site.hops(deployment)}
    site.verify(deployment)
    sent = [direction.sent for direction in result.directions]
    assert all(direction.received == direction.sent > 0 for direction in result.directions)
    for port, direction in ((0, 0), (1, 1)):
        name = f"vnf1 port {port}"
        entered = after[name].rx_packets - before[name].rx_packets
        left = after[name].tx_packets - before[name].tx_packets
        assert entered >= sent[direction]
        assert left >= sent[1 - direction]
    roles = [thread.role for thread in site.work_threads(deployment)]
    assert roles.count(Role.VNF) == 3, "two vCPUs and QEMU's main thread"
    generator.close()
    site.destroy(deployment)


def test_flavor_that_the_host_cannot_give_is_refused_and_leaves_nothing(site):
    flavor = Flavor(name="huge", title="Huge", vcpus=64, memory_mib=512, cpu_policy="dedicated")
    if len(os.sched_getaffinity(0)) > 66:
        pytest.fail("this host has cores for 64 vCPUs: the test needs a larger flavor")
    with pytest.raises(UnsupportedError, match="64 cores of its own") as caught:
        site.deploy(PROJECT.load_variant("linux-bridge"), "pvp", vnf=choice(flavor=flavor))
    assert "cpu_policy: shared" in caught.value.fix
