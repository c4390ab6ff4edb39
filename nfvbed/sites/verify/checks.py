"""Pure checks: what was read beside what a variant says. One finding a topic, with all that is wrong in it."""

from collections.abc import Iterable, Mapping

from nfvbed.cpulist import format_cpu_list
from nfvbed.findings import Finding, State
from nfvbed.records import Record
from nfvbed.sites.verify.readings import CloudReading, MachineReading, SwitchReading

VHOST_USER = ("dpdkvhostuserclient", "dpdkvhostuser")
POLLED = (*VHOST_USER, "dpdk", "afxdp", "afxdp-nonpmd")
"""Types of interfaces whose queues polling threads read."""
MASK = "pmd-cpu-mask"
_FAR_FIX = (
    "poll each port from its own node: cores of that node in the variant's pmd-cpu-mask (pmd-rxq-affinity may force"
    " another); of a guest, memory and vCPUs on the node of the switch's cores (hw:numa_nodes, the flavor)"
)
_PAGES_FIX = (
    "remove instances of yours, or have more pages, of the flavors' size and on that node: echo N >"
    " /sys/devices/system/node/nodeK/hugepages/hugepages-SIZEkB/nr_hugepages there (N: those of now and those that"
    " lack), or at boot hugepagesz=SIZE hugepages=0:N,1:N with every node's number"
)
_UNUSED_FIX = (
    "in the guest: ethtool -L DEVICE combined N, in a driver of DPDK its number of queues; or fewer vCPUs, or a flavor"
    " without hw:vif_multiqueue_enabled"
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
    """Of all bridges; None: it has no Open vSwitch that is read."""
    polling: tuple[int, ...] = ()
    """Cores of polling threads."""
    functions: dict[str, int] = {}
    """Virtual functions by PCI address."""
    takes_hugepages: bool = False
    """Whether instances come there whose memory is of hugepages."""


def check_cloud(read: CloudReading, expected: Iterable[ExpectedMachine]) -> tuple[Finding, ...]:
    """Check agents, services and instances' ports."""
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
        found.append(_judged(topic, wrong, f"{len(entries)} alive", "asked the API", fix))
    hosts = {one.host for one in machines}
    ports = [port for port in read.ports if port.host in hosts or not port.host]
    wrong = [
        f"port {port.id} on {port.host or 'no host'} is {port.status}, {port.vif_type}"
        for port in ports
        if port.status != "ACTIVE" or port.vif_type in _BAD_BINDINGS
    ]
    fix = "read the log of the agent on that host; with binding_failed, of Neutron's server"
    return (*found, _judged("instances' ports", wrong, f"{len(ports)} active", "asked Neutron", fix))


def check_switch(read: SwitchReading, expected: ExpectedMachine) -> tuple[Finding, ...]:
    """Check a machine's Open vSwitch."""
    host = expected.host
    datapath = [
        f"{name} has {kind or 'system'}"
        for name, kind in read.bridges.items()
        if (kind or "system") != (expected.datapath_type or "system")
    ]
    errors = [f"{one.name}: {one.error}" for one in read.interfaces if one.error]
    return (
        _judged(
            f"{host}: datapath",
            datapath,
            f"{len(read.bridges)} bridges of {expected.datapath_type or 'system'}",
            "asked ovsdb",
            f"every bridge of {expected.datapath_type}: [ovs] datapath_type of the agent, and ovs-vsctl set Bridge"
            f" NAME datapath_type={expected.datapath_type}, which makes the bridge's ports anew: their"
            " instances are cut off for that time",
        ),
        _judged(
            f"{host}: switch's ports",
            errors,
            f"{len(read.interfaces)} without an error",
            "asked ovsdb",
            "what the error says; the switch's log has more",
        ),
        _check_vhost(read, host),
        *(_check_polling(read, expected) if expected.polling else ()),
    )


def _check_vhost(read: SwitchReading, host: str) -> Finding:
    ports = [one for one in read.interfaces if one.type in VHOST_USER]
    topic, fix = f"{host}: vhost-user", "see whether the instance runs, and whether its memory is shared hugepages"
    if not ports:
        return Finding(topic=topic, state=State.UNKNOWN, summary="no instance has a port", probed="asked ovsdb")
    wrong = [
        f"{one.name}: {one.status.get('status', 'no state')}"
        for one in ports
        if one.status.get("status") != "connected"
    ]
    return _judged(topic, wrong, f"{len(ports)} sockets connected", "asked ovsdb", fix)


def _check_polling(read: SwitchReading, expected: ExpectedMachine) -> tuple[Finding, Finding]:
    wanted, host = set(expected.polling), expected.host
    mask = read.settings.get(MASK, "")
    set_to = _cores_of(mask)
    shown = format_cpu_list(expected.polling)
    fix = (
        f"ovs-vsctl set Open_vSwitch . other_config:{MASK}={hex(sum(1 << core for core in wanted))} (where the switch's"
        " tools are, with Kolla in its container; queues move, and frames of that moment are lost)"
    )
    wrong = []
    if set_to != wanted:
        cores = format_cpu_list(tuple(sorted(set_to))) or "none"
        wrong.append(f"{MASK} is {mask or 'not set'}, cores {cores}; the variant's are {shown}")
    stray = tuple(sorted(set(read.threads) - wanted))
    if stray:
        wrong.append(f"threads run on cores {format_cpu_list(stray)}")
    missing = tuple(sorted(wanted - set(read.threads)))
    if missing and read.threads:
        wrong.append(f"no thread runs on cores {format_cpu_list(missing)}")
    threads = _judged(f"{host}: PMD threads", wrong, f"on cores {shown}", "asked the switch", fix)
    return threads, _check_queues(read, expected)


def _check_queues(read: SwitchReading, expected: ExpectedMachine) -> Finding:
    topic, probed = f"{expected.host}: receive queues", "read pmd-rxq-show"
    ports = [one.name for one in read.interfaces if one.type in POLLED and not one.error]
    if read.queues_unread:
        fix = "report this with the version of Open vSwitch"
        return Finding(topic=topic, state=State.UNKNOWN, summary=read.queues_unread, probed=probed, fix=fix)
    if not ports:
        summary = "no port is there that a thread would poll"
        return Finding(topic=topic, state=State.UNKNOWN, summary=summary, probed=probed)
    polled: dict[int, int] = {}
    for queue in read.queues:
        polled[queue.core] = polled.get(queue.core, 0) + 1
    wrong = [f"nobody polls {name}" for name in ports if name not in {queue.port for queue in read.queues}]
    idle = tuple(core for core in expected.polling if core not in polled)
    if idle and len(read.queues) >= len(expected.polling):
        wrong.append(f"the thread on core {format_cpu_list(idle)} has no queue")
    wrong += [f"{count} queues are on core {core}" for core, count in polled.items() if core not in expected.polling]
    fixes = (
        ["see n_rxq and pmd-rxq-affinity of the ports, and whether NICs and cores are on one NUMA node"]
        if wrong
        else []
    )
    far, unused = _far_queues(read), _unused_queues(read)
    fixes += [_FAR_FIX] if far else []
    fixes += [_UNUSED_FIX] if unused else []
    holds = "; ".join(f"core {core}: {count} queues" for core, count in sorted(polled.items()))
    found = (*wrong, *far, *unused)
    return Finding(
        topic=topic,
        state=State.ABSENT if wrong else State.LIMITED if found else State.PRESENT,
        summary="; ".join(found) or holds,
        probed=f"{probed} and the interfaces' status",
        fix="; ".join(fixes),
    )


def _far_queues(read: SwitchReading) -> list[str]:
    """Name the ports whose NIC, or whose guest's memory, is on another NUMA node than a thread that polls them."""
    nodes = {one.name: one.numa_node for one in read.interfaces}
    apart = {
        (queue.port, nodes[queue.port], queue.numa, queue.core)
        for queue in read.queues
        if nodes.get(queue.port) is not None and queue.numa >= 0 and nodes[queue.port] != queue.numa
    }
    return [
        f"{port} is on NUMA node {there}, and node {here}'s core {core} polls it"
        for port, there, here, core in sorted(apart, key=str)
    ]


def _unused_queues(read: SwitchReading) -> list[str]:
    """Name the queues that the other side of a port does not use; a port without any was not opened yet."""
    found = []
    for port in dict.fromkeys(queue.port for queue in read.queues):
        queues = [queue for queue in read.queues if queue.port == port]
        unused = [str(queue.queue) for queue in queues if queue.enabled is False]
        if len(unused) == len(queues):
            found.append(f"no queue of {port} is enabled: no guest's driver has opened it")
        elif unused:
            are = f"queue {unused[0]} of {port} is" if len(unused) == 1 else f"queues {', '.join(unused)} of {port} are"
            used = len(queues) - len(unused)
            found.append(f"{are} disabled: the guest uses {used} of {len(queues)} queues (ethtool -L)")
    return found


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
        found.append(_judged(f"{expected.host}: virtual functions", wrong, holds, "read sysfs", fix))
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


def _cores_of(mask: str) -> set[int]:
    try:
        bits = int(mask, 16)
    except ValueError:
        return set()
    return {core for core in range(bits.bit_length()) if bits >> core & 1}


def _judged(topic: str, wrong: list[str], holds: str, probed: str, fix: str) -> Finding:
    return Finding(
        topic=topic,
        state=State.ABSENT if wrong else State.PRESENT,
        summary="; ".join(wrong) or holds,
        probed=probed,
        fix=fix if wrong else "",
    )
