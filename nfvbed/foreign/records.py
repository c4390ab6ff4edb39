"""A result that another tool reported, with its source."""

from enum import StrEnum
from typing import Final

from nfvbed.records import Record

UNPAIRED: Final = (
    "results of others: measured elsewhere, once, without nfvbed's rounds; they are compared with nothing, "
    "and have no verdict"
)


class Tool(StrEnum):
    """The tool that reported it."""

    CSIT = "FD.io CSIT"
    NFVBENCH = "NFVbench"
    VSPERF = "VSPERF"


class ForeignResult(Record):
    """One number of another tool, in its words."""

    tool: Tool
    tool_version: str
    """Version of the tool, or of its form of results; empty: the file does not say."""
    file: str
    sha256: str
    """SHA-256 of the file."""
    place: str
    """Place in the file: a line, or keys joined by dots; empty: the file has one result."""
    test: str
    """The tool's own name of the test, or what it says in its place."""
    system: str
    """What was measured, in the tool's words; empty: the file does not say."""
    measured_at: str
    """Time as the file has it; most name no time zone."""
    frame_size: str
    """In bytes, or a mix by its name; empty: the file does not say."""
    quantity: str
    """`mrr`, `ndr`, `pdr`, or the tool's own name of it."""
    value: float
    unit: str
    """`frames/s` where the tool counts frames, packets or their rate; else the tool's."""
    samples: int | None = None
    """Number of trials that it is the average of; None: the file does not say."""
    remark: str = ""
    """What the tool says of it that bears on the number."""
