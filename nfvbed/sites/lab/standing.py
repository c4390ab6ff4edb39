"""A deployment that stands between two commands: `nfvbed deploy` leaves it, later commands find it."""

from dataclasses import dataclass
from pathlib import Path

from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.errors import BusyError
from nfvbed.host.arrangement import Arrangement
from nfvbed.host.places import DEPLOYMENT_NAME
from nfvbed.host.reap import is_standing, workspaces
from nfvbed.host.workspace import Workspace
from nfvbed.records import Deployment, PortKind
from nfvbed.spec.variant import Variant

_VARIANT_NAME = "variant.json"
_ARRANGEMENT_NAME = "arrangement.json"


@dataclass(frozen=True)
class Standing:
    """What stands, as it was deployed."""

    workspace: Workspace
    deployment: Deployment
    variant: Variant
    arrangement: Arrangement

    def save(self) -> None:
        """Write it into its run directory. From the moment that this is complete it is meant to stay."""
        directory = self.workspace.directory
        (directory / _VARIANT_NAME).write_text(self.variant.model_dump_json())
        (directory / _ARRANGEMENT_NAME).write_text(self.arrangement.model_dump_json())
        draft = directory / f".{DEPLOYMENT_NAME}"
        draft.write_text(self.deployment.model_dump_json(indent=2))
        draft.rename(directory / DEPLOYMENT_NAME)

    def is_same(self, variant: Variant, topology: str, vnf_kind: PortKind | None = None) -> bool:
        """Whether it is what is asked for, options included.

        Args:
            variant: as asked for.
            topology: as asked for.
            vnf_kind: of the ports that its VNFs want; None: it has none, or any will do.
        """
        kinds = {port.kind for ports in self.deployment.vnf_ports for port in ports}
        fits = vnf_kind is None or kinds <= {vnf_kind}
        return self.variant == variant and self.deployment.topology == topology and fits

    def in_the_way(self, wanted: str) -> BusyError:
        """Say that it stands where something else is wanted."""
        return BusyError(
            f"{wanted} cannot be deployed: {self.deployment.variant} stands on this host",
            where=str(self.workspace.directory),
            observed=f"deployed since {self.workspace.ledger.owner.since}: {self.workspace.ledger.owner.command}",
            fix="nfvbed destroy, then again",
        )


def find_standing() -> Standing | None:
    """Find the standing deployment; there is at most one, since a second one is refused."""
    for workspace in workspaces():
        if is_standing(workspace):
            return _load(workspace)
    return None


def _load(workspace: Workspace) -> Standing:
    def text(name: str) -> str:
        return (Path(workspace.directory) / name).read_text()

    return Standing(
        workspace=workspace,
        deployment=Deployment.model_validate_json(text(DEPLOYMENT_NAME)),
        variant=VariantModel.model_validate_json(text(_VARIANT_NAME)),
        arrangement=Arrangement.model_validate_json(text(_ARRANGEMENT_NAME)),
    )
