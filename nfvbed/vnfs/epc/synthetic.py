"""Bearers without an attach: entries of the own gateway's table beside those of attached UEs.

Their TEIDs and addresses are out of the reach of nextepc's: it counts TEIDs up from 1, and its UEs have one network.
"""

from ipaddress import IPv4Address

from nfvbed.spec.bearers import Bearer, BearerTable

_PLMN = "99999"
"""PLMN of no network (ITU-T E.212: 999 is for use inside one); attached UEs have the test network's."""
_FIRST_UE = IPv4Address("10.232.0.1")
_UPLINK, _DOWNLINK = 0x53000000, 0x64000000


def with_synthetic(table: BearerTable, wanted: int) -> BearerTable:
    """Return a table of so many bearers: the existing ones, then synthetic ones."""
    missing = wanted - len(table.bearers)
    if missing <= 0:
        return table
    made = tuple(
        Bearer(
            imsi=f"{_PLMN}{number:010d}",
            ue=_FIRST_UE + number,
            uplink_teid=_UPLINK + number,
            downlink_teid=_DOWNLINK + number,
        )
        for number in range(missing)
    )
    # Validated again: what nextepc gave out must not be among them.
    return BearerTable(
        enb=table.enb, sgw=table.sgw, server=table.server, bearers=(*table.bearers, *made), synthetic=True
    )
