"""Options of a logical network of OVN, whatever the ports of its Open vSwitch."""

from typing import Final, Literal, Self

from pydantic import Field, model_validator

from nfvbed.dataplanes.ovs.options import OvsOptions
from nfvbed.dataplanes.ovs.packagesets import PackageSetOptions
from nfvbed.errors import UnsupportedError
from nfvbed.spec.layout import Layout

PORT_TO_PORT = "p2p"
RELEASES_WITH_OVN: Final = ("3.1", "3.5")
"""Those of Open vSwitch whose suites have OVN: bookworm and trixie."""


class LogicalPathOptions(PackageSetOptions):
    """The path through a logical network."""

    path: Literal["switch", "router"] = "switch"
    """Logical path. `switch`: a logical switch for each cable; `router`: a logical router between two of them (p2p)."""
    acl: Literal["none", "stateless", "stateful"] = "none"
    """ACLs of the logical switches: `stateless` (allow-stateless) or `stateful` (allow-related, which tracks
    connections); what no ACL allows of IPv4 is dropped."""
    acl_rules: int = Field(1, ge=1, le=100_000)
    """Number of ACLs of each port of a logical switch; only the last, of the lowest priority, matches the traffic."""

    @model_validator(mode="after")
    def ovn_is_there_for_it(self) -> Self:
        if self.release is not None and self.release not in RELEASES_WITH_OVN:
            raise ValueError(f"the suite of release {self.release} has no OVN; {' and '.join(RELEASES_WITH_OVN)} have")
        if self.acl == "none" and self.acl_rules != 1:
            raise ValueError("acl_rules are of acl: stateless or stateful")
        return self

    @property
    def tracks_connections(self) -> bool:
        """Whether its ACLs are stateful."""
        return self.acl == "stateful"

    @property
    def slow_to_deploy(self) -> bool:
        """Whether there are many ACLs to compile."""
        return self.acl_rules >= 1_000

    def check_layout(self, plan: Layout) -> None:
        """Refuse VNFs behind a logical router, and VNFs side by side.

        Raises:
            UnsupportedError: with the option.
        """
        super().check_layout(plan)
        if self.path == "router" and plan.name != PORT_TO_PORT:
            raise UnsupportedError(
                f"topology {plan.name} has VNFs, whose own addresses the logical router would need",
                where="options.path: router",
                observed="between its two networks there are the generator's ports alone",
                fix="topology p2p, or path: switch",
            )
        if plan.ways > 1:
            raise UnsupportedError(
                f"topology {plan.name} shares the flows of one port among VNFs",
                where=self.dataplane,
                observed="a logical switch forwards by addresses, which VNFs side by side would share",
                fix="a chain (pvp, pvvp), or variant ovs-dpdk or ovs-afxdp",
            )


class LogicalNetworkOptions(LogicalPathOptions, OvsOptions):
    """A logical network on one chassis: OVN's own databases, ovn-northd and ovn-controller beside Open vSwitch."""

    @model_validator(mode="after")
    def its_rules_are_ovns(self) -> Self:
        if self.flows != "port-to-port" or self.steering != "static":
            raise ValueError("the rules are OVN's: flows and steering are options of ovs-dpdk and ovs-afxdp")
        return self
