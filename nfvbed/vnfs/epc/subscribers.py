"""Subscribers of the core: their identities, and what HSS and PCRF read of them."""

import secrets

from bson import Int64
from pydantic import Field

from nfvbed.records import Record
from nfvbed.spec.corenetwork import DEFAULT_NETWORK, CoreNetwork

PLMN = DEFAULT_NETWORK.plmn
APN = DEFAULT_NETWORK.apn
AMBR_KBITS = 10_000_000
"""Rate of all bearers of a UE, each way."""
QCI = 9
"""Class of a default bearer (TS 23.203): best effort."""
PRIORITY = {"priority_level": 8, "pre_emption_capability": 1, "pre_emption_vulnerability": 1}
"""Allocation and retention priority of a default bearer."""
_PDN_IPV4 = 0
_IMSI_DIGITS = 15
_RESTRICTIONS = 32
"""Handover to non-3GPP access is not allowed, as in nextepc's own default profile."""


class Subscriber(Record):
    """A SIM: its number, its keys, and the network that it is allowed to reach."""

    imsi: str = Field(pattern=r"^[0-9]{15}$")
    key: str = Field(pattern=r"^[0-9a-f]{32}$", repr=False)
    """K of TS 33.401, in hex; of this deployment alone."""
    opc: str = Field(pattern=r"^[0-9a-f]{32}$", repr=False)
    """OPc of TS 35.205."""
    apn: str = APN

    def document(self) -> dict[str, object]:
        """Return the subscriber as nextepc's database has it; numbers of another size are ignored there."""
        rates = {"uplink": Int64(AMBR_KBITS), "downlink": Int64(AMBR_KBITS)}
        network = {
            "apn": self.apn,
            "type": _PDN_IPV4,
            "ambr": dict(rates),
            "qos": {"qci": QCI, "arp": dict(PRIORITY)},
            "pcc_rule": [],
        }
        return {
            "imsi": self.imsi,
            "access_restriction_data": _RESTRICTIONS,
            "subscriber_status": 0,
            "network_access_mode": 2,
            "subscribed_rau_tau_timer": 12,
            "ambr": dict(rates),
            "security": {"k": self.key, "opc": self.opc, "amf": "8000", "sqn": Int64(64), "rand": "0" * 32},
            "pdn": [network],
        }


def new_subscribers(number: int, network: CoreNetwork = DEFAULT_NETWORK) -> tuple[Subscriber, ...]:
    """Make so many subscribers of a network, with keys of their own."""
    return tuple(
        Subscriber(
            imsi=network.plmn + str(index).rjust(_IMSI_DIGITS - len(network.plmn), "0"),
            key=secrets.token_hex(16),
            opc=secrets.token_hex(16),
            apn=network.apn,
        )
        for index in range(1, number + 1)
    )
