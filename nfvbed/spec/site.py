"""`deploy/sites/*.yml`: where it runs."""

from typing import Literal, Self

from pydantic import Field, model_validator

from nfvbed.spec.model import SpecModel
from nfvbed.spec.onos import OnosSpec


class ArrangementSpec(SpecModel):
    """Who sits on which core. `auto` takes the first cores that are allowed, isolated ones first."""

    switch_cores: tuple[int, ...] | Literal["auto"] = "auto"
    generator_core: int | Literal["auto"] = "auto"


class GuestSpec(SpecModel):
    """The virtual machine of a site of kind `guest`: a compute node with this host's files and a kernel of its own."""

    vcpus: int = Field(2, ge=2, le=64)
    memory_mib: int = Field(3072, ge=1024)
    devices: tuple[Literal["iommu"], ...] = ()
    """What it has beside them, in order."""


class SiteSpec(SpecModel):
    """One place to deploy to."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")
    kind: Literal["lab", "guest"]
    """`lab`: this machine; `guest`: a virtual machine on it, which lives as long as a command."""
    summary: str = ""
    arrangement: ArrangementSpec = ArrangementSpec()
    generator_hugepages_mib: int = Field(512, ge=128)
    """Hugepage memory for the generator and the reference, on top of the variant's own."""
    onos: OnosSpec | None = None
    """The ONOS that `steering: onos` uses."""
    guest: GuestSpec | None = None
    """Of kind `guest`: the machine."""

    @model_validator(mode="after")
    def kind_guest_has_a_machine(self) -> Self:
        if (self.kind == "guest") != (self.guest is not None):
            raise ValueError("a site of kind guest has the key guest, and no other has it")
        return self
