"""Options of VALE, netmap's switch."""

from typing import Literal

from pydantic import Field

from nfvbed.dataplanes.ports.kernel_options import CoreUseOptions
from nfvbed.records import PortKind
from nfvbed.spec.framelimits import FrameLimit
from nfvbed.spec.layout import Layout
from nfvbed.spec.options import veth_for_processes
from nfvbed.spec.vnf import VnfChoice
from nfvbed.units import USUAL_FRAME_BYTES


class ValeOptions(CoreUseOptions):
    """A VALE switch of netmap for every cable, its ports veth ends attached to it."""

    dataplane: Literal["vale"]
    prefix: str = Field("nfv", pattern=r"^[0-9a-zA-Z_]{1,6}$")
    """Prefix of the switches' names: `vale<prefix>0`, `vale<prefix>1`, ..."""

    def io_path(self, kind: PortKind) -> str:
        """Return the path by netmap's adapter of a network device."""
        return "netmap"

    def frame_limits(self, kind: PortKind, plan: Layout) -> tuple[FrameLimit, ...]:
        """Return the limit of netmap's buffers."""
        why = "a frame has one of netmap's buffers, which have 2048 bytes"
        return (FrameLimit(USUAL_FRAME_BYTES, "VALE's ports", why, "linux-bridge"),)

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Return veth for every VNF."""
        return veth_for_processes(choice, "vale", "a guest would need QEMU with netmap, or ptnetmap")
