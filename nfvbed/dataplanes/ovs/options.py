"""Options of every Open vSwitch, whatever its datapath."""

from typing import Literal

from pydantic import Field

from nfvbed.dataplanes.ovs.packagesets import PackageSetOptions


class OvsOptions(PackageSetOptions):
    """How Open vSwitch's bridge forwards, and how much of that its datapath may cache."""

    flows: Literal["port-to-port", "normal", "push-vlan"] = "port-to-port"
    """Flow rules. `port-to-port`: one OpenFlow rule per direction; `normal`: a learning switch (p2p alone);
    `push-vlan`: as port-to-port, and frames leave with an 802.1Q tag of VLAN 0 more (p2p alone)."""
    steering: Literal["static", "controller", "onos"] = "static"
    """Writer of the rules of the cables: nfvbed, its OpenFlow controller, or the site's ONOS."""
    mac_table_size: int | None = Field(None, ge=10, le=1_000_000)
    """Addresses that a bridge with `flows: normal` may learn; None: Open vSwitch's default."""
    flow_limit: int | None = Field(None, ge=1000, le=10_000_000)
    """Flows that the datapath may hold (`flow-limit`); None: Open vSwitch's default."""
    max_idle_ms: int | None = Field(None, ge=500, le=3_600_000)
    """Idle time after which a datapath flow is removed (`max-idle`), ms; None: Open vSwitch's default."""
    max_revalidator_ms: int | None = Field(None, ge=100, le=3_600_000)
    """Time between two rounds of the revalidators (`max-revalidator`), ms; None: Open vSwitch's default."""
