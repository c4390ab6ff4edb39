"""Records of a run over twenty variants, as `demo-all` leaves them. All numbers are made up."""

import dataclasses

from nfvbed.compare.rows.rundata import RunData
from nfvbed.records import CellRole, PortKind, Status
from tests.sample_records import BRIDGE, CEILINGS, DPDK, OVS, XDP, Scenario, System, build

KERNEL = {
    "linux-bridge": 1.08e6, "linux-bridge-no-offloads": 1.05e6, "linux-bridge-vhost": 0.9e6, "macvtap-bridge": 0.98e6,
    "macvtap-passthru": 1.01e6, "ovs-afxdp": 0.92e6, "ovs-afxdp-interrupt": 0.71e6, "xdp-native": 3.9e6,
    "xdp-generic": 1.4e6, "ovs-kernel": 0.03e6, "emulated-nic": 0.02e6,
}  # fmt: skip
USERSPACE = {"ovs-dpdk": 11.8e6, "ovs-dpdk-smc": 11.6e6, "ovs-dpdk-memif": 13.6e6, "vpp": 12.9e6, "vpp-bridge": 9.4e6}
UNSUPPORTED = {
    "sriov": "no NIC with virtual functions (no device has sriov_totalvfs)",
    "vale": "netmap is not installed (no /dev/netmap)",
    "lagopus": "Lagopus is not installed (no lagopus on PATH)",
    "linux-bridge-vhost-net": "the kernel has no vhost-net (/dev/vhost-net: no such file)",
}
EMULATED = ("ovs-kernel", "emulated-nic")
NO_P2P = ("macvtap-bridge", "macvtap-passthru")
PATHS = (
    ("p2p", 0, (64, 1518)),
    ("pvp", 1, (64, 1518)),
    ("pvvp", 2, (64, 1518)),
    ("pv3p", 3, (64,)),
    ("pv4p", 4, (64,)),
)


def _system(name: str, rate: float, template: System, path: tuple[str, int, tuple[int, ...]]) -> System:
    topology, vnfs, sizes = path
    near = rate / (1 + 0.9 * vnfs)
    capacity = {size: (near * (1 if size == 64 else 0.6), near * (0.5 if size == 64 else 0.3)) for size in sizes}
    vnf, resolved = ("native", "process-bridge" if template is BRIDGE else "process-io") if vnfs else ("", "")
    return dataclasses.replace(
        template,
        name=name,
        capacity=capacity,
        topology=topology,
        vnf=vnf,
        vnf_resolved=resolved,
        emulated=name in EMULATED,
        latency_ns=9_000 * (1 + vnfs) * 1e6 / max(near, 3e5),
    )


def many_variants(rounds: int = 4) -> RunData:
    """Build a run: measured, unsupported, not applicable, skipped and blocked cells."""
    rates = {**KERNEL, **USERSPACE, **dict.fromkeys(UNSUPPORTED, 1e6)}
    systems: list[System] = []
    blocked: list[tuple[str, Status, str]] = []
    for name, rate in sorted(rates.items()):
        template = OVS if name in USERSPACE else BRIDGE
        for path in PATHS:
            system = _system(name, rate, template, path)
            systems.append(system)
            hole = _hole(name, path[0])
            if hole:
                blocked += [(f"{name}/{system.path}/{size}", *hole) for size in system.capacity]
    ceilings = (
        *CEILINGS,
        System("reference:veth", PortKind.VETH, CellRole.REFERENCE, {64: (0.9e6, 0.7e6), 1518: (0.7e6, 0.5e6)}, XDP),
        System("vnf:vhost-user", PortKind.VHOST_USER, CellRole.VNF, {64: (6.4e6, 6.4e6), 1518: (4.1e6, 4.1e6)}, DPDK,
               topology="pvp", vnf="process-io", vnf_resolved="process-io"),
    )  # fmt: skip
    return build(Scenario(systems=(*systems, *ceilings), rounds=rounds, far_rounds=(), blocked=tuple(blocked)))


def _hole(name: str, topology: str) -> tuple[Status, str] | None:
    if name in UNSUPPORTED:
        return Status.UNSUPPORTED, UNSUPPORTED[name]
    if name in NO_P2P and topology == "p2p":
        why = "frames of one macvtap port reach another one only through a VNF"
        return Status.NOT_APPLICABLE, f"variant {name} has no topology p2p: {why}"
    if name in EMULATED and topology in ("pv3p", "pv4p"):
        return (
            Status.SKIPPED,
            "experiment demo-all leaves longer chains out where a deployment takes long (chains.slow)",
        )
    if name == "xdp-generic" and topology == "pv4p":
        return Status.BLOCKED, "budget: 0 of 4 repetitions in class near; more would not have ended within 1600 s"
    return None
