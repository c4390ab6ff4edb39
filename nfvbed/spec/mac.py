"""The form of Ethernet addresses in files."""

from typing import Annotated

from pydantic import StringConstraints

UnicastMac = Annotated[str, StringConstraints(pattern=r"^[0-9A-Fa-f][02468ACEace](:[0-9A-Fa-f]{2}){5}$", to_lower=True)]
"""A unicast address; in lower case, however it was written."""
