"""Pure checks of readings against what a variant says: one finding for each topic, with all that is wrong."""

from collections.abc import Iterable, Mapping

from nfvbed.cloud.verify.readings import CloudReading, MachineReading
from nfvbed.records import Record
from nfvbed.records.findings import Finding, State

_PAGES_FIX = (
    "remove instances of yours, or have more pages, of the flavors' size and on that node: echo N >"
    " /sys/devices/system/node/nodeK/hugepages/hugepages-SIZEkB/nr_hugepages there (N: those of now and those that"
    " lack), or at boot hugepagesz=SIZE hugepages=0:N,1:N with every node's number"
)
_BAD_BINDINGS = ("binding_failed", "unbound")


class ExpectedMachine(Record):
    """What a variant says of one machine."""

    host: str
    agents: tuple[str, ...]
    """Programs of Neutron's agents that report from there."""
    services: tuple[str, ...] = ()
    """Programs of Nova's services there."""
    datapath_type: str | None = None
    """Datapath type of all bridges; None: there is no Open vSwitch that is read."""
    polling: tuple[int, ...] = ()
    """Cores of polling threads."""
    functions: dict[str, int] = {}
    """Virtual functions by PCI address."""
    reserved_pages: dict[int, dict[int, int]] = {}
    """Hugepages that Nova leaves the switch, by NUMA node and size in KiB."""
    takes_hugepages: bool = False
    """Whether instances come there whose memory is of hugepages."""


def check_cloud(read: CloudReading, expected: Iterable[ExpectedMachine]) -> tuple[Finding, ...]:
    """Check the agents, services and instances' ports."""
    machines = tuple(expected)
    agents = {(one.host, one.binary): one for one in read.agents}
    services = {(one.host, one.binary): one for one in read.services}
    wanted = {
        "agents": [(agents, (one.host, name)) for one in machines for name in one.agents],
        "compute services": [(services, (one.host, name)) for one in machines for name in one.services],
    }
    found = []
    for topic, entries in wanted.items():
        wrong = []
        for known, (host, binary) in entries:
            one = known.get((host, binary))
            if one is None:
                wrong.append(f"{binary} on {host} has never reported")
            elif not one.alive:
                wrong.append(f"{binary} on {host} does not report any more")
            elif not one.enabled:
                wrong.append(f"{binary} on {host} is disabled")
        fix = "read its log, and start it again where it should run"
        found.append(judged(topic, wrong, f"{len(entries)} alive", "asked the API", fix))
    hosts = {one.host for one in machines}
    ports = [port for port in read.ports if port.host in hosts or not port.host]
    wrong = [
        f"port {port.id} on {port.host or 'no host'} is {port.status}, {port.vif_type}"
        for port in ports
        if port.status != "ACTIVE" or port.vif_type in _BAD_BINDINGS
    ]
    fix = "read the log of the agent on that host; with binding_failed, of Neutron's server"
    return (*found, judged("instances' ports", wrong, f"{len(ports)} active", "asked Neutron", fix))


def check_machine(read: MachineReading, expected: ExpectedMachine) -> tuple[Finding, ...]:
    """Check a machine's virtual functions and hugepages."""
    found = []
    if expected.functions:
        wrong = [
            f"{pci} has {read.functions.get(pci, 0)}, and not {count}"
            for pci, count in expected.functions.items()
            if read.functions.get(pci, 0) != count
        ]
        holds = ", ".join(f"{pci}: {count}" for pci, count in expected.functions.items())
        fix = "make them again, as nfvbed's role does; they are gone after a boot without it"
        found.append(judged(f"{expected.host}: virtual functions", wrong, holds, "read sysfs", fix))
    if expected.takes_hugepages:
        found.append(_check_pages(read.pages, expected.host))
    return tuple(found)


def _check_pages(pages: Mapping[int, Mapping[int, tuple[int, int]]], host: str) -> Finding:
    shown = [
        f"node {node}: {free} of {count} pages of {size} KiB free"
        for node, sizes in sorted(pages.items())
        for size, (count, free) in sorted(sizes.items())
    ]
    empty = [f"node {node}" for node, sizes in pages.items() if not any(free for _, free in sizes.values())]
    state = State.ABSENT if not shown else State.LIMITED if empty else State.PRESENT
    full = f"; none left on {', '.join(empty)}" if empty else ""
    return Finding(
        topic=f"{host}: hugepages",
        state=state,
        summary=("; ".join(shown) or "no hugepages") + full,
        probed="read sysfs",
        fix="" if state is State.PRESENT else _PAGES_FIX,
    )


def judged(topic: str, wrong: list[str], holds: str, probed: str, fix: str) -> Finding:
    """Return the finding of a topic.

    Args:
        wrong: all that is wrong; empty: nothing.
    """
    return Finding(
        topic=topic,
        state=State.ABSENT if wrong else State.PRESENT,
        summary="; ".join(wrong) or holds,
        probed=probed,
        fix=fix if wrong else "",
    )
