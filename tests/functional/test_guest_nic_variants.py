"""Variants that differ in the NIC of their guests: frames through each, and what QEMU and the guest have. As root.

`linux-bridge-virtio` is in test_vm_vnfs_on_switches.py.
"""

from pathlib import Path

import pytest

from nfvbed.errors import UnsupportedError
from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside
from nfvbed.records import Accelerator, PortKind, VnfKind
from nfvbed.records.readings import Part
from nfvbed.traffic.generator import TrafficRequest
from nfvbed.vnfs.vm.agent import Agent, SerialPort
from tests.functional.disturbed import pass_all
from tests.functional.vm_guests import PROJECT, choice, offered

pytestmark = [pytest.mark.usefixtures("vloop_image"), pytest.mark.no_hugepages]

QUEUES = 2
"""Queues of virtio-net; an emulated NIC has one, whatever the flavor says."""
REQUEST = TrafficRequest(duration_ns=2_000_000_000, frame_size=64, rate_pps=200, frames=200, learning_frames=0)


@pytest.fixture(name="site")
def _site(lab_with_vnfs):
    return lab_with_vnfs


def nics(handle):
    """What the guest says of its NICs, in the order of the path."""
    ports = {port["mac"]: port for port in Agent(SerialPort(Path(handle.control["agent"]))).ask("links")["ports"]}
    return [ports[port.mac] for port in handle.ports]


@pytest.mark.parametrize(
    ("name", "driver", "forwarding"),
    [
        pytest.param("linux-bridge-no-offloads", "virtio-pci", "bridge", marks=pytest.mark.slow),
        ("emulated-nic", "e1000", "bridge"),
        pytest.param("emulated-nic-rtl8139", "8139cp", "bridge", marks=pytest.mark.slow),
        ("macvtap", "virtio-pci", "router"),
    ],
)
def test_every_frame_passes_the_guests_nic(site, name, driver, forwarding):
    variant = PROJECT.load_variant(name)
    flavor = PROJECT.load_flavor("default").model_copy(update={"queues": QUEUES})
    deployment = site.deploy(variant, "pvp", vnf=choice(forwarding, flavor=flavor))
    (handle,) = deployment.vnfs
    found = nics(handle)
    assert [nic["driver"] for nic in found] == [driver, driver]
    assert all(nic["up"] for nic in found)
    assert handle.facts["vhost"] is False
    if driver == "virtio-pci":
        assert [nic["channels"] for nic in found] == [QUEUES, QUEUES]
        assert ("VIRTIO_NET_F_CSUM" in offered(handle)) is variant.options.offloads
    if name == "linux-bridge-no-offloads":
        switch = deployment.control["switch_netns"]
        states = inside(switch, lambda: [links.has_feature(port, links.CHECKSUM) for port in ("s0", "v1a")])
        assert states == [variant.options.offloads] * 2
    kinds = {port.kind for port in handle.ports}
    assert kinds == {PortKind.MACVTAP if name == "macvtap" else PortKind.TAP}
    assert handle.accelerator in (Accelerator.KVM, Accelerator.TCG)
    generator = site.open_generator(deployment)
    passage = pass_all(generator, REQUEST, lambda: {hop.name: hop for hop in site.look(deployment, Part.HOPS).hops})
    generator.close()
    for port in (0, 1):
        first, last = (hops[f"vnf1 port {port}"] for hops in (passage.before, passage.after))
        assert last.rx_packets - first.rx_packets >= passage.sent[port]
        assert last.tx_packets - first.tx_packets >= passage.sent[1 - port]
    site.verify(deployment)
    site.destroy(deployment)


def test_a_process_has_no_nic(site):
    process = choice("bridge").model_copy(update={"kind": VnfKind.PROCESS})
    with pytest.raises(UnsupportedError, match="has no e1000 NIC"):
        site.deploy(PROJECT.load_variant("emulated-nic"), "pvp", vnf=process)
