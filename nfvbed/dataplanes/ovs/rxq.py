"""Parses `dpif-netdev/pmd-rxq-show`: which thread polls which receive queue, and with what load.

It is text, as Open vSwitch has no other form of it (no JSON either, up to 4.0). Read as 2.15, 3.1, 3.5 and 4.0 write
it. Also read are the forms of 2.6 to 2.8 (all queues of a port in a line, no load) and of 2.9 to 2.11 (no "(enabled)").
Source: `lib/dpif-netdev.c` of these releases.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from nfvbed.dataplanes.ovs import unixctl
from nfvbed.errors import DeployError, InternalError

COMMAND = "dpif-netdev/pmd-rxq-show"
INTERVAL_S = 5
"""The switch adds its queues' cycles up in intervals of so long (PMD_INTERVAL_LEN), of which it keeps a minute."""

_WINDOW = re.compile(r"^Displaying last (\d+) seconds pmd usage")
_THREAD = re.compile(r"^pmd thread numa_id (?P<numa>-?\d+) core_id (?P<core>\d+):$")
_QUEUE = re.compile(
    r"^\s+port: (?P<port>\S+)\s+queue-id:(?:\s*(?P<queue>\d+)(?:\s+\((?P<state>enabled|disabled)\))?\s+pmd usage:\s+"
    r"(?:(?P<usage>\d+) %|NOT AVAIL)|(?P<queues>(?: \d+)+))\s*$"
)


@dataclass(frozen=True)
class QueueLoad:
    """One receive queue of a port."""

    core: int
    """Core of the thread that polls the queue."""
    numa: int
    port: str
    queue: int
    enabled: bool | None
    """Whether its other side uses it; None: this Open vSwitch does not say (before 2.12)."""
    usage_percent: int | None
    """Part of the thread's cycles that its packets took, in whole percent; None: not known yet."""


@dataclass(frozen=True)
class QueueLoads:
    """All receive queues."""

    queues: tuple[QueueLoad, ...]
    window_s: int | None
    """Over how long, ending at the last full interval; None: this Open vSwitch does not say (a minute)."""


def read_loads(socket: Path, seconds: int) -> QueueLoads:
    """Read the loads over the last seconds, in full intervals; before 3.1 Open vSwitch always gives a minute.

    Raises:
        DeployError: it does not answer.
        InternalError: it writes another form than is known.
    """
    wanted = max(INTERVAL_S, seconds // INTERVAL_S * INTERVAL_S)
    try:
        text = unixctl.command(socket, COMMAND, "-secs", str(wanted))
    except DeployError:
        text = unixctl.command(socket, COMMAND)
    return parse_loads(text)


def parse_loads(text: str) -> QueueLoads:
    """Parse the text.

    Raises:
        InternalError: a queue's line is not in the form that is known.
    """
    window: int | None = None
    place: tuple[int, int] | None = None
    found = []
    for line in text.splitlines():
        if match := _WINDOW.match(line):
            window = int(match[1])
        elif match := _THREAD.match(line):
            place = (int(match["core"]), int(match["numa"]))
        elif line.lstrip().startswith("port:"):
            match = _QUEUE.match(line)
            if match is None or place is None:
                raise InternalError(
                    f"{COMMAND} is not in the form that is known",
                    observed=line,
                    fix="report this with the version of Open vSwitch",
                )
            usage = int(match["usage"]) if match["usage"] else None
            enabled = match["state"] == "enabled" if match["state"] else None
            numbers = (match["queues"] or match["queue"]).split()
            found += [QueueLoad(*place, match["port"], int(number), enabled, usage) for number in numbers]
    return QueueLoads(tuple(found), window)
