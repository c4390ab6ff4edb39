"""What was deployed in a box, as its runs noted it: kept with the project, and shown in the table of support."""

import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from nfvbed.errors import ConfigurationError
from nfvbed.records import Record
from nfvbed.spec.textfile import read_text
from nfvbed.wholefile import write_whole

FILE = Path("docs/evidence/box.json")
Step = Literal["deploy", "verify", "onboard", "run", "destroy"]


class BoxDeployment(Record):
    """A variant's deployment in a box, of one release: the last one that was noted."""

    variant: str
    release: str
    on: datetime.date
    kolla_ansible: str
    """Its version."""
    images: Literal["ours", "Kolla's"]
    """Who built the images that it deployed."""
    passed: Annotated[tuple[Step, ...], Field(min_length=1)]
    """What was done and found right, in this order; the run of a step ends with what the next one needs."""

    @property
    def shown(self) -> str:
        """In a line."""
        return f"{self.on.isoformat()}, images: {self.images}: {', '.join(self.passed)}"


_ALL = TypeAdapter(tuple[BoxDeployment, ...])


def read(root: Path) -> tuple[BoxDeployment, ...]:
    """Return what was noted below a project's root; nothing where no run has noted any.

    Raises:
        ConfigurationError: the file is damaged.
    """
    file = root / FILE
    if not file.exists():
        return ()
    try:
        return _ALL.validate_json(read_text(file))
    except ValueError as failure:
        raise ConfigurationError(
            "the record of what was deployed in a box cannot be read",
            where=str(FILE),
            observed=str(failure).splitlines()[0],
            fix=f"git checkout {FILE}, or remove it: make test-kolla-box writes it",
        ) from failure


def note(root: Path, done: BoxDeployment) -> None:
    """Note a deployment, in place of an earlier one of its variant with its release.

    Raises:
        ConfigurationError: as `read`.
    """
    key = (done.variant, done.release)
    kept = [one for one in read(root) if (one.variant, one.release) != key]
    found = sorted((*kept, done), key=lambda one: (one.variant, one.release))
    write_whole(root / FILE, _ALL.dump_json(tuple(found), indent=1) + b"\n")
