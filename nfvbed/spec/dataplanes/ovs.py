"""Options that Open vSwitch has whatever its datapath."""

from typing import Literal

from pydantic import Field

from nfvbed.spec.dataplanes.options import DataPlaneOptions


class OvsOptions(DataPlaneOptions):
    """How its bridge forwards."""

    flows: Literal["port-to-port", "normal"] = "port-to-port"
    """`port-to-port`: one OpenFlow rule per direction; `normal`: a learning switch (p2p alone)."""
    steering: Literal["static", "controller", "onos"] = "static"
    """Who writes the rules of the cables: nfvbed, its OpenFlow controller, or the site's ONOS."""
    mac_table_size: int | None = Field(None, ge=10, le=1_000_000)
    """Addresses that a bridge with `flows: normal` may learn; None: Open vSwitch's default."""
