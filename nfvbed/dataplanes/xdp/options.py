"""Options of XDP redirect."""

from typing import Literal, Self

from pydantic import model_validator

from nfvbed.records import PortKind
from nfvbed.spec.options import CoreUse, DataPlaneOptions, veth_for_processes
from nfvbed.spec.vnf import VnfChoice


class XdpOptions(DataPlaneOptions):
    """An XDP program on every port that redirects frames to the port at the other end of their cable."""

    dataplane: Literal["xdp"]
    mode: Literal["native", "generic"] = "native"
    """Place of the program. `native`: the driver runs it on its own frames; `generic`: the kernel, on its own buffers
    of them."""
    core_use: CoreUse = "threaded-napi"
    """Core that runs the programs: a NAPI thread or (generic) RPS on the switch's core, or the sender's softirq."""

    def io_path(self, kind: PortKind) -> str:
        """Frames never leave the driver, or the kernel's buffers of them."""
        return "xdp-redirect" if self.mode == "native" else "xdp-generic"

    @property
    def veth_core_use(self) -> CoreUse:
        """As its own."""
        return self.core_use

    @model_validator(mode="after")
    def rps_is_for_generic_mode(self) -> Self:
        if self.core_use == "rps" and self.mode == "native":
            raise ValueError(
                "a native program runs before RPS: core_use rps needs mode generic; or core_use threaded-napi, inline"
            )
        return self

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Every VNF gets a veth."""
        why = "redirected frames take neither a tap's offloads nor its missing checksums along"
        return veth_for_processes(choice, "xdp", why)
