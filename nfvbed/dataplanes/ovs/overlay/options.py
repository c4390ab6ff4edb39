"""Options of Open vSwitch hosts that a tunnel joins, with rules of nfvbed's."""

from typing import Literal, Self

from pydantic import Field, model_validator

from nfvbed.dataplanes.ovs.overlay.hostoptions import OverlayHostOptions

MOST_RULES = 103_000
"""About as many as the hosts of SIGCOMM 2021 had ("Revisiting the Open vSwitch Dataplane Ten Years Later")."""
MANY_RULES = 10_000
"""More are not written in a second or two."""
LEAST_RULES = 200
"""A pipeline for the longest chain, with connection tracking, is smaller."""


class OvsOverlayOptions(OverlayHostOptions):
    """One or two hosts, each an Open vSwitch of its own on the userspace datapath with DPDK."""

    dataplane: Literal["ovs-overlay"]
    tunnel: Literal["geneve", "vxlan"] = "geneve"
    """Encapsulation between two hosts; every cable has a network identifier of its own."""
    conntrack: bool = False
    """Connection tracking on every port, where a frame comes from it and where it goes to it."""
    rules: int = Field(0, ge=0, le=MOST_RULES)
    """OpenFlow rules of each host; the path's own are among them. 0: the path's own alone."""

    @property
    def tracks_connections(self) -> bool:
        """`conntrack`."""
        return self.conntrack

    @property
    def slow_to_deploy(self) -> bool:
        """True for two hosts with many rules: both write theirs beside the threads that poll."""
        return self.hosts > 1 and self.rules > MANY_RULES

    @model_validator(mode="after")
    def rules_hold_the_path(self) -> Self:
        if 0 < self.rules < LEAST_RULES:
            raise ValueError(f"rules must be 0 (the path's own) or at least {LEAST_RULES}, and is {self.rules}")
        return self
