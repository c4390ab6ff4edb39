"""`deploy/sites/*.yml`: where it runs."""

from typing import Literal

from pydantic import Field

from nfvbed.spec.model import SpecModel
from nfvbed.spec.onos import OnosSpec


class ArrangementSpec(SpecModel):
    """Who sits on which core. `auto` takes the first cores that are allowed, isolated ones first."""

    switch_cores: tuple[int, ...] | Literal["auto"] = "auto"
    generator_core: int | Literal["auto"] = "auto"


class SiteSpec(SpecModel):
    """One place to deploy to."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")
    kind: Literal["lab"]
    summary: str = ""
    arrangement: ArrangementSpec = ArrangementSpec()
    generator_hugepages_mib: int = Field(512, ge=128)
    """Hugepage memory for the generator and the reference, on top of the variant's own."""
    onos: OnosSpec | None = None
    """The ONOS that `steering: onos` uses."""
