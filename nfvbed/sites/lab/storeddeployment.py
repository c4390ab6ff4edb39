"""A deployment that stays between two commands: `nfvbed deploy` leaves it, later commands find it."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.ledger.places import DEPLOYMENT_NAME
from nfvbed.host.workspace.reap import is_deployed, workspaces
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment
from nfvbed.sites.deployed import DeploymentRecord, not_readable
from nfvbed.spec.variant import Variant
from nfvbed.vnfs import onboarded
from nfvbed.wholefile import write_whole

_VARIANT_NAME = "variant.json"
_ARRANGEMENT_NAME = "arrangement.json"


@dataclass(frozen=True)
class StoredDeployment:
    """A deployment as it was deployed."""

    workspace: Workspace
    deployment: Deployment
    variant: Variant
    arrangement: Arrangement

    def save(self) -> None:
        """Write the record into the run directory. Once that is complete, the deployment stays."""
        directory = self.workspace.directory
        write_whole(directory / _VARIANT_NAME, self.variant.model_dump_json())
        write_whole(directory / _ARRANGEMENT_NAME, self.arrangement.model_dump_json())
        write_whole(directory / DEPLOYMENT_NAME, self.deployment.model_dump_json(indent=2))

    @property
    def deployed(self) -> DeploymentRecord:
        """The record that all sites share, with the VNFs that were onboarded."""
        vnfs = onboarded.find(self.deployment)
        owner = self.workspace.ledger.owner
        return DeploymentRecord(
            deployment=self.deployment,
            variant=self.variant,
            vnf=None if vnfs is None else vnfs.choice,
            where=str(self.workspace.directory),
            since=f"{owner.since}: {owner.command}",
        )


def find_remembered() -> StoredDeployment | None:
    """Find the deployment that stays; there is at most one, since a second one is refused.

    Raises:
        DeployError: it cannot be read: another version of nfvbed deployed it, or it is taken down at this moment.
    """
    for workspace in workspaces():
        if is_deployed(workspace):
            try:
                return _load(workspace)
            except (ValidationError, OSError) as failure:
                raise not_readable(str(workspace.directory), failure) from failure
    return None


def _load(workspace: Workspace) -> StoredDeployment:
    def text(name: str) -> str:
        return (Path(workspace.directory) / name).read_text()

    return StoredDeployment(
        workspace=workspace,
        deployment=Deployment.model_validate_json(text(DEPLOYMENT_NAME)),
        variant=VariantModel.model_validate_json(text(_VARIANT_NAME)).as_asked(),
        arrangement=Arrangement.model_validate_json(text(_ARRANGEMENT_NAME)),
    )
