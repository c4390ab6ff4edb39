"""What a file may say of tests of learning: how many addresses a switch holds, how fast it learns them."""

from math import log2
from typing import Literal, Self

from pydantic import Field, model_validator

from nfvbed.spec.testkinds.base import NamedTest


class AddressCachingTest(NamedTest):
    """The addresses that a learning switch holds without flooding frames to them (RFC 2889 section 5.7)."""

    kind: Literal["address-caching"]
    max_addresses: int = Field(65_536, ge=2, le=1_000_000)
    """Largest number of addresses that is tried, the test port's own among them."""
    load_pps: int = Field(50_000, ge=10, le=100_000_000)
    """Load at which addresses are shown, and asked for; low, so that the rate of learning does not matter."""
    tries: int = Field(2, ge=1, le=10)
    """Failures in a row, frames flooded each time, after which a number is too large."""

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials: the largest number, then halves of what is left."""
        steps = 1 + log2(self.max_addresses)
        frames = 2.5 * (self.max_addresses + steps * self.max_addresses / 2)
        return frames / self.load_pps, round(2 * steps)


class AddressLearningTest(NamedTest):
    """The highest rate of new addresses at which a learning switch misses none (RFC 2889 section 5.8)."""

    kind: Literal["address-learning"]
    addresses: int = Field(8_000, ge=1, le=1_000_000)
    """New addresses in each step: fewer than the switch holds, which `address-caching` finds, and many more than the
    rings of its ports, which would take the frames however fast they come."""
    min_load_pps: int = Field(10_000, ge=1)
    """Lowest rate of the search, frames/s."""
    max_load_pps: int = Field(10_000_000, le=100_000_000)
    """Highest rate of the search, frames/s; every frame shows a new address."""
    relative_width: float = Field(0.02, gt=0, le=0.5)
    """Largest relative distance of the highest rate at which all were learnt from the lowest at which one was
    missed."""
    test_load_pps: int = Field(50_000, ge=10, le=100_000_000)
    """Load at which the addresses are asked for."""
    tries: int = Field(3, ge=1, le=10)
    """Failures in a row, addresses missed each time, after which a rate is too high."""

    @model_validator(mode="after")
    def the_range_rises(self) -> Self:
        if self.max_load_pps <= self.min_load_pps:
            raise ValueError(f"max_load_pps ({self.max_load_pps}) must be above min_load_pps ({self.min_load_pps})")
        return self

    def expected(self) -> tuple[float, int]:
        """Estimate the seconds of traffic, and the trials."""
        steps = 2 + log2(log2(self.max_load_pps / self.min_load_pps) / self.relative_width + 1)
        return steps * 2 * self.addresses / self.test_load_pps, round(4 * steps)
