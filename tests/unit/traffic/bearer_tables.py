"""Tables of bearers as tests need them."""

from nfvbed.spec.bearers import BearerTable


def bearer_table(count: int) -> BearerTable:
    """Return so many bearers between documentation addresses (RFC 5737)."""
    bearers = [
        {"imsi": f"0010100000{n:05}", "ue": f"10.45.{(n + 2) >> 8}.{(n + 2) & 255}", "uplink_teid": n + 1,
         "downlink_teid": 0xFFFFFFFF - n}
        for n in range(count)
    ]  # fmt: skip
    ends = {"enb": "192.0.2.1", "sgw": "192.0.2.2", "server": "203.0.113.9"}
    return BearerTable.model_validate({**ends, "bearers": bearers})
