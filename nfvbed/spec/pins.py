"""What a site's file says of variants that are pinned to different computes of a rack."""

from typing import Literal, Self

from pydantic import Field, model_validator

from nfvbed.spec.model import MisfitError, SpecModel
from nfvbed.spec.rack import HostName


class PinnedComputeSpec(SpecModel):
    """A compute that has a data plane of its own, while others of the rack have other ones."""

    variant: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")
    """Name of the variant that is deployed on it."""


class PinnedComputesSpec(SpecModel):
    """Keys of a rack's file for variants side by side."""

    computes: dict[HostName, PinnedComputeSpec] = Field(default_factory=dict)
    """Variants that computes are pinned to, by the computes' names, all of them: they are deployed together, and each
    is measured where it is. Empty: all computes have the one variant that is deployed."""
    swap: Literal["never", "abba"] = "never"
    """Exchange of two pinned variants between their computes, which are alike (twins), by runs. `abba`: round 1 as the
    file says, 2 and 3 exchanged, 4 and 5 as it says, and so on; the rack is taken down and deployed again each
    time, with all that is on it. `never`: a run measures what is deployed."""

    @property
    def pinned(self) -> dict[str, str]:
        """Variants' names by compute; empty: none is pinned."""
        return {name: one.variant for name, one in self.computes.items()}

    def exchanged(self) -> Self:
        """Return the same pins with the two variants exchanged between their computes."""
        (one, first), (other, second) = self.computes.items()
        return self.model_copy(update={"computes": {one: second, other: first}})

    @model_validator(mode="after")
    def two_variants_are_exchanged(self) -> Self:
        names = [one.variant for one in self.computes.values()]
        if self.swap != "never" and (len(names) != 2 or len(set(names)) != 2):
            raise MisfitError("swap", "two variants are exchanged: computes names two machines, each with another one")
        return self
