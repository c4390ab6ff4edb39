"""What the tests between sockets share."""

from abc import abstractmethod
from typing import Annotated

from pydantic import Field

from nfvbed.spec.testkinds.base import NamedTest

CONGESTION = r"^[a-z0-9_]{1,15}$"
"""A name of the kernel's, at most TCP_CA_NAME_MAX long."""

MessageBytes = Annotated[int, Field(ge=1, le=1_048_576)]
DatagramBytes = Annotated[int, Field(ge=16, le=65_507)]
"""The least that every tool can number and stamp; the most that UDP over IPv4 takes."""


class SocketTest(NamedTest):
    """A test between two hosts at the ends of the path, in the place of the generator's ports."""

    duration_s: int = Field(5, ge=1, le=3600)
    """Of each run of the tool, in whole seconds, as the tools take them."""
    repetitions: int = Field(3, ge=1, le=100)
    """Runs under each condition; a row is their median, with the least and the greatest."""

    @property
    @abstractmethod
    def conditions(self) -> int:
        """How many rows there will be."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        runs = self.conditions * self.repetitions
        return float(runs * self.duration_s), runs
