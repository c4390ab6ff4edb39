"""A VNF that Tacker onboards alone, on no measured path: from a foreign descriptor, or a file of the project."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from nfvbed.cloud.tacker.api import OnboardRequest
from nfvbed.spec.machines import ConsoleSpec
from nfvbed.vnfs.descriptors.epa import Mismatch
from nfvbed.vnfs.descriptors.model import Flavour
from nfvbed.vnfs.descriptors.naming import CloudNames, NamedResource

if TYPE_CHECKING:  # The sites' interface imports this, and needs nothing of a host.
    from nfvbed.host.qemu.images import Image


class Form(StrEnum):
    """The form of a descriptor."""

    TEMPLATE = "template"
    """One file, as Tacker's legacy API takes it."""
    DEFINITIONS = "definitions"
    """One file of SOL001, which Tacker takes within a package alone."""
    PACKAGE = "package"
    """An archive (CSAR)."""
    OWN = "vnf.yml"
    """nfvbed's own file of a VNF."""


@dataclass(frozen=True)
class RequiredImage:
    """An image that must be in the cloud before the VNF."""

    vnf: str
    """Name of the VNF that it is of."""
    file: "Image"


@dataclass(frozen=True, kw_only=True)
class OnboardableVnf(ABC):
    """A VNF that can be onboarded by itself."""

    name: str
    """What the VNF is called by nfvbed."""
    form: Form
    source: str
    """Path of the file that it is of."""
    notes: tuple[str, ...] = ()
    """What was read in the place of something else."""
    image: RequiredImage | None = None
    """What is put into Glance before; None: the cloud has what the descriptor names."""
    console: ConsoleSpec | None = None
    """What its consoles say when it is ready; None: it is when its instances are ACTIVE."""

    @property
    def own_hot(self) -> bool:
        """Whether Tacker takes a HOT of its own in the place of its definitions."""
        return False

    @abstractmethod
    def deployed(self) -> Flavour:
        """Return the deployment flavour that is onboarded.

        Raises:
            ConfigurationError: a size, a text of extra specs, a subnet or a number of instances cannot be read; with
                the line.
        """

    @abstractmethod
    def names(self) -> Sequence[NamedResource]:
        """Return the names of the cloud in it."""

    @abstractmethod
    def lacking(self, known: CloudNames) -> list[Mismatch]:
        """Return the names that the cloud does not have, each with its place."""

    @abstractmethod
    def request(self, owner: str, seed: str) -> OnboardRequest:
        """Return the request to Tacker.

        Args:
            owner: owner of the VNF; Tacker takes a descriptor's id once, so each owner gets another one.
            seed: secret of the deployment, for user data that has a placeholder for it.
        """
