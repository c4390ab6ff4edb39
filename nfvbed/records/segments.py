"""Names of the figures that say what a segment of TCP costs, part by part."""

from typing import Final

SEGMENT_BYTES: Final = 1448
"""Payload of a full segment at an MTU of 1500: without IPv4's header, and TCP's with time stamps."""
CLIENT: Final = "client"
SERVER: Final = "server"
SWITCH: Final = "switch"
RECEIVING: Final = "receive threads"
PARTS: Final = (CLIENT, SWITCH, RECEIVING, SERVER)
ALL: Final = "all"
CORES_BUSY: Final = "cores busy"
CALL_BYTES: Final = "bytes a system call of the switch"
UNIT: Final = "cycles/segment"


def cycles_of(part: str) -> str:
    """Return the name of a part's figure."""
    return f"cycles of {part}"
