"""The support of a data plane by a release of OpenStack."""

from dataclasses import dataclass
from typing import Literal

PREPARES_HOST = "nfvbed_host"
"""Role that sets hugepages, isolated cores and the command line of a machine's kernel, as the site's file says. Each
compute has it, whatever its data plane: what is compared runs on machines that were prepared alike."""


@dataclass(frozen=True)
class ReleaseSupport:
    """Who deploys a data plane with a release, or why it is not deployed."""

    deployed_by: Literal["kolla", "roles", "nobody"]
    """Kolla's roles alone or with nfvbed's beside them; nfvbed's roles in place of one that Kolla lacks; or nobody: it
    is unsupported."""
    own_roles: tuple[str, ...] = ()
    """Names of nfvbed's roles that a compute needs for this data plane."""
    reason: str = ""
    """Reason why it is unsupported."""
    possible_on: str = ""
    """Release that can, where one can."""

    def __post_init__(self) -> None:
        if bool(self.reason) != (self.deployed_by == "nobody"):
            raise ValueError("reason says why it is unsupported, where it is not deployed")
        if self.deployed_by == "roles" and not self.own_roles:
            raise ValueError("own_roles names those that deploy it")

    @property
    def is_deployed(self) -> bool:
        """Whether it can be deployed."""
        return self.deployed_by != "nobody"

    @property
    def roles(self) -> tuple[str, ...]:
        """Names of all of nfvbed's roles that a compute needs."""
        return (PREPARES_HOST, *self.own_roles) if self.is_deployed else ()


def unsupported(reason: str, *, possible_on: str = "") -> ReleaseSupport:
    """Return the support of a release with which a data plane cannot be deployed."""
    return ReleaseSupport("nobody", reason=reason, possible_on=possible_on)
