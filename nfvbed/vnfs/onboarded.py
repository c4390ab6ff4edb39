"""The record of deployed VNFs between two commands, written beside an existing deployment."""

from pathlib import Path

from nfvbed.errors import OnboardError
from nfvbed.records import Deployment, Record, VnfHandle
from nfvbed.spec.vnf import VnfChoice
from nfvbed.wholefile import write_whole

_NAME = "vnfs.json"


class OnboardedVnfs(Record):
    """The VNFs of an existing deployment."""

    choice: VnfChoice
    handles: tuple[VnfHandle, ...]


def save(deployment: Deployment, vnfs: OnboardedVnfs) -> None:
    """Write the VNFs into the run directory, complete or not at all."""
    write_whole(_path(deployment), vnfs.model_dump_json())


def find(deployment: Deployment) -> OnboardedVnfs | None:
    """Read the VNFs; None where none were onboarded."""
    path = _path(deployment)
    return OnboardedVnfs.model_validate_json(path.read_bytes()) if path.exists() else None


def forget(deployment: Deployment) -> None:
    """Remove the record of the VNFs, which are gone."""
    _path(deployment).unlink(missing_ok=True)


def require_same(
    deployment: Deployment, running: VnfChoice, choice: VnfChoice, *, freed_by: str = "nfvbed destroy"
) -> None:
    """Refuse to take over other VNFs than those asked for; by which names they were asked for does not matter.

    Args:
        freed_by: command that removes the VNFs that run.

    Raises:
        OnboardError: another VNF is running.
    """
    if running.model_copy(update={"label": choice.label, "native": choice.native}) != choice:
        raise OnboardError(
            f"another VNF is running on {deployment.variant}",
            where=deployment.run_directory,
            observed=f"{running.label}; asked for: {choice.label}",
            fix=f"{freed_by}, then again; or ask for the one that runs",
        )


def _path(deployment: Deployment) -> Path:
    return Path(deployment.run_directory) / _NAME
