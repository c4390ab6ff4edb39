"""What is deployed on the cloud between two commands: written beside the cloud's own state, and gone with it."""

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
from nfvbed.sites.deployed import Deployed, Placed, not_readable
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.wholefile import write_whole

_NAME = "deployed.json"
_UNDER_WAY = "under-way"
"""File with the id of a deployment that is set up, or is taken down with the command that has it."""


class Verified(Record):
    """What verifying a deployment found."""

    at: str
    """When, UTC (ISO 8601)."""
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Remembered:
    """One deployment that outlives its command."""

    deployment: Deployment
    variant: Variant
    arrangement: Arrangement
    choice: VnfChoice | None
    since: str
    """When it was deployed, and by which command."""
    compute: str = ""
    """Host of its data plane; empty: it is not known, as of a cloud that is not ours."""
    verified: Verified | None = None
    """What verifying it found the last time; None: it was not verified since it was set up."""

    def deployed(self, folder: Path, placed: tuple[Placed, ...] = ()) -> Deployed:
        """Return it as any site says of what is deployed.

        Args:
            folder: where it is written down.
            placed: its VNFs, as `vnfs.placed` returns them.
        """
        computes = tuple(dict.fromkeys(filter(None, (self.compute, *(one.host for one in placed)))))
        where = str(_path(folder))
        return Deployed(self.deployment, self.variant, self.choice, where, self.since, computes, placed)


def since_now() -> str:
    """Say when this is, and in which command."""
    owner = this_process(persistent=True)
    return f"{owner.since}: {owner.command}"


def save(folder: Path, what: Remembered) -> None:
    """Write it down; complete or not at all."""
    path = _path(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = {"deployment": what.deployment, "variant": what.variant, "arrangement": what.arrangement}
    document: dict[str, Any] = {name: part.model_dump(mode="json") for name, part in parts.items()}
    document["choice"] = None if what.choice is None else what.choice.model_dump(mode="json")
    document["verified"] = None if what.verified is None else what.verified.model_dump(mode="json")
    write_whole(path, json.dumps({**document, "since": what.since, "compute": what.compute}, indent=1))


def find(folder: Path) -> Remembered | None:
    """Read it; None where nothing is deployed.

    Raises:
        DeployError: it cannot be read.
    """
    path = _path(folder)
    try:
        found = json.loads(path.read_text())
        choice, verified = found["choice"], found.get("verified")
        return Remembered(
            deployment=Deployment.model_validate_json(json.dumps(found["deployment"])),
            variant=VariantModel.model_validate_json(json.dumps(found["variant"])),
            arrangement=Arrangement.model_validate_json(json.dumps(found["arrangement"])),
            choice=None if choice is None else VnfChoice.model_validate_json(json.dumps(choice)),
            since=found["since"],
            compute=found.get("compute", ""),
            verified=None if verified is None else Verified.model_validate_json(json.dumps(verified)),
        )
    except FileNotFoundError:
        return None
    except (ValidationError, ValueError, KeyError) as failure:
        raise not_readable(str(path), failure) from failure


def forget(folder: Path) -> None:
    """Remove what was written: it is gone."""
    _path(folder).unlink(missing_ok=True)


def note(folder: Path, identifier: str) -> None:
    """Write down that a deployment is under way: should this nfvbed be killed, the next one removes it."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / _UNDER_WAY, identifier)


def under_way(folder: Path) -> str:
    """Return the id of the deployment that was under way; empty: none."""
    try:
        return (folder / _UNDER_WAY).read_text()
    except FileNotFoundError:
        return ""


def done(folder: Path) -> None:
    """Forget that one was under way: it is complete and stays, or all of it is removed."""
    (folder / _UNDER_WAY).unlink(missing_ok=True)


def _path(folder: Path) -> Path:
    return folder / _NAME
