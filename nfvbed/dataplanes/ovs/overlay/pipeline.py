"""The path's own rules on one host's br-int: what leaves a port, and what arrives at it, with connection tracking.

Pure. The tables follow those of network virtualisation (NSX, OVN). They look at where a frame came from; the guard of
that port; its connection; the firewall where it leaves; where it goes; then the same at the port that it goes to.

With connection tracking a frame goes through the datapath once more for every look-up (recirculation), and once more
when it leaves the tunnel. Each port has a zone, in which what leaves it and what comes to it meet, so that a reply is
recognised as one.
"""

from enum import IntEnum

from nfvbed.dataplanes.ovs.overlay.hostplan import TUNNEL_PORT, ForwardingRule, HostPlan
from nfvbed.dataplanes.ovs.tablerules import (
    CT_ESTABLISHED,
    CT_INVALID,
    CT_NEW,
    CT_TRACKED,
    Field,
    TableRule,
    commit,
    output,
    set_field,
    track,
)

PIPELINE = "2"
"""Version of these rules. In the first one what left a port and what came to it had zones of their own, so that no
connection could be replied to."""
DEFAULT = 100
"""Priority of the path's rules; above it are the rules that a frame must be compared with."""
LET_IN = 1
"""The mark of a connection that was committed. UDP without an answer stays `new` for the switch; by its mark a frame of
it is known, and is not committed again. An answered one is established, and goes on as such."""
_IPV4 = Field("eth_type", 0x0800)


class Table(IntEnum):
    """The tables of br-int, in the order in which a frame meets them."""

    ORIGIN = 0
    PORT_GUARD = 10
    TRACK_OUT = 15
    FIREWALL_OUT = 20
    COMMIT_OUT = 25
    ROUTE = 30
    TRACK_IN = 40
    FIREWALL_IN = 45
    COMMIT_IN = 50
    DELIVER = 60


def direct_rules(host: HostPlan) -> list[TableRule]:
    """Return a rule for each direction of each cable, in one table, without connection tracking."""
    rules = [
        TableRule(0, DEFAULT, (Field("in_port", leg.source),), _towards(leg) if leg.target is None else (_out(leg),))
        for leg in host.legs
    ]
    return rules + [
        TableRule(0, DEFAULT, (Field("in_port", TUNNEL_PORT), Field("tunnel_id", network)), (output(port),))
        for network, port in host.arrivals.items()
    ]


def pipeline_rules(host: HostPlan, conntrack: bool) -> list[TableRule]:
    """Return the rules of all tables."""
    rules: list[TableRule] = []
    for leg in host.legs:
        rules += _leaving(leg, conntrack)
    for network, port in host.arrivals.items():
        match = (Field("in_port", TUNNEL_PORT), Field("tunnel_id", network))
        rules.append(TableRule(Table.ORIGIN, DEFAULT, match, (set_field("reg0", port),), Table.TRACK_IN))
    targets = {leg.target for leg in host.legs if leg.target is not None} | set(host.arrivals.values())
    for port in sorted(targets):
        rules += _arriving(port, conntrack)
    for table, onward in ((Table.FIREWALL_OUT, Table.COMMIT_OUT), (Table.FIREWALL_IN, Table.COMMIT_IN)):
        rules.append(TableRule(table, DEFAULT, goto=onward))
    for table, onward in ((Table.TRACK_OUT, Table.FIREWALL_OUT), (Table.TRACK_IN, Table.FIREWALL_IN)):
        rules.append(TableRule(table, 1, goto=onward))
    rules += _states(Table.COMMIT_OUT, Table.ROUTE, conntrack) + _states(Table.COMMIT_IN, Table.DELIVER, conntrack)
    return rules


def _leaving(leg: ForwardingRule, conntrack: bool) -> list[TableRule]:
    source = Field("in_port", leg.source)
    onward = _towards(leg) if leg.target is None else (set_field("reg0", leg.target),)
    found = [
        TableRule(Table.ORIGIN, DEFAULT, (source,), goto=Table.PORT_GUARD),
        TableRule(Table.PORT_GUARD, DEFAULT, (source,), goto=Table.TRACK_OUT),
        TableRule(Table.ROUTE, DEFAULT, (source,), onward, None if leg.target is None else Table.TRACK_IN),
    ]
    if not conntrack:
        return found
    new = (Field("ct_state", CT_TRACKED | CT_NEW, CT_TRACKED | CT_NEW), source, _IPV4)
    return [
        *found,
        TableRule(Table.TRACK_OUT, DEFAULT, (source, _IPV4), (track(leg.source, Table.FIREWALL_OUT),)),
        TableRule(Table.COMMIT_OUT, DEFAULT, new, (commit(leg.source, LET_IN),), Table.ROUTE),
    ]


def _arriving(port: int, conntrack: bool) -> list[TableRule]:
    target = Field("reg0", port)
    found = [TableRule(Table.DELIVER, DEFAULT, (target,), (output(port),))]
    if not conntrack:
        return found
    new = (Field("ct_state", CT_TRACKED | CT_NEW, CT_TRACKED | CT_NEW), target, _IPV4)
    return [
        *found,
        TableRule(Table.TRACK_IN, DEFAULT, (target, _IPV4), (track(port, Table.FIREWALL_IN),)),
        TableRule(Table.COMMIT_IN, DEFAULT, new, (commit(port, LET_IN),), Table.DELIVER),
    ]


def _states(table: Table, onward: Table, conntrack: bool) -> list[TableRule]:
    """Return rules for frames of a known connection, of none yet, and of an invalid one."""
    if not conntrack:
        return [TableRule(table, DEFAULT, goto=onward)]
    tracked = Field("ct_state", CT_TRACKED, CT_TRACKED)
    established = CT_TRACKED | CT_ESTABLISHED
    return [
        TableRule(table, DEFAULT + 3, (Field("ct_state", established, established),), goto=onward),
        TableRule(table, DEFAULT + 1, (tracked, Field("ct_mark", LET_IN)), goto=onward),
        TableRule(table, DEFAULT, (Field("ct_state", 0, CT_TRACKED),), goto=onward),
        TableRule(table, DEFAULT + 2, (Field("ct_state", CT_TRACKED | CT_INVALID, CT_TRACKED | CT_INVALID),)),
    ]


def _towards(leg: ForwardingRule) -> tuple[bytes, ...]:
    return set_field("tunnel_id", leg.network), output(TUNNEL_PORT)


def _out(leg: ForwardingRule) -> bytes:
    assert leg.target is not None
    return output(leg.target)
