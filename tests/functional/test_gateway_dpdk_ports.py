"""The DPDK gateway on the ports that it is for: memif, and vhost-user from either side. nfvgen is the server."""

import pytest

from nfvbed.host.native import native_binary
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.measure.trial import wait_for_links
from nfvbed.records import GeneratorPort, PortKind
from nfvbed.spec.bearers import Bearer, BearerTable
from nfvbed.traffic.generator import Addressing, TrafficRequest
from nfvbed.traffic.nfvgen import NfvgenClient, NfvgenOptions
from nfvbed.vnfs.gateway.process import Gateway, GatewaySpec

pytestmark = pytest.mark.slow

FRAMES, UES = 1000, 100
MIB = 256
MEMIF = "socket={path}{at},socket-abstract=no,id=0,rsize=10"
PORTS = {
    "memif": (f"net_memif{{at}},role=server,{MEMIF}", f"net_memif{{at}},role=client,{MEMIF}"),
    "vhost-user": ("net_vhost{at},iface={path}{at},queues=1", "net_virtio_user{at},path={path}{at},queue_size=1024"),
    "virtio-user": (
        "net_virtio_user{at},path={path}{at},server=1,queue_size=1024",
        "net_vhost{at},iface={path}{at},queues=1,client=1",
    ),
}
"""The gateway's and the generator's."""
MACS = ("02:4e:46:47:00:00", "02:4e:46:47:00:07")
GATEWAY_MACS = ("02:4e:46:47:00:10", "02:4e:46:47:00:11")


@pytest.fixture(name="workspace")
def _workspace(before):
    workspace = Workspace.create()
    yield workspace
    workspace.close()


def bearers() -> BearerTable:
    """Return a bearer for each of the addresses that nfvgen counts up to."""
    made = tuple(
        Bearer(imsi=f"00101{number:010d}", ue=f"198.18.0.{number}", uplink_teid=number, downlink_teid=number)
        for number in range(1, UES + 1)
    )
    return BearerTable(enb="10.11.0.1", sgw="10.11.0.2", server="198.19.0.1", bearers=made)


def start_generator(workspace, ports):
    first, second = (GeneratorPort(engine="dpdk", spec=spec, kind=PortKind.MEMIF) for spec in ports)
    options = NfvgenOptions(
        binary=native_binary("nfvgen"),
        engine="dpdk",
        ports=(first, second),
        core=1,
        socket_path=workspace.directory / "nfvgen.sock",
        memory_mib=MIB,
        file_prefix="nfvgen",
        hugepage_dir=workspace.hugepages(MIB),
        destination_macs=GATEWAY_MACS,
    )
    return NfvgenClient(options, lambda argv: workspace.spawn("nfvgen", argv, cores=[1]))


@pytest.mark.parametrize("kind", PORTS)
def test_frames_to_ues_arrive_in_tunnels(workspace, kind):
    """All of them arrive; those of a bearer that was removed are counted."""
    own, other = (tuple(text.format(at=at, path=workspace.directory / "port") for at in (0, 1)) for text in PORTS[kind])
    spec = GatewaySpec(
        kind="dpdk",
        s1u=own[0],
        sgi=own[1],
        sgi_address="198.19.0.254",
        enb_mac=MACS[0],
        next_hop_mac=MACS[1],
        core=0,
        memory_mib=MIB,
        macs=GATEWAY_MACS,
    )
    gateway = Gateway(workspace, spec)
    gateway.start(bearers())
    generator = start_generator(workspace, other)
    try:
        wait_for_links(generator)
        result = generator.run(request())
        sent = result.directions[0].sent
        counts = gateway.client.counters()
        assert sent > 0
        # They come back as what the generator does not know: packets in tunnels.
        assert result.foreign == (sent, 0)
        assert counts.sgi.forwarded == counts.sgi.received == sent
        assert counts.s1u.received == 0
        gateway.client.remove(bearers().bearers[0].ue)
        lost = (
            generator.run(request()).directions[0].sent - gateway.client.counters().sgi.forwarded + counts.sgi.forwarded
        )
        assert lost == gateway.client.counters().sgi.unknown_ue > 0
    finally:
        generator.close()
        gateway.stop()


def request() -> TrafficRequest:
    return TrafficRequest(
        duration_ns=3_000_000_000,
        frame_size=64,
        rate_pps=10_000,
        frames=FRAMES,
        flows=UES,
        bidirectional=False,
        backward=True,
        learning_frames=0,
        addressing=Addressing(flow_address="destination", ipv4=("198.18.0.1", "198.19.0.1")),
    )
