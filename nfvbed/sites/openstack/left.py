"""What a command left deployed on the cloud: written beside the cloud's own state, and gone with it."""

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.errors import DeployError
from nfvbed.host.arrangement import Arrangement
from nfvbed.host.ledger import this_process
from nfvbed.records import Deployment
from nfvbed.sites.deployed import Deployed
from nfvbed.sites.openstack.places import CloudPlaces
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice

_NAME = "deployed.json"


@dataclass(frozen=True)
class LeftDeployment:
    """One deployment that outlives its command."""

    deployment: Deployment
    variant: Variant
    arrangement: Arrangement
    choice: VnfChoice | None
    since: str
    """When it was deployed, and by which command."""

    def deployed(self, places: CloudPlaces) -> Deployed:
        """Return it as any site says of what is deployed."""
        return Deployed(self.deployment, self.variant, self.choice, str(_path(places)), self.since)


def since_now() -> str:
    """Say when this is, and in which command."""
    owner = this_process(persistent=True)
    return f"{owner.since}: {owner.command}"


def save(places: CloudPlaces, left: LeftDeployment) -> None:
    """Write it down; complete or not at all."""
    path = _path(places)
    draft = path.with_name(path.name + ".new")
    parts = {"deployment": left.deployment, "variant": left.variant, "arrangement": left.arrangement}
    document = {name: part.model_dump(mode="json") for name, part in parts.items()}
    document["choice"] = None if left.choice is None else left.choice.model_dump(mode="json")
    draft.write_text(json.dumps({**document, "since": left.since}, indent=1))
    draft.rename(path)


def find(places: CloudPlaces) -> LeftDeployment | None:
    """Read it; None where nothing is deployed.

    Raises:
        DeployError: it cannot be read.
    """
    path = _path(places)
    try:
        found = json.loads(path.read_text())
        choice = found["choice"]
        return LeftDeployment(
            deployment=Deployment.model_validate_json(json.dumps(found["deployment"])),
            variant=VariantModel.model_validate_json(json.dumps(found["variant"])),
            arrangement=Arrangement.model_validate_json(json.dumps(found["arrangement"])),
            choice=None if choice is None else VnfChoice.model_validate_json(json.dumps(choice)),
            since=found["since"],
        )
    except FileNotFoundError:
        return None
    except (ValidationError, ValueError, KeyError) as failure:
        raise DeployError(
            "what was written down of a deployment cannot be read",
            where=str(path),
            observed=f"{type(failure).__name__}: {failure}",
            fix="another version of nfvbed deployed it: nfvbed destroy --site devcloud",
        ) from failure


def forget(places: CloudPlaces) -> None:
    """Remove what was written: it is gone."""
    _path(places).unlink(missing_ok=True)


def _path(places: CloudPlaces) -> Path:
    return places.run / _NAME
