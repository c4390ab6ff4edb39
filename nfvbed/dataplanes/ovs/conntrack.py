"""Parses `dpctl/dump-conntrack` and `dpctl/dump-flows`: connections on the userspace datapath.

They are text, as Open vSwitch has no other form of it; checked against the outputs of 3.1, 3.5 and 4.0. For UDP no
release shows a state (`status` is always 0). What shows it is how long an entry has left: an answered connection ends
30 s after its last packet, any other 60 s (lib/conntrack-other.c). So it is read while packets come, or just after.
"""

import re
from dataclasses import dataclass

from nfvbed.errors import InternalError

DUMP_CONNECTIONS = ("dpctl/dump-conntrack", "-s")
DUMP_FLOWS = ("dpctl/dump-flows", "-m")
REPLIED_S = 30
"""The longest that an answered UDP connection has left."""

_ENTRY = re.compile(r"^(?P<protocol>\w+),orig=\([^)]*\),reply=\([^)]*\)(?P<rest>.*)$")
_TIMEOUT = re.compile(r",timeout=(\d+)")
_FLOW = re.compile(r"^ufid:(?P<id>[0-9a-f-]+), (?P<key>.*), packets:(?P<packets>\d+), bytes:\d+, used:")
_STATE = re.compile(r"\bct_state\((?P<value>0x[0-9a-f]+|0)/(?P<mask>0x[0-9a-f]+|0)\)")
_VALUE = re.compile(r"(?<=[(=])[^(),=/]+(?=[/),])")
_ESTABLISHED, _TRACKED = 0x02, 0x20


@dataclass(frozen=True)
class Entries:
    """UDP connections."""

    all: int
    replied: int


@dataclass(frozen=True)
class ConntrackReading:
    """Flows of the datapath: the number of different masks, and the packets of flows that match on connection state."""

    masks: int
    established: dict[str, int]
    not_established: dict[str, int]


def parse_connections(text: str) -> Entries:
    """Parse `dump-conntrack -s`; other protocols than UDP are left out.

    Raises:
        InternalError: a line is not in the form that is known.
    """
    left = []
    for line in text.splitlines():
        entry = _ENTRY.match(line)
        if not line.strip() or (entry is not None and entry["protocol"] != "udp"):
            continue
        timeout = None if entry is None else _TIMEOUT.search(entry["rest"])
        if timeout is None:
            raise _unknown(DUMP_CONNECTIONS, line)
        left.append(int(timeout[1]))
    return Entries(len(left), sum(seconds <= REPLIED_S for seconds in left))


def parse_flows(text: str) -> ConntrackReading:
    """Parse `dump-flows -m`.

    Raises:
        InternalError: a flow's line is not in the form that is known.
    """
    masks, established, others = set(), dict[str, int](), dict[str, int]()
    for line in text.splitlines():
        if not line.strip() or line.startswith("flow-dump from"):
            continue
        flow = _FLOW.match(line)
        if flow is None:
            raise _unknown(DUMP_FLOWS, line)
        masks.add(_VALUE.sub("", flow["key"]))
        state = _STATE.search(flow["key"])
        value, mask = (0, 0) if state is None else (int(state["value"], 16), int(state["mask"], 16))
        if mask & value & _TRACKED and mask & _ESTABLISHED:
            (established if value & _ESTABLISHED else others)[flow["id"]] = int(flow["packets"])
    return ConntrackReading(len(masks), established, others)


def _unknown(command: tuple[str, ...], line: str) -> InternalError:
    return InternalError(
        f"{' '.join(command)} is not in the form that is known",
        observed=line,
        fix="report this with the version of Open vSwitch",
    )
