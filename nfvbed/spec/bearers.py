"""Bearers of a mobile core: what its user plane needs to know, as an attach (or a table) gives it.

3GPP TS 29.281 (GTP-U), TS 23.401 (bearers). Addresses are IPv4, as nextepc's user plane is.
"""

from ipaddress import IPv4Address
from typing import Annotated

from pydantic import Field, model_validator

from nfvbed.spec.model import SpecModel

Teid = Annotated[int, Field(ge=1, le=0xFFFFFFFF)]
"""A tunnel endpoint's identifier; 0 is that of signalling."""
MOST_BEARERS = 4096
"""Bearers that a generator and a gateway take at once."""
GTPU_PORT = 2152
"""UDP port of GTP-U, source and destination alike."""


class Bearer(SpecModel):
    """One default bearer: a UE's address, and a tunnel each way between eNB and serving gateway."""

    imsi: str = Field(pattern=r"^[0-9]{6,15}$")
    ue: IPv4Address
    """Address of the UE: source uplink, destination downlink."""
    uplink_teid: Teid
    """TEID that the serving gateway gave out: in frames from the eNB."""
    downlink_teid: Teid
    """TEID that the eNB gave out: in frames to it."""


class BearerTable(SpecModel):
    """All bearers of one path UE - eNB - gateway - server."""

    enb: IPv4Address
    """The eNB's address on S1-U."""
    sgw: IPv4Address
    """The serving gateway's address on S1-U."""
    server: IPv4Address
    """Address behind SGi that the UEs send to."""
    bearers: tuple[Bearer, ...] = Field(min_length=1, max_length=MOST_BEARERS)
    synthetic: bool = False
    """Whether no attach made some of them: they were written to the gateway's table."""

    @model_validator(mode="after")
    def nothing_is_given_out_twice(self) -> "BearerTable":
        """Refuse an address, a TEID or an IMSI that two bearers have."""
        for name in ("imsi", "ue", "uplink_teid", "downlink_teid"):
            values = [str(getattr(bearer, name)) for bearer in self.bearers]
            twice = sorted({value for value in values if values.count(value) > 1}) if _doubled(values) else []
            if twice:
                raise ValueError(f"{name} {', '.join(twice)} belongs to more than one bearer")
        return self


def _doubled(values: list[str]) -> bool:
    return len(set(values)) < len(values)
