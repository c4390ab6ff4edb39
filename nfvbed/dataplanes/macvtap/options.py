"""Options of macvtap: devices on a lower link, which the kernel switches by destination address."""

from typing import Literal, Self

from pydantic import model_validator

from nfvbed.dataplanes.ports.kernel_options import OffloadOptions, Vhost
from nfvbed.errors import UnsupportedError
from nfvbed.records import PortKind, VnfKind
from nfvbed.spec.layout import Layout
from nfvbed.spec.options import CoreUse, refuse_existing
from nfvbed.spec.vnf import AS_THE_IMAGE, VnfChoice, vnic_of

MacvtapMode = Literal["bridge", "private", "vepa", "passthru"]

_VNICS = frozenset({"any", "macvtap", "e1000", "rtl8139"})
_READDRESSING = frozenset({"mac", "router", AS_THE_IMAGE})
"""What gives a frame the address of the next hop; what an image does is its user's to know."""


class MacvtapOptions(OffloadOptions):
    """macvtap and macvlan devices on veth links: the kernel's switching without a bridge."""

    dataplane: Literal["macvtap"]
    colour = 7
    mode: MacvtapMode = "bridge"
    """Mode of the devices. `bridge`: devices of one link reach each other directly. `private`: they do not. `vepa`:
    through a switch at the link's other end that sends frames back where they came from (reflective relay; one is put
    there). `passthru`: one device a link, which has all of its frames whatever their address."""
    promiscuous: bool = True
    """Promiscuous mode of the lower link of a `passthru` device (no: the driver's flag `nopromisc`)."""
    core_use: CoreUse = "threaded-napi"
    """Core that receives on the lower links: a NAPI thread or RPS on the switch's core, or the sender's own softirq.
    Frames that VNFs send are switched in their own system calls, whatever the core use."""
    vhost: Vhost = "auto"
    """Use of vhost-net, by which the kernel moves a guest's frames; auto: where it can."""

    @model_validator(mode="after")
    def nopromisc_is_of_passthru(self) -> Self:
        if not self.promiscuous and self.mode != "passthru":
            raise ValueError(f"promiscuous: false is there for mode passthru, and the mode is {self.mode}")
        return self

    @property
    def has_vnf_ceiling(self) -> bool:
        """No: with one VNF there is nothing else on its path."""
        return False

    def vnf_port_kind(self, choice: VnfChoice) -> PortKind:
        """Return macvtap: a virtual machine opens a macvtap, all others have a macvlan, the same without its file."""
        if choice.kind is VnfKind.EXISTING:
            raise refuse_existing()
        vnic = vnic_of(choice)
        if vnic not in (_VNICS if choice.kind is VnfKind.VM else {"any", "macvtap"}):
            raise UnsupportedError(
                f"a NIC of kind {vnic!r} cannot be attached to macvtap",
                where="macvtap",
                observed="a guest's NIC is on a macvtap device, what is no guest has a macvlan device",
                fix="vnic: any; or variant linux-bridge or ovs-dpdk",
            )
        self._check_forwarding(choice)
        return PortKind.MACVTAP

    def _check_forwarding(self, choice: VnfChoice) -> None:
        if choice.forwarding == "xdp":
            raise UnsupportedError(
                "no VNF redirects by XDP on macvtap",
                where="macvtap",
                observed="macvlan devices have no native XDP: the lower link's driver has",
                fix="another forwarding, or variant linux-bridge",
            )
        if choice.forwarding == "bridge" and self.mode != "passthru":
            raise UnsupportedError(
                "a VNF that is a bridge gets no frames to pass on",
                where=f"macvtap, mode {self.mode}",
                observed="the mode delivers frames that have the device's own address, and a bridge takes those for"
                " its host",
                fix="forwarding router or mac; or mode passthru (variant macvtap-passthru)",
            )

    def check(self, plan: Layout, choice: VnfChoice) -> None:
        """Refuse paths that this mode cannot join.

        Raises:
            UnsupportedError: with the reason.
        """
        if not plan.vnfs or plan.one_way:
            raise UnsupportedError(
                f"macvtap has no topology {plan.name}",
                where=f"macvtap, mode {self.mode}",
                observed="it lies on a link that leads outside and switches for the VNFs on it: there is nothing of it"
                " without a VNF between two such links",
                fix="topology pvp",
            )
        if self.mode == "passthru" and plan.ways > 1:
            raise UnsupportedError(
                "VNFs side by side cannot share a link",
                where="macvtap, mode passthru",
                observed="its one device has all frames of the link",
                fix="mode bridge, private or vepa",
            )
        if self.mode == "passthru" or not is_chained(plan):
            return
        if self.mode == "private":
            raise UnsupportedError(
                "VNFs cannot reach each other",
                where="macvtap, mode private",
                observed="the mode does not forward from one device of a link to another; by way of a switch that sends"
                " frames back they could, which is mode vepa",
                fix="mode bridge or vepa, or topology pvp",
            )
        if choice.forwarding not in _READDRESSING:
            raise UnsupportedError(
                f"a VNF that forwards with {choice.forwarding!r} has no way to the next VNF",
                where=f"macvtap, mode {self.mode}",
                observed="frames are delivered by destination address, and it does not give them that of the next VNF",
                fix="forwarding mac or router; or mode passthru",
            )


def is_chained(plan: Layout) -> bool:
    """Return whether some cable leads from one VNF to another."""
    return any(cable.first.vnf is not None and cable.second.vnf is not None for cable in plan.cables)
