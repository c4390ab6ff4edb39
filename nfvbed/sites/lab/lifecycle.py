"""Heals, offboards and scales VNFs that an earlier command left on this machine."""

from dataclasses import dataclass
from pathlib import Path

from nfvbed.dataplanes.wiring import require_path
from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.records import Deployment
from nfvbed.sites.lab.storeddeployment import StoredDeployment, find_remembered
from nfvbed.sites.lab.vnfs import LabVnfs
from nfvbed.spec.layout import SIDE_BY_SIDE
from nfvbed.vnfs import onboarded
from nfvbed.vnfs.vnf import VnfHost


@dataclass(frozen=True)
class EarlierDeployment:
    """A deployment with its VNFs, left by an earlier command."""

    remembered: StoredDeployment
    vnfs: LabVnfs
    """What is started of them again stays with the deployment."""

    def save(self) -> None:
        """Write down the current VNFs."""
        onboarded.save(
            self.remembered.deployment, onboarded.OnboardedVnfs(choice=self.vnfs.choice, handles=self.vnfs.handles)
        )

    def offboard(self) -> Deployment:
        """End the VNFs; return the deployment without them."""
        self.vnfs.stop()
        onboarded.forget(self.remembered.deployment)
        return self.remembered.deployment

    def scaled_topology(self, vnfs: int) -> str:
        """Return the topology in which so many VNFs are side by side.

        Raises:
            UnsupportedError: there is none, the data plane does not offer it, or its VNFs are not side by side.
        """
        have, plan = self.remembered.deployment, self.vnfs.plan
        if plan.one_way or plan.ways != plan.vnfs:
            raise UnsupportedError(
                f"the VNFs of {have.topology} cannot be scaled",
                where=f"{have.variant} ({have.topology})",
                observed="they are ends of the path" if plan.one_way else "every frame passes all of them in turn",
                fix=f"onboard one of {', '.join(SIDE_BY_SIDE.values())}",
            )
        if vnfs not in SIDE_BY_SIDE:
            raise UnsupportedError(
                f"no topology has {vnfs} VNFs side by side",
                where=f"{have.variant} ({have.topology})",
                observed=", ".join(f"{count}: {name}" for count, name in SIDE_BY_SIDE.items()),
                fix="choose one of these numbers",
            )
        if vnfs == plan.vnfs:
            return have.topology
        require_path(self.remembered.variant, SIDE_BY_SIDE[vnfs], self.vnfs.choice)
        return SIDE_BY_SIDE[vnfs]

    def take_down(self) -> None:
        """Undo the deployment, its data plane too.

        Raises:
            DeployError: something could not be removed.
        """
        problems = self.remembered.workspace.close()
        if problems:
            raise DeployError(
                f"{self.remembered.deployment.variant} is not completely gone",
                where=str(self.remembered.workspace.directory),
                observed="; ".join(problems),
                fix="nfvbed destroy --all",
            )


def left_on(deployment: Deployment, root: Path) -> EarlierDeployment:
    """Return a deployment and its VNFs, left by an earlier command.

    Args:
        deployment: a deployment that was found.

    Raises:
        DeployError: it is gone, or has no VNFs.
    """
    found = find_remembered()
    left = None if found is None or found.deployment.id != deployment.id else onboarded.find(found.deployment)
    if found is None or left is None:
        raise DeployError(
            f"{deployment.variant} has no VNFs",
            where=deployment.run_directory or deployment.id,
            observed="it is gone" if found is None else "none is written down beside it",
            fix="nfvbed onboard",
        )
    host = VnfHost(found.workspace, found.arrangement, root)
    return EarlierDeployment(found, LabVnfs.found(found.deployment, left, host))
