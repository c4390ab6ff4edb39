"""Probes of the processors: model, SMT, isolation, frequency scaling."""

import re

from nfvbed.host.probes.findings import CpuFinding, GovernorFinding, IsolationFinding, SmtFinding
from nfvbed.host.probes.host import Host, parse_cpu_list
from nfvbed.records.findings import State
from nfvbed.spec.cpulist import format_cpu_list

PACKET_FLAGS = ("sse4_2", "avx2", "avx512f", "avx512bw", "constant_tsc", "nonstop_tsc", "pdpe1gb", "vmx", "svm")
"""Vector units that DPDK and OVS choose code by, a TSC that can be a clock, 1 GiB pages, virtualisation."""
_CPU = "sys/devices/system/cpu"
_SMT_FIX = (
    "name cores in the site's file (arrangement) whose siblings have nothing to do; on a host that is yours alone: echo"
    f" off > /{_CPU}/smt/control, which takes a thread of each core from all that runs there, until the next start"
)
_ISOLATION_FIX = (
    "boot with isolcpus=CORES, where the kernel has CONFIG_NO_HZ_FULL also nohz_full=CORES: nothing but what is pinned"
    " runs on them then, also of others on this host; without it other work can disturb a trial"
)
_GOVERNOR_FIX = (
    f"echo performance | tee /{_CPU}/cpufreq/policy*/scaling_governor, and switch turbo off: echo 1 >"
    f" /{_CPU}/intel_pstate/no_turbo, or echo 0 > /{_CPU}/cpufreq/boost, whichever is there; until the next"
    " start, for all of this host"
)


def probe_cpu(host: Host) -> CpuFinding:
    """Read model, topology, flags and mitigations."""
    blocks = [_fields(block) for block in (host.text("proc/cpuinfo") or "").split("\n\n") if block.strip()]
    first = blocks[0] if blocks else {}
    flags = set(first.get("flags", "").split())
    sockets = {block.get("physical id", "0") for block in blocks}
    cores = {(block.get("physical id", "0"), block.get("core id", str(index))) for index, block in enumerate(blocks)}
    folder = f"{_CPU}/vulnerabilities"
    model = first.get("model name", "unknown")
    hypervisor = "hypervisor" in flags
    shape = f"{len(sockets)} socket(s), {len(cores)} cores, {len(blocks)} threads"
    enough = len(cores) >= 2
    return CpuFinding(
        topic="CPU",
        state=State.PRESENT if enough else State.LIMITED,
        summary=f"{model}: {shape}{', virtual' if hypervisor else ''}",
        probed="read /proc/cpuinfo",
        fix="" if enough else "use a machine with two cores: switch and generator need one each",
        model=model,
        sockets=len(sockets),
        cores=len(cores),
        threads=len(blocks),
        flags=tuple(flag for flag in PACKET_FLAGS if flag in flags),
        hypervisor=hypervisor,
        mitigations={name: host.text(f"{folder}/{name}") or "" for name in host.names(folder)},
    )


def _fields(block: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in block.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def probe_smt(host: Host) -> SmtFinding:
    """Read which threads share a core."""
    lists = {
        parse_cpu_list(host.text(f"{_CPU}/{name}/topology/thread_siblings_list"))
        for name in host.names(_CPU)
        if re.fullmatch(r"cpu\d+", name)
    }
    siblings = tuple(sorted(group for group in lists if len(group) > 1))
    active = bool(siblings)
    shown = "; ".join(format_cpu_list(group) for group in siblings[:4]) + ("; ..." if len(siblings) > 4 else "")
    return SmtFinding(
        topic="SMT",
        state=State.LIMITED if active else State.PRESENT,
        summary=f"on: threads {shown} share a core" if active else "off: every thread has a core of its own",
        probed="read sysfs topology",
        fix=_SMT_FIX if active else "",
        active=active,
        siblings=siblings,
    )


def probe_isolation(host: Host) -> IsolationFinding:
    """Read which cores the scheduler and the timer tick leave alone."""
    isolated = parse_cpu_list(host.text(f"{_CPU}/isolated"))
    nohz_full = parse_cpu_list(host.text(f"{_CPU}/nohz_full"))
    return IsolationFinding(
        topic="isolated cores",
        state=State.PRESENT if isolated else State.LIMITED,
        summary=f"isolcpus {format_cpu_list(isolated) or 'none'}, nohz_full {format_cpu_list(nohz_full) or 'none'}",
        probed="read sysfs",
        fix="" if isolated else _ISOLATION_FIX,
        isolated=isolated,
        nohz_full=nohz_full,
    )


def probe_governor(host: Host) -> GovernorFinding:
    """Read frequency scaling and turbo."""
    policies = [name for name in host.names(f"{_CPU}/cpufreq") if name.startswith("policy")]
    found = {host.text(f"{_CPU}/cpufreq/{name}/scaling_governor") or "unknown" for name in policies}
    governors = tuple(sorted(found))
    boost, no_turbo = host.number(f"{_CPU}/cpufreq/boost"), host.number(f"{_CPU}/intel_pstate/no_turbo")
    turbo = bool(boost) if boost is not None else None if no_turbo is None else not no_turbo
    if not governors:
        state, summary = State.ABSENT, "no frequency scaling is visible (usual in a virtual machine)"
    else:
        state = State.PRESENT if governors == ("performance",) and not turbo else State.LIMITED
        summary = f"{', '.join(governors)}, turbo {'unknown' if turbo is None else 'on' if turbo else 'off'}"
    return GovernorFinding(
        topic="CPU governor",
        state=state,
        summary=summary,
        probed="read sysfs",
        fix=_GOVERNOR_FIX if state is State.LIMITED else "",
        governors=governors,
        turbo=turbo,
    )
