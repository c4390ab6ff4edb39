"""The links of a topology into one Open vSwitch: veth pairs and taps, named as the bridge's ports are."""

from dataclasses import dataclass
from functools import cached_property

from nfvbed.dataplanes.ports.kernel_links import BridgePlan
from nfvbed.records import PortKind
from nfvbed.spec.layout import End


@dataclass(frozen=True)
class OvsLinks(BridgePlan):
    """As on kernel bridges; but `p0` and `p1` lead outside, and VNFs on vhost-user sockets have no links."""

    @cached_property
    def ends(self) -> tuple[End, ...]:
        """Those at which there is a link."""
        ends = super().ends
        return tuple(end for end in ends if end.vnf is None) if self.vnf_kind is PortKind.VHOST_USER else ends

    @property
    def always_up(self) -> tuple[str, ...]:
        """Links that have a carrier whether VNFs run or not."""
        return self.veths

    def port(self, end: End) -> str:
        """Name the switch's port at an end."""
        return end.name
