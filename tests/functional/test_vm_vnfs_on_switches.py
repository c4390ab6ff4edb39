"""Virtual machines between a switch's ports: every frame comes through, and is counted in the guest. As root."""

import os
import signal
from pathlib import Path

import pytest

from nfvbed.errors import UnsupportedError, VnfDiedError
from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside
from nfvbed.records import Accelerator, Role
from nfvbed.records.readings import Part
from nfvbed.spec.flavor import Flavor
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.disturbed import PATIENCE_S, pass_all
from tests.functional.vm_guests import PROJECT, choice, offered

pytestmark = pytest.mark.usefixtures("vloop_image")

FRAMES = 200
REQUEST = TrafficRequest(duration_ns=2_000_000_000, frame_size=64, rate_pps=200, frames=FRAMES, learning_frames=0)


@pytest.fixture(name="site")
def _site(lab_with_vnfs):
    return lab_with_vnfs


def assert_memory_is_shared_pages_and_an_abort_is_named(site, deployment):
    """Have QEMU abort, as by a fault of its own: it is reported with its signal and the last lines of its log."""
    (handle,) = deployment.vnfs
    maps = [line for line in Path(f"/proc/{handle.pids[0]}/maps").read_text().splitlines() if "hugepages-" in line]
    assert maps and all(line.split()[1].endswith("s") for line in maps), "on the workspace's hugepages, shared"
    os.kill(handle.pids[0], signal.SIGABRT)
    site.host_view(deployment).workspace.process("vnf1").wait(PATIENCE_S)
    with pytest.raises(VnfDiedError) as caught:
        site.verify(deployment)
    assert "has died (signal 6, SIGABRT)" in caught.value.what
    assert "a fault of QEMU itself" in caught.value.fix
    assert "vloop: ready" in caught.value.observed, "the last lines of its log"


@pytest.mark.no_hugepages
@pytest.mark.parametrize(
    ("variant", "forwarding", "flavor", "offloads"),
    [
        ("ovs-dpdk", "io", "hugepages", True),
        pytest.param("ovs-dpdk", "bridge", "default", False, marks=pytest.mark.slow),
        pytest.param("linux-bridge-virtio", "io", "default", True, marks=pytest.mark.slow),
    ],
)
def test_every_frame_passes_the_guest_and_is_counted_there(site, variant, forwarding, flavor, offloads):
    loaded = PROJECT.load_variant(variant)
    chosen = choice(forwarding, flavor=flavor).model_copy(update={"offloads": offloads})
    deployment = site.deploy(loaded, "pvp", vnf=chosen)
    (handle,) = deployment.vnfs
    assert ("VIRTIO_NET_F_GUEST_CSUM" in offered(handle)) is offloads
    assert ("VIRTIO_NET_F_GUEST_TSO4" in offered(handle)) is offloads
    if variant == "linux-bridge-virtio":
        switch = deployment.control["switch_netns"]
        # testpmd's driver in the guest takes no frame without its checksum, and QEMU tells the tap so.
        states = inside(switch, lambda: [links.has_feature(port, links.CHECKSUM) for port in ("s0", "v1a")])
        assert states == [True, False]
    assert handle.accelerator in (Accelerator.KVM, Accelerator.TCG)
    assert {"qemu", "image", "guest", "guest-kernel"} <= set(handle.versions)
    steps = [step for step, _ in deployment.steps]
    assert steps.index("onboard.vnf1.boot") < steps.index("onboard.vnf1.forward") < steps.index("onboard.first-frame")
    generator = site.open_generator(deployment)
    passage = pass_all(generator, REQUEST, lambda: {hop.name: hop for hop in site.look(deployment, Part.HOPS).hops})
    site.verify(deployment)
    for port in (0, 1):
        first, last = (hops[f"vnf1 port {port}"] for hops in (passage.before, passage.after))
        assert last.rx_packets - first.rx_packets >= passage.sent[port]
        assert last.tx_packets - first.tx_packets >= passage.sent[1 - port]
    roles = [thread.role for thread in site.look(deployment, Part.THREADS).threads]
    assert roles.count(Role.VNF) == 3, "two vCPUs and QEMU's main thread"
    generator.close()
    if flavor == "hugepages":
        assert_memory_is_shared_pages_and_an_abort_is_named(site, deployment)
    site.destroy(deployment)


def test_flavor_that_the_host_cannot_give_is_refused_and_leaves_nothing(site):
    flavor = Flavor(name="huge", title="Huge", vcpus=64, memory_mib=512, cpu_policy="dedicated")
    if len(os.sched_getaffinity(0)) > 66:
        pytest.fail("this host has cores for 64 vCPUs: the test needs a larger flavor")
    with pytest.raises(UnsupportedError, match="64 cores of its own") as caught:
        site.deploy(PROJECT.load_variant("linux-bridge"), "pvp", vnf=choice(flavor=flavor))
    assert "cpu_policy: shared" in caught.value.fix
