"""The support of a data plane by a release of OpenStack."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class ReleaseSupport:
    """Who deploys a data plane with a release, or why nobody does."""

    deployed_by: Literal["kolla", "roles", "nobody"]
    """Kolla's roles alone or with nfvbed's beside them; nfvbed's roles in place of one that Kolla lacks; or nobody: it
    is unsupported."""
    roles: tuple[str, ...] = ()
    """Names of nfvbed's roles that a compute needs."""
    reason: str = ""
    """Reason why it is unsupported."""
    possible_on: str = ""
    """Release that can, where one can."""

    def __post_init__(self) -> None:
        if bool(self.reason) != (self.deployed_by == "nobody"):
            raise ValueError("reason says why it is unsupported, where nobody deploys it")
        if self.deployed_by == "roles" and not self.roles:
            raise ValueError("roles names those that deploy it")

    @property
    def is_deployed(self) -> bool:
        """Whether anybody deploys it."""
        return self.deployed_by != "nobody"


def unsupported(reason: str, *, possible_on: str = "") -> ReleaseSupport:
    """Return the support of a release with which a data plane cannot be deployed."""
    return ReleaseSupport("nobody", reason=reason, possible_on=possible_on)
