"""Addresses of PCI devices, and the cables between network ports of one machine."""

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from nfvbed.spec.model import SpecModel

PciAddress = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{4}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]$")]
"""PCI address as `lspci -D` writes it: 0000:3b:00.0."""

ENDS = 2
"""Cables of a path: one at each of its outside ends."""


class CableSpec(SpecModel):
    """Two ports of NICs that a cable joins, both in this machine."""

    switch: PciAddress
    """PCI address of the port that the variant's switch takes: p0 of the first cable, p1 of the second."""
    generator: PciAddress
    """PCI address of the port at the cable's other end, which the generator takes."""


def _two_or_none(cables: tuple[CableSpec, ...]) -> tuple[CableSpec, ...]:
    if cables and len(cables) != ENDS:
        raise ValueError(f"a path has {ENDS} cables, one at each end; these are {len(cables)}")
    addresses = [address for cable in cables for address in (cable.switch, cable.generator)]
    twice = sorted({address for address in addresses if addresses.count(address) > 1})
    if twice:
        raise ValueError(f"{', '.join(twice)} is named twice: every end of a cable is a port of its own")
    return cables


Cables = Annotated[tuple[CableSpec, ...], Field(max_length=ENDS), AfterValidator(_two_or_none)]
"""None, or the two of a path."""
