"""The journal of a rack, stage by stage, so that a second command goes on where the first one stopped."""

import json
import time
from collections.abc import Mapping
from typing import Literal

from pydantic import Field, ValidationError

from nfvbed.cloud.devcloud.places import write_private
from nfvbed.errors import DeployError
from nfvbed.records import Record
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.openstack.storeddeployment import Verification

Outcome = Literal["begun", "done", "partial", "failed", "interrupted"]


class StageRecord(Record):
    """The outcome of a stage."""

    outcome: Outcome
    """`begun` and nothing else: nfvbed was killed in it; `partial`: done for some of Kolla's tags."""
    at: str
    """Time of the last change."""
    seconds: float = 0.0
    where: str = ""
    """Host and task at which it stopped; of a partial one the tags."""


class Journal(Record):
    """The journal of one rack."""

    format: Literal[1] = 1
    variant: str
    """Its name; of variants that computes are pinned to all names, each with its compute."""
    pins: Mapping[str, str] = Field(default_factory=dict)
    """Variants' names by compute, where computes have different ones."""
    release: str
    digest: str
    """Digest of all rendered files that Kolla is given: another one makes another deployment."""
    inputs: Mapping[str, str] | None = None
    """The same of each of a user's own files beside them; None: an older nfvbed wrote it and did not look."""
    destroying: bool = False
    """Whether it is being taken down, or that stopped half-way."""
    mark: str = ""
    """Mark of processes that were started for it, in their environment; empty: none can be left."""
    stages: Mapping[str, StageRecord] = Field(default_factory=dict)
    ever_begun: tuple[str, ...] = ()
    """Stages that were begun at any time since nothing was on the machines."""
    passwords_used: bool = False
    """Whether a stage was begun that gives machines the passwords."""
    inventory: str = ""
    """File of a user's own inventory; empty: it was rendered."""
    verified: Verification | None = None
    """What verifying found the last time; None: it was not verified since it was deployed."""

    @property
    def on_machines(self) -> bool:
        """Whether a stage was begun, so that machines may be changed."""
        return bool(self.ever_begun)

    def is_done(self, stage: str) -> bool:
        """Return whether a stage is complete."""
        return stage in self.stages and self.stages[stage].outcome == "done"

    def stopped_in(self) -> str:
        """Return the stage that was begun and is not complete; empty: there is none."""
        return next((name for name, one in self.stages.items() if one.outcome != "done"), "")

    def noted(self, stage: str, outcome: Outcome, seconds: float = 0.0, where: str = "") -> "Journal":
        """Return the journal with the outcome of a stage."""
        record = StageRecord(outcome=outcome, at=now(), seconds=round(seconds, 1), where=where)
        begun = tuple(dict.fromkeys((*self.ever_begun, stage)))
        return self.model_copy(update={"stages": {**self.stages, stage: record}, "ever_begun": begun})


def now() -> str:
    """Return the time in the journal's form."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def read(places: RackPlaces) -> Journal | None:
    """Read the journal; None: nothing was ever done, or all of it was taken down.

    Raises:
        DeployError: it cannot be read.
    """
    try:
        return Journal.model_validate_json(places.journal.read_text())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as failure:
        raise DeployError(
            "what was written down of a rack cannot be read",
            where=str(places.journal),
            observed=str(failure).splitlines()[0],
            fix="another version of nfvbed wrote it, or it was changed: put it back; without it nfvbed cannot know"
            " what is on the machines",
        ) from failure


def write(places: RackPlaces, journal: Journal) -> None:
    """Write the journal, complete or not at all."""
    write_private(places.journal, json.dumps(journal.model_dump(mode="json"), indent=1) + "\n")


def forget(places: RackPlaces) -> None:
    """Remove the journal: nothing is on the machines."""
    places.journal.unlink(missing_ok=True)
