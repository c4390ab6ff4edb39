"""The checksum trap of a mobile core: the fate of a server's datagram whose checksum was left to hardware.

Uplink there is nothing to find: a UE's packets are in GTP-U when the first port sees them, and checksums inside a
tunnel are complete; the outer ones may be left out, as no gateway needs them. Downlink a server's stack leaves the
checksum of its packet to its port, and a gateway that reads frames puts the packet into the tunnel as it is.
"""

from nfvbed.errors import OnboardError
from nfvbed.records import Deployment
from nfvbed.records.state import VnfState
from nfvbed.spec.bearers import BearerTable
from nfvbed.units import GTPU_BYTES
from nfvbed.vnfs.offload import ChecksumPath, OffloadReport, incomplete_frame, judge, probe_frame

_NO_NOTE = bytes(10)
_SERVER_MAC = "02:4e:46:56:00:01"


def probe_downlink(deployment: Deployment, table: BearerTable) -> OffloadReport:
    """Send datagrams with incomplete checksums from the server's end, and look at them in GTP-U at the eNB's.

    The kernel sends them: the generator must not be open on the ports.

    Args:
        deployment: a deployment with kernel ports (veth) on both ends.
        table: bearers of the core, of which the first one is taken.

    Raises:
        OnboardError: the ports are others, or the core does not say where its port on SGi is.
    """
    macs = VnfState.of(deployment.vnfs[0]).destination_macs
    if not macs:
        raise OnboardError("the mobile core does not say where its ports are", where=deployment.vnfs[0].name)
    ends = (str(table.server), str(table.bearers[0].ue))
    return probe_frame(deployment, (1, 0), incomplete_frame(_SERVER_MAC, macs[-1], ends), inside_tunnel)


def inside_tunnel(_: bytes, frame: bytes) -> tuple[ChecksumPath, bytes]:
    """Return the state of the checksum of a packet in GTP-U; the virtio_net_hdr is about the outer datagram.

    Args:
        frame: from its Ethernet header on.
    """
    packet = frame[GTPU_BYTES:]
    return judge(_NO_NOTE, packet), packet
