"""The order of VNFs on a path that runs: what can be read of it, and changed."""

from abc import ABC, abstractmethod

from nfvbed.errors import UnsupportedError
from nfvbed.records.chain import ChainCable


class ChainControl(ABC):
    """The path of one deployment."""

    fixed: str = ""
    """Why the order cannot be changed while it runs; empty: it can."""

    @abstractmethod
    def cables(self) -> tuple[ChainCable, ...]:
        """Read the rules that join the ports, in the order of the path; none where there are none of nfvbed's.

        Raises:
            DeployError: the switch does not answer, or has other rules than the path's.
        """

    @abstractmethod
    def apply(self, order: tuple[int, ...]) -> None:
        """Let frames pass the VNFs in another order. When this returns, all of it is in force.

        An order that is refused changes nothing.

        Args:
            order: the VNFs from outside end 0 to outside end 1, by their numbers from 0.

        Raises:
            UnsupportedError: the order is fixed.
            DeployError: the switch did not take it; it forwards as before.
        """


class FixedChain(ChainControl):
    """A path whose order cannot be changed while it runs.

    Args:
        fixed: why it cannot be changed, for the message.
        where: the variant or the site, for the message.
        fix: what can be done instead.
    """

    def __init__(self, fixed: str, where: str, fix: str) -> None:
        self.fixed = fixed
        self._where = where
        self._fix = fix

    def cables(self) -> tuple[ChainCable, ...]:
        """Return no cables: the order is fixed, and there is nothing to read."""
        return ()

    def apply(self, order: tuple[int, ...]) -> None:
        """Refuse every order."""
        raise UnsupportedError(
            "the order of VNFs cannot be changed here while they run",
            where=self._where,
            observed=self.fixed,
            fix=self._fix,
        )
