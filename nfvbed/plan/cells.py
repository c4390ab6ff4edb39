"""The squares of the matrix, and the deployments that several of them share."""

from dataclasses import dataclass

from nfvbed.records import CellRole, PortKind, Preset, Record
from nfvbed.units import FrameSize

MRR_ONLY = (Preset.MRR,)
MRR_THEN_PACED = (Preset.MRR, Preset.PACED)


@dataclass(frozen=True)
class DeploymentKey:
    """What one deployment serves: all cells of a variant (or ceiling) in one topology."""

    variant: str
    role: CellRole
    topology: str


class CellPlan(Record):
    """A cell as planned, before it is known whether this host can run it."""

    id: str
    variant: str
    role: CellRole
    topology: str
    frame_size: FrameSize
    flows: int
    bidirectional: bool
    port_kind: PortKind

    @property
    def deployment(self) -> DeploymentKey:
        """What must stand to measure it."""
        return DeploymentKey(self.variant, self.role, self.topology)

    @property
    def presets(self) -> tuple[Preset, ...]:
        """The trials of one repetition; a ceiling is only asked for its maximum."""
        return MRR_THEN_PACED if self.role is CellRole.SUBJECT else MRR_ONLY


def cell_id(role: CellRole, of: str, topology: str, frame_size: FrameSize) -> str:
    """Name a cell: `ovs-dpdk/p2p/64`, `loopback:vhost-user/p2p/64`.

    Args:
        role: subject or ceiling.
        of: the variant's name; for a ceiling its port kind.
        topology: as declared.
        frame_size: in bytes, or `imix`.
    """
    prefix = "" if role is CellRole.SUBJECT else f"{role.value}:"
    return f"{prefix}{of}/{topology}/{frame_size}"
