"""The checksum trap at a gateway that reads frames: a server's datagram whose checksum was left to its port. As root.

nextepc's gateways, through which the same datagram arrives whole, are in `test_vepc_sockets.py`.
"""

import pytest

from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside
from nfvbed.records import Deployment, GeneratorPort, PortKind
from nfvbed.vnfs.epc.checksums import inside_tunnel
from nfvbed.vnfs.offload import REMEDY, ChecksumPath, incomplete_frame, probe_frame
from tests.functional.gateway_bed import MACS, SERVER, Bed, bearer, bed_of

pytestmark = pytest.mark.no_hugepages

TOWARDS_GATEWAY = ("n0", "b2")
"""The server's own port, and the bridge's that leads to the gateway."""


@pytest.mark.parametrize("offloads", [True, False], ids=["native", "offloads-off"])
def test_a_servers_datagram_is_broken_in_the_tunnel_unless_offloads_are_off(before, offloads):
    with bed_of(Bed) as bed:
        for name in TOWARDS_GATEWAY:
            inside(
                bed.netns, lambda name=name: links.set_features(name, dict.fromkeys(links.TRANSMIT_OFFLOADS, offloads))
            )
        gateway = bed.started()
        ports = tuple(
            GeneratorPort(engine="xdp", spec=name, kind=PortKind.VETH, netns=bed.netns) for name in ("e0", "n0")
        )
        deployment = Deployment(id="1", variant="bed", site="lab", topology="vepc", ports=ports)
        frame = incomplete_frame(MACS["n0"], MACS["u1"], (SERVER, str(bearer(1).ue)))
        report = probe_frame(deployment, (1, 0), frame, inside_tunnel)
        assert report.result is (ChecksumPath.BROKEN if offloads else ChecksumPath.COMPLETED), report.observed
        assert report.remedy == (REMEDY if offloads else "")
        gateway.stop()
