"""The cells of the matrix, and the deployments that several of them share."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from nfvbed.records import CellRole, PortKind, Preset, Record
from nfvbed.records.trafficpoint import TrafficPoint
from nfvbed.spec.layout import EndKind, layout
from nfvbed.units import USUAL_MTU, FrameSize, mtu_for

MRR_ONLY = (Preset.MRR,)
MRR_THEN_PACED = (Preset.MRR, Preset.PACED)
OF_A_VISIT = (*MRR_THEN_PACED, Preset.COMMON)
"""Trials of the MRR test, in their order in a visit; each other preset is of a test with a result of its own."""


@dataclass(frozen=True)
class DeploymentKey:
    """What one deployment serves: all cells of a variant (or ceiling) in one topology with one VNF."""

    variant: str
    role: CellRole
    topology: str
    vnf: str = ""
    """Label of the VNFs; empty without."""
    mtu: int = USUAL_MTU
    """MTU of the ports. All jumbo frames of a path share a deployment, which is not that of the other sizes: ports
    that take jumbo frames have other buffers, and pass small frames at another rate."""


class CellPlan(Record):
    """A cell as planned, before it is known whether this host can run it."""

    id: str
    variant: str
    role: CellRole
    topology: str
    vnf: str = ""
    vnf_resolved: str = ""
    """VNF that the label means on this variant."""
    frame_size: FrameSize
    flows: int
    bidirectional: bool
    port_kind: PortKind
    ports: str
    """`Variant.ports`: its ceilings are those of the same."""
    mtu: int = USUAL_MTU
    """MTU of the ports of its deployment."""

    @property
    def deployment(self) -> DeploymentKey:
        """What must be deployed to measure it."""
        return DeploymentKey(self.variant, self.role, self.topology, self.vnf, self.mtu)

    @property
    def point(self) -> TrafficPoint:
        """What cells must share to be compared."""
        return TrafficPoint(self.topology, self.vnf, self.frame_size, self.flows, self.bidirectional)

    @property
    def recorded(self) -> dict[str, Any]:
        """What its row in a run has of it; how its ports are set is in the description of its configuration."""
        return self.model_dump(exclude={"ports", "mtu"})

    @property
    def presets(self) -> tuple[Preset, ...]:
        """The kinds of trials of a visit to it; where variants are compared there is one at their common load, too.

        A ceiling is only asked for its maximum; a VNF that is the source of the path sends at its own pace.
        """
        return MRR_ONLY if self.role is not CellRole.SUBJECT or not self.takes_loads else MRR_THEN_PACED

    @property
    def takes_loads(self) -> bool:
        """Whether it can be given a load: the generator sends, not a VNF."""
        return layout(self.topology).ends[0] is not EndKind.SOURCE


def shared_mtu(size: FrameSize, sizes: Iterable[FrameSize]) -> int:
    """Return the MTU of the deployment for a size: the default one, or that of the largest jumbo frames.

    Args:
        sizes: all sizes that are planned of the path.
    """
    mtu = mtu_for(size)
    return mtu if mtu == USUAL_MTU else max(map(mtu_for, sizes), default=mtu)


def cell_id(role: CellRole, of: str, path: tuple[str, str], frame_size: FrameSize) -> str:
    """Return the name of a cell: `ovs-dpdk/p2p/64`, `ovs-dpdk/pvp+process-io/64`, `loopback:vhost-user/p2p/64`.

    Args:
        of: the variant's name; for a ceiling its ports.
        path: the topology, and the VNF's label (empty: no VNF).
    """
    prefix = "" if role is CellRole.SUBJECT else f"{role.value}:"
    topology, vnf = path
    return f"{prefix}{of}/{topology}{'+' + vnf if vnf else ''}/{frame_size}"
