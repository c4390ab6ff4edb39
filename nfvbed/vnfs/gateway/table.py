"""The table's file, and one bearer as the programs read it."""

from nfvbed.spec.bearers import Bearer, BearerTable


def line_of(bearer: Bearer) -> str:
    """Return a bearer as a line of the table's file: UE, uplink TEID, downlink TEID."""
    return f"{bearer.ue} {bearer.uplink_teid} {bearer.downlink_teid}"


def text_of(table: BearerTable) -> str:
    """Return the table's file."""
    return "".join(f"{line_of(bearer)}\n" for bearer in table.bearers)
