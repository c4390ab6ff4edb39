"""VNFs that are deployed between two commands: what is written beside an existing deployment, and found again."""

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
    """Write them into the run directory; complete or not at all."""
    write_whole(_path(deployment), vnfs.model_dump_json())


def find(deployment: Deployment) -> OnboardedVnfs | None:
    """Read them; None where none were onboarded."""
    path = _path(deployment)
    return OnboardedVnfs.model_validate_json(path.read_bytes()) if path.exists() else None


def forget(deployment: Deployment) -> None:
    """Remove what was written of them: they are gone."""
    _path(deployment).unlink(missing_ok=True)


def require_same(deployment: Deployment, running: VnfChoice, choice: VnfChoice) -> None:
    """Refuse to take VNFs over that are others than those asked for; by which words they were asked for is the same.

    Raises:
        OnboardError: another VNF is running.
    """
    if running.model_copy(update={"label": choice.label, "native": choice.native}) != choice:
        raise OnboardError(
            f"another VNF is running on {deployment.variant}",
            where=deployment.run_directory,
            observed=f"{running.label}; asked for: {choice.label}",
            fix="nfvbed destroy, then again",
        )


def _path(deployment: Deployment) -> Path:
    return Path(deployment.run_directory) / _NAME
