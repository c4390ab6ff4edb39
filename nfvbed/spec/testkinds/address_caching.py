"""How many addresses a switch holds."""

from math import log2
from typing import Literal

from pydantic import Field

from nfvbed.spec.testkinds.base import NamedTest


class AddressCachingTest(NamedTest):
    """The addresses that a learning switch holds without flooding frames to them (RFC 2889 section 5.7)."""

    kind: Literal["address-caching"]
    max_addresses: int = Field(65_536, ge=2, le=1_000_000)
    """The most that is tried, the test port's own address among them."""
    load_pps: int = Field(50_000, ge=10, le=100_000_000)
    """At which addresses are shown, and asked for; low, so that the rate of learning does not matter."""
    tries: int = Field(2, ge=1, le=10)
    """A number is too large when frames were flooded so many times in a row."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials: the largest number, then halves of what is left."""
        steps = 1 + log2(self.max_addresses)
        frames = 2.5 * (self.max_addresses + steps * self.max_addresses / 2)
        return frames / self.load_pps, round(2 * steps)
