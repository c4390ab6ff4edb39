"""Options of VALE, netmap's switch."""

from typing import Literal

from pydantic import Field

from nfvbed.records import PortKind
from nfvbed.spec.options import CoreUse, DataPlaneOptions, veth_for_processes
from nfvbed.spec.vnf import VnfChoice


class ValeOptions(DataPlaneOptions):
    """A VALE switch of netmap for every cable, its ports veth ends attached to it."""

    dataplane: Literal["vale"]
    core_use: CoreUse = "threaded-napi"
    """Core that takes frames into the switch: a NAPI thread or RPS on the switch's core, or the sender's softirq."""
    prefix: str = Field("nfv", pattern=r"^[0-9a-zA-Z_]{1,6}$")
    """Prefix of the switches' names: `vale<prefix>0`, `vale<prefix>1`, ..."""

    def io_path(self, kind: PortKind) -> str:
        """netmap's adapter of a network device."""
        return "netmap"

    @property
    def veth_core_use(self) -> CoreUse:
        """As its own."""
        return self.core_use

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Every VNF gets a veth."""
        return veth_for_processes(choice, "vale", "a guest would need QEMU with netmap, or ptnetmap")
