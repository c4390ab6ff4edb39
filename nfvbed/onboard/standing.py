"""VNFs that stand between two commands: what is written beside a standing deployment, and found again."""

from pathlib import Path

from pydantic import TypeAdapter

from nfvbed.records import Deployment, Record, VnfHandle
from nfvbed.spec.vnf import VnfChoice

_NAME = "vnfs.json"


class StandingVnfs(Record):
    """The VNFs of a standing deployment."""

    choice: VnfChoice
    handles: tuple[VnfHandle, ...]


_ADAPTER = TypeAdapter(StandingVnfs)


def save(deployment: Deployment, vnfs: StandingVnfs) -> None:
    """Write them into the run directory; complete or not at all."""
    path = _path(deployment)
    draft = path.with_name(f".{_NAME}")
    draft.write_bytes(_ADAPTER.dump_json(vnfs))
    draft.rename(path)


def find(deployment: Deployment) -> StandingVnfs | None:
    """Read them; None where none were onboarded."""
    path = _path(deployment)
    return _ADAPTER.validate_json(path.read_bytes()) if path.exists() else None


def _path(deployment: Deployment) -> Path:
    return Path(deployment.run_directory) / _NAME
