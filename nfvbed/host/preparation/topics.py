"""What disturbs a polling thread, topic by topic: the files to write, or why this host has nothing to set.

Everything is planned from /proc and /sys alone; nothing is written here.
"""

import re
from collections.abc import Sequence

from nfvbed.errors import PrerequisiteError
from nfvbed.host.cgroups import unified_mount
from nfvbed.host.probes.host import Host
from nfvbed.records.preparation import Change, Plan, TopicPlan
from nfvbed.spec.cpulist import format_cpu_list

LATENCY = "dev/cpu_dma_latency"
"""As long as the writer of a latency has it open, cores take no idle state that they wake up from more slowly (PM
QoS)."""
_IDLE_DRIVER = "sys/devices/system/cpu/cpuidle/current_driver"
_CPUFREQ = "sys/devices/system/cpu/cpufreq"
_WORKQUEUES = "sys/devices/virtual/workqueue/cpumask"
_ONLINE = "sys/devices/system/cpu/online"
_MASK_BITS = 32
_OURS = "nfvbed-"
"""Groups with such names are nfvbed's own."""


def plan_topics(host: Host, online: Sequence[int], quiet: Sequence[int]) -> tuple[TopicPlan, ...]:
    """Plan all topics.

    Args:
        online: cores of the host.
        quiet: those of switch, generator and VNFs; what can be moved goes to the others.
    """
    others = tuple(core for core in online if core not in set(quiet))
    return (
        _governor(host),
        _idle_states(host),
        _interrupts(host, others),
        _workqueues(host, others),
        _processes(host, others),
        _switched_off(host, "page merging (KSM)", "sys/kernel/mm/ksm/run"),
        _switched_off(host, "NUMA balancing", "proc/sys/kernel/numa_balancing"),
        _switched_off(host, "lock-up watchdogs", "proc/sys/kernel/watchdog"),
    )


def mask_of(cores: Sequence[int]) -> str:
    """Return cores as the kernel's mask: hexadecimal words of 32 bits, the highest first."""
    bits = sum(1 << core for core in cores)
    words: list[int] = []
    while bits or not words:
        words.append(bits & (1 << _MASK_BITS) - 1)
        bits >>= _MASK_BITS
    return ",".join(f"{word:08x}" for word in reversed(words))


def _governor(host: Host) -> TopicPlan:
    topic = "CPU governor"
    policies = [f"{_CPUFREQ}/{name}" for name in host.names(_CPUFREQ) if name.startswith("policy")]
    if not policies:
        return _lacking(topic, f"no frequency scaling in /{_CPUFREQ}, as usual in a virtual machine")
    able = [p for p in policies if "performance" in (host.text(f"{p}/scaling_available_governors") or "").split()]
    if not able:
        return _lacking(topic, "no policy has a governor performance")
    return _plan(host, topic, "performance", [Change(path=f"{p}/scaling_governor", value="performance") for p in able])


def _idle_states(host: Host) -> TopicPlan:
    topic = "idle states"
    if not host.exists(LATENCY):
        return _lacking(topic, f"no /{LATENCY}")
    if (host.text(_IDLE_DRIVER) or "none") == "none":
        return _lacking(topic, "the kernel has no driver of idle states, as usual in a virtual machine")
    return TopicPlan(topic=topic, plan=Plan.SET, summary=f"/{LATENCY} held open with 0 us", holds=LATENCY)


def _interrupts(host: Host, others: tuple[int, ...]) -> TopicPlan:
    topic = "interrupts"
    numbers = sorted((name for name in host.names("proc/irq") if name.isdigit()), key=int)
    if not numbers:
        return _lacking(topic, "no interrupts in /proc/irq")
    if not others:
        return _no_core_left(topic)
    cores = format_cpu_list(others)
    changes = [Change(path=f"proc/irq/{n}/smp_affinity_list", value=cores, may_refuse=True) for n in numbers]
    changes.append(Change(path="proc/irq/default_smp_affinity", value=mask_of(others)))
    return _plan(host, topic, f"on cores {cores}", changes)


def _workqueues(host: Host, others: tuple[int, ...]) -> TopicPlan:
    topic = "unbound workqueues"
    if not host.exists(_WORKQUEUES):
        return _lacking(topic, f"no /{_WORKQUEUES}")
    if not others:
        return _no_core_left(topic)
    wanted = Change(path=_WORKQUEUES, value=mask_of(others))
    return _plan(host, topic, f"on cores {format_cpu_list(others)}", [wanted])


def _processes(host: Host, others: tuple[int, ...]) -> TopicPlan:
    """Keep what runs in the host's other cgroups off the quiet cores; what nfvbed makes meanwhile may use all."""
    topic = "other processes"
    root = _unified(host)
    if root is None or "cpuset" not in (host.text(f"{root}/cgroup.controllers") or "").split():
        return _lacking(topic, "no cpusets in cgroup version 2: without it, or with version 1 for them")
    if host.exists(f"{root}/cgroup.type"):
        return _lacking(topic, "in a container, whose cgroups are a part of the host's")
    groups = [
        f"{root}/{name}"
        for name in host.names(root)
        if not name.startswith(_OURS) and host.exists(f"{root}/{name}/cgroup.procs")
    ]
    if not groups:
        return _lacking(topic, f"no cgroup below /{root}: all processes are in the one of the host itself")
    if not others:
        return _no_core_left(topic)
    # A group with processes takes no empty list again, so that one which had none gets all cores.
    every = host.text(_ONLINE) or ""
    wanted = [
        Change(path=path, value=format_cpu_list(others), may_refuse=True, undone_by=host.text(path) or every)
        for path in (f"{group}/cpuset.cpus" for group in groups)
        if host.text(path) != format_cpu_list(others)
    ]
    enabled = f"{root}/cgroup.subtree_control"
    if "cpuset" not in (host.text(enabled) or "").split():
        wanted.insert(0, Change(path=enabled, value="+cpuset", undone_by="-cpuset"))
    return TopicPlan(
        topic=topic,
        plan=Plan.SET,
        summary=f"{len(groups)} cgroups on cores {format_cpu_list(others)}, nfvbed and the command in one of their own",
        changes=tuple(wanted),
        group=f"{root}/{_OURS}prepared",
    )


def own_group(host: Host, root: str) -> str:
    """Return the cgroup of version 2 that this process is in, a path as `root` is."""
    for line in (host.text("proc/self/cgroup") or "").splitlines():
        hierarchy, _, path = line.split(":", 2)
        if hierarchy == "0":
            return f"{root}{path}".rstrip("/")
    return root


def _unified(host: Host) -> str | None:
    try:
        return str(unified_mount(host.text("proc/mounts") or "")).lstrip("/")
    except PrerequisiteError:
        return None


def _switched_off(host: Host, topic: str, path: str) -> TopicPlan:
    if not host.exists(path):
        return _lacking(topic, f"no /{path}")
    return _plan(host, topic, "off", [Change(path=path, value="0")])


def _plan(host: Host, topic: str, summary: str, wanted: Sequence[Change]) -> TopicPlan:
    """Return what of the wanted changes is not so yet."""
    changes = tuple(change for change in wanted if not _is_so(host, change))
    if not changes:
        return TopicPlan(topic=topic, plan=Plan.ALREADY, summary=summary)
    return TopicPlan(topic=topic, plan=Plan.SET, summary=summary, changes=changes)


def _is_so(host: Host, change: Change) -> bool:
    has = host.text(change.path)
    if has is None:
        return change.may_refuse  # It is gone, or may not be read.
    return has == change.value or (_as_mask(has) is not None and _as_mask(has) == _as_mask(change.value))


def _as_mask(text: str) -> int | None:
    """Return a mask's bits; None: it is none. `3` and `00000003` are one."""
    return int(text.replace(",", ""), 16) if re.fullmatch(r"[0-9a-f]+(,[0-9a-f]{8})*", text) else None


def _lacking(topic: str, why: str) -> TopicPlan:
    return TopicPlan(topic=topic, plan=Plan.LACKING, summary=why)


def _no_core_left(topic: str) -> TopicPlan:
    return _lacking(topic, "switch, generator and VNFs need all cores: there is none to move them to")
