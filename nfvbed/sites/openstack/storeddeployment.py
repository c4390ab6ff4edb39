"""The deployment that stays on a cloud between two commands: recorded beside the cloud's state, and gone with it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.ledger.owner import this_process
from nfvbed.records import Deployment, Record
from nfvbed.records.findings import Finding
from nfvbed.sites.deployed import DeploymentRecord, InstancePlacement, not_readable
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.wholefile import write_whole

_NAME = "deployed.json"
_UNDER_WAY = "under-way"
"""File with the id of a deployment that is set up, or is taken down with the command that has it."""


class Verification(Record):
    """The result of verifying a deployment."""

    at: str
    """When, UTC (ISO 8601)."""
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class StoredDeployment:
    """One deployment that outlives its command."""

    deployment: Deployment
    variant: Variant
    arrangement: Arrangement
    choice: VnfChoice | None
    since: str
    """When it was deployed, and by which command."""
    compute: str = ""
    """Host of its data plane; empty: it is not known, as of a cloud that is not ours."""
    verified: Verification | None = None
    """What verifying it found the last time; None: it was not verified since it was set up."""

    def deployed(self, folder: Path, placed: tuple[InstancePlacement, ...] = ()) -> DeploymentRecord:
        """Return the record that all sites share.

        Args:
            folder: folder of the deployment's file.
            placed: its VNFs, found by `vnfs.placed`.
        """
        computes = tuple(dict.fromkeys(filter(None, (self.compute, *(host for one in placed for host in one.hosts)))))
        where = str(_path(folder))
        ends = f"nfvbed {'destroy' if self.choice is None else 'offboard'} --site {self.deployment.site}"
        return DeploymentRecord(self.deployment, self.variant, self.choice, where, self.since, computes, placed, ends)


def since_now() -> str:
    """Return the time, and the command that runs."""
    owner = this_process(persistent=True)
    return f"{owner.since}: {owner.command}"


def save(folder: Path, what: StoredDeployment) -> None:
    """Write the deployment down, complete or not at all."""
    path = _path(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = {"deployment": what.deployment, "variant": what.variant, "arrangement": what.arrangement}
    document: dict[str, Any] = {name: part.model_dump(mode="json") for name, part in parts.items()}
    document["choice"] = None if what.choice is None else what.choice.model_dump(mode="json")
    document["verified"] = None if what.verified is None else what.verified.model_dump(mode="json")
    write_whole(path, json.dumps({**document, "since": what.since, "compute": what.compute}, indent=1))


def find(folder: Path) -> StoredDeployment | None:
    """Read the deployment; None: nothing is deployed.

    Raises:
        DeployError: it cannot be read.
    """
    path = _path(folder)
    try:
        found = json.loads(path.read_text())
        choice, verified = found["choice"], found.get("verified")
        return StoredDeployment(
            deployment=Deployment.model_validate_json(json.dumps(found["deployment"])),
            variant=VariantModel.model_validate_json(json.dumps(found["variant"])).as_asked(),
            arrangement=Arrangement.model_validate_json(json.dumps(found["arrangement"])),
            choice=None if choice is None else VnfChoice.model_validate_json(json.dumps(choice)),
            since=found["since"],
            compute=found.get("compute", ""),
            verified=None if verified is None else Verification.model_validate_json(json.dumps(verified)),
        )
    except FileNotFoundError:
        return None
    except (ValidationError, ValueError, KeyError) as failure:
        raise not_readable(str(path), failure) from failure


def forget(folder: Path) -> None:
    """Remove the file of the deployment, which is gone."""
    _path(folder).unlink(missing_ok=True)


def note(folder: Path, identifier: str) -> None:
    """Record that a deployment is under way, so that the next nfvbed removes it if this one is killed."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / _UNDER_WAY, identifier)


def under_way(folder: Path) -> str:
    """Return the id of the deployment under way; empty: none."""
    try:
        return (folder / _UNDER_WAY).read_text()
    except FileNotFoundError:
        return ""


def done(folder: Path) -> None:
    """Forget the deployment under way: it is complete and stays, or all of it is removed."""
    (folder / _UNDER_WAY).unlink(missing_ok=True)


def _path(folder: Path) -> Path:
    return folder / _NAME
