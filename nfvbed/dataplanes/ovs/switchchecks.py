"""Pure checks of the Open vSwitch on a cloud's machine: what was read, beside what a variant says."""

from nfvbed.cloud.verify.checks import ExpectedMachine, judged
from nfvbed.dataplanes.ovs.switchreading import SwitchReading
from nfvbed.records.findings import Finding, State
from nfvbed.spec.cpulist import format_cpu_list

VHOST_USER = ("dpdkvhostuserclient", "dpdkvhostuser")
POLLED = (*VHOST_USER, "dpdk", "afxdp", "afxdp-nonpmd")
"""Types of interfaces whose queues polling threads read."""
MASK = "pmd-cpu-mask"
_FAR_FIX = (
    "poll each port from its own node: cores of that node in the variant's pmd-cpu-mask (pmd-rxq-affinity may force"
    " another); of a guest, memory and vCPUs on the node of the switch's cores (hw:numa_nodes, the flavor)"
)
_UNUSED_FIX = (
    "in the guest: ethtool -L DEVICE combined N, in a driver of DPDK its number of queues; or fewer vCPUs, or a flavor"
    " without hw:vif_multiqueue_enabled"
)


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
        judged(
            f"{host}: datapath",
            datapath,
            f"{len(read.bridges)} bridges of {expected.datapath_type or 'system'}",
            "asked ovsdb",
            f"every bridge of {expected.datapath_type}: [ovs] datapath_type of the agent, and ovs-vsctl set Bridge"
            f" NAME datapath_type={expected.datapath_type}, which makes the bridge's ports anew: their"
            " instances are cut off for that time",
        ),
        judged(
            f"{host}: switch's ports",
            errors,
            f"{len(read.interfaces)} without an error",
            "asked ovsdb",
            "what the error says; the switch's log has more",
        ),
        _check_vhost(read, host),
        *(_check_polling(read, expected) if expected.polling else ()),
        *((_check_held(read, expected),) if expected.reserved_pages else ()),
    )


def _check_held(read: SwitchReading, expected: ExpectedMachine) -> Finding:
    """Compare what the kernel says that the switch holds with what Nova believes that it leaves the switch."""
    topic, probed = f"{expected.host}: switch's hugepages", "read the daemon's numa_maps, and nova.conf as rendered"
    if read.pages_unread:
        fix = "see whether the switch runs in its container, and whether its numa_maps may be read there"
        return Finding(topic=topic, state=State.UNKNOWN, summary=read.pages_unread, probed=probed, fix=fix)
    wrong, shown = list[str](), list[str]()
    for node in sorted({*read.held_pages, *expected.reserved_pages}):
        held, reserved = read.held_pages.get(node, {}), expected.reserved_pages.get(node, {})
        for size in sorted({*held, *reserved}):
            has, may = held.get(size, 0), reserved.get(size, 0)
            shown.append(f"node {node}: {has} of {may} reserved pages of {size} KiB")
            if has > may:
                wrong.append(f"node {node}: it holds {has} pages of {size} KiB, and Nova leaves it {may}")
    fix = (
        "Nova would give the difference to instances, which then do not start: report the networks' MTUs and these"
        f" numbers; until then [DEFAULT] reserved_huge_pages for {expected.host} in config/nova/{expected.host}"
    )
    return judged(topic, wrong, "; ".join(shown), probed, fix)


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
    return judged(topic, wrong, f"{len(ports)} sockets connected", "asked ovsdb", fix)


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
    threads = judged(f"{host}: PMD threads", wrong, f"on cores {shown}", "asked the switch", fix)
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
    wrong = [f"no thread polls {name}" for name in ports if name not in {queue.port for queue in read.queues}]
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
    """Return the ports whose NIC, or whose guest's memory, is on another NUMA node than a thread that polls them."""
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
    """Return the queues that a port's other side does not use; a port without any was not opened yet."""
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


def _cores_of(mask: str) -> set[int]:
    try:
        bits = int(mask, 16)
    except ValueError:
        return set()
    return {core for core in range(bits.bit_length()) if bits >> core & 1}
