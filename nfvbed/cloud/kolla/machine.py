"""A machine of Kolla's, in the form that a data plane's record gets it."""

from collections.abc import Mapping
from dataclasses import dataclass

from nfvbed.cloud.kolla.placement import Placement
from nfvbed.cloud.kolla.release import ReleaseSupport
from nfvbed.cloud.kolla.uplinks import Uplink
from nfvbed.spec.rack import PhysnetSpec, RackHostSpec
from nfvbed.spec.variant import Variant


@dataclass(frozen=True)
class KollaMachine:
    """A controller or a compute."""

    host: RackHostSpec
    links: tuple[Uplink, ...]
    """NICs of its switch."""
    networks: Mapping[str, PhysnetSpec]
    """Physical networks of the site."""
    plane: str
    """Name of its data plane; empty: it is no compute."""
    planes: tuple[str, ...]
    """Names of the data planes of all computes, each once."""

    def is_everywhere(self, plane: str) -> bool:
        """Return whether all computes have this data plane."""
        return self.planes == (plane,)


@dataclass(frozen=True)
class KollaCompute(KollaMachine):
    """A compute."""

    variant: Variant
    placement: Placement
    support: ReleaseSupport
    """What becomes of its data plane with the release."""
    shares_cores: bool = False
    """Whether its cores are other machines' too, as in a box: its threads are not to poll without sleep."""
