"""Probes of the kernel: namespaces, control groups, threaded NAPI."""

from nfvbed.host import fixes
from nfvbed.host.probes.commands import ask
from nfvbed.host.probes.host import RECORDED, Host
from nfvbed.records.findings import Finding, State


def probe_namespaces(host: Host) -> Finding:
    """Make a network namespace that ends with the probe."""
    topic = "network namespaces"
    if not host.live:
        there = host.exists("proc/self/ns/net")
        state = State.UNKNOWN if there else State.ABSENT
        return Finding(topic=topic, state=state, summary="in the kernel" if there else "none", probed=RECORDED)
    answer = ask(["unshare", "--net", "true"])
    if answer is not None and answer[0] == 0:
        return Finding(topic=topic, state=State.PRESENT, summary="one could be made", probed="made one")
    observed = answer[1].splitlines()[-1:] if answer else ["unshare is missing"]
    return Finding(
        topic=topic,
        state=State.ABSENT,
        summary=f"none could be made: {' '.join(observed)}",
        probed="made one",
        fix="run as root; in a container, with CAP_SYS_ADMIN",
    )


_ALL_CONTROLLERS = (
    "boot with all controllers in version 2 (systemd: systemd.unified_cgroup_hierarchy=1), for cpu, cpuset and memory:"
    " nothing else on this host may need version 1 then, as old container engines do; a container has those that its"
    " host leaves it"
)


def probe_cgroup_v2(host: Host) -> Finding:
    """Find out whether control groups version 2 are mounted, and with which controllers."""
    lines = [line.split() for line in (host.text("proc/mounts") or "").splitlines()]
    places = [fields[1] for fields in lines if len(fields) > 2 and fields[2] == "cgroup2"]
    if not places:
        fix = fixes.CGROUP_V2
        summary = "not mounted"
        return Finding(topic="cgroup v2", state=State.ABSENT, summary=summary, probed="read /proc/mounts", fix=fix)
    controllers = host.text(f"{places[0]}/cgroup.controllers") or ""
    whole = {"cpu", "cpuset", "memory"} <= set(controllers.split())
    return Finding(
        topic="cgroup v2",
        state=State.PRESENT if whole else State.LIMITED,
        summary=f"{places[0]}, controllers: {controllers or 'none'}",
        probed="read /proc/mounts and cgroup.controllers",
        fix="" if whole else _ALL_CONTROLLERS,
    )


def probe_threaded_napi(host: Host) -> Finding:
    """Find out whether interfaces can receive in threads of their own (kernel 5.12 or later), visible for pinning.

    A container does not see them: it has process ids of its own.
    """
    has = any(host.exists(f"sys/class/net/{name}/threaded") for name in host.names("sys/class/net"))
    if has and _hides_the_kernels_threads(host):
        summary = "interfaces have the switch; the kernel's threads are not seen here"
        fix = fixes.KERNEL_THREADS
        return Finding(
            topic="threaded NAPI", state=State.LIMITED, summary=summary, probed="read sysfs and /proc", fix=fix
        )
    return Finding(
        topic="threaded NAPI",
        state=State.PRESENT if has else State.ABSENT,
        summary="interfaces have the switch" if has else "interfaces have no such switch",
        probed="read sysfs",
        fix="" if has else "boot kernel 5.12 or later; until then variants use RPS",
    )


def _hides_the_kernels_threads(host: Host) -> bool:
    """Return whether process 2 is not the parent of all kernel threads; a recorded tree may lack it."""
    return host.text("proc/2/comm") != "kthreadd" and (host.live or host.exists("proc/2"))
