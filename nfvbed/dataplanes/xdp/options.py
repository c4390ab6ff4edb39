"""Options of XDP redirect."""

from typing import Literal, Self

from pydantic import model_validator

from nfvbed.dataplanes.ports.kernel_options import CoreUseOptions
from nfvbed.records import PortKind
from nfvbed.spec.options import veth_for_processes
from nfvbed.spec.vnf import VnfChoice


class XdpOptions(CoreUseOptions):
    """An XDP program on every port that redirects frames to the port at the other end of their cable."""

    dataplane: Literal["xdp"]
    colour = 5
    takes_programs = True
    mode: Literal["native", "generic"] = "native"
    """Place of the program. `native`: the driver runs it on its own frames; `generic`: the kernel, on its own buffers
    of them."""

    def io_path(self, kind: PortKind) -> str:
        """Return the path by XDP: frames stay in the driver, or in the kernel's buffers of them."""
        return "xdp-redirect" if self.mode == "native" else "xdp-generic"

    @model_validator(mode="after")
    def rps_is_for_generic_mode(self) -> Self:
        if self.core_use == "rps" and self.mode == "native":
            raise ValueError(
                "a native program runs before RPS: core_use rps needs mode generic; or core_use threaded-napi, inline"
            )
        return self

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Return veth for every VNF."""
        why = "redirected frames take neither a tap's offloads nor its missing checksums along"
        return veth_for_processes(choice, "xdp", why)
