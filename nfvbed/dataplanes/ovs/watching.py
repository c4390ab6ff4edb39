"""What a userspace datapath reports of the connections that it tracks."""

from collections.abc import Mapping

from nfvbed.dataplanes.connections import Connections
from nfvbed.dataplanes.ovs import conntrack, reading, unixctl
from nfvbed.dataplanes.ovs.reading import BridgeView


def connections(where: str, view: BridgeView, ports: Mapping[str, int]) -> Connections:
    """Read a datapath's connection table and its flows.

    Args:
        where: the switch's name, for tables.
        ports: OpenFlow numbers of the path's ports, by name.
    """
    # The flows first: one that is not used for 10 s ends, and many entries take long to write on a busy host.
    flows = conntrack.parse_flows(unixctl.command(view.unixctl, *conntrack.DUMP_FLOWS))
    threads = reading.counters(view, ports).raw["pmd"]
    entries = conntrack.parse_connections(unixctl.command(view.unixctl, *conntrack.DUMP_CONNECTIONS))
    return Connections(
        where=where,
        ports=len(ports),
        entries=entries.all,
        replied=entries.replied,
        masks=flows.masks,
        packets=sum(thread["packets"] for thread in threads),
        recirculations=sum(thread["recirculations"] for thread in threads),
        established=flows.established,
        not_established=flows.not_established,
    )
