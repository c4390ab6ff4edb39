"""What can be done about a warning, by what was done: the host, the arrangement of cores, the variant and its VNFs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from nfvbed.compare.advice.advice import Advice, advice_for
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.records import PortKind, QualityWarning, Record, Status
from nfvbed.spec.cpulist import format_cpu_list

EXPLAINING: Final = (
    QualityWarning.THERMAL_THROTTLING,
    QualityWarning.FREQUENCY_CHANGED,
    QualityWarning.CPU_STOLEN,
    QualityWarning.CORE_SLOWED,
    QualityWarning.CORES_SHARED,
)
"""Warnings that make rates scatter, the plainest first."""


class MeasuredConditions(Record):
    """What a row was measured with; what is not stored is empty."""

    row: CellSummary
    run_status: Status | None = None
    cores: int = 0
    """Cores that the host lets nfvbed use; 0: not known."""
    nodes: int = 0
    isolated: tuple[int, ...] = ()
    virtual: bool = False
    governors: tuple[str, ...] = ()
    switch_cores: tuple[int, ...] = ()
    generator_core: int | None = None
    vnf_cores: tuple[tuple[int, ...], ...] = ()
    """Cores of each VNF."""
    vnf_kind: str = ""

    @property
    def working(self) -> tuple[int, ...]:
        """Cores of switch, generator and VNFs."""
        generator = () if self.generator_core is None else (self.generator_core,)
        return tuple(sorted({*self.switch_cores, *generator, *(core for cores in self.vnf_cores for core in cores)}))

    @property
    def wanted(self) -> int:
        """Cores that give each role its own: switch, generator, VNFs and management."""
        return len(self.switch_cores) + 1 + sum(max(len(cores), 1) for cores in self.vnf_cores) + 1

    @property
    def generator_shares(self) -> bool:
        """Whether a VNF ran on the generator's core."""
        return any(self.generator_core in cores for cores in self.vnf_cores)


def done(
    row: CellSummary, host: Mapping[str, Any], rig: Mapping[str, Any], run_status: Status | None
) -> MeasuredConditions:
    """Return what a row was measured with, from its stored descriptions.

    Args:
        host: the description that its host hash stands for.
        rig: the description that its rig hash stands for.
        run_status: how its run ended; None: not yet.
    """
    topology, cpu = _described(host, "topology"), _described(host, "cpu")
    arrangement, vnf = _described(rig, "arrangement"), _described(rig, "vnf")
    return MeasuredConditions(
        row=row,
        run_status=run_status,
        cores=len(topology.get("allowed") or ()),
        nodes=len([node for node in topology.get("nodes") or () if node]),
        isolated=tuple(topology.get("isolated") or ()),
        virtual=cpu.get("hypervisor") == "yes",
        governors=tuple(host.get("governor") or ()),
        switch_cores=tuple(arrangement.get("switch_cores") or ()),
        generator_core=arrangement.get("generator_core"),
        vnf_cores=tuple(tuple(cores) for cores in vnf.get("cores") or ()),
        vnf_kind=str(vnf.get("kind") or ""),
    )


def _described(what: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return a part of a description; nothing where it is not there, or only named (a simulated rig)."""
    part = what.get(key)
    return part if isinstance(part, dict) else {}


def advice_on(
    rows: Sequence[CellSummary], tests: Sequence[MeasuredTest], data: Sequence[RunData]
) -> dict[QualityWarning, Advice]:
    """Return the advice on every limit and warning that rows or tests carry, in the order of the enum.

    Args:
        tests: those of their cells.
    """
    runs = {entry.run.id: entry for entry in data}
    carried: dict[QualityWarning, list[MeasuredConditions]] = {}
    for row in rows:
        entry = runs[row.run]
        what = done(row, entry.host, entry.rigs.get(row.rig_hash, {}), entry.run.status)
        of_tests = (kind for test in tests if (test.run, test.cell) == (row.run, row.cell) for kind in test.warnings)
        of_row = [*(limit.kind for limit in row.limits), *(warning.kind for warning in row.warnings)]
        for kind in dict.fromkeys((*of_row, *of_tests)):
            carried.setdefault(kind, []).append(what)
    return {kind: advise(kind, carried[kind]) for kind in QualityWarning if kind in carried}


def advise(kind: QualityWarning, carriers: Sequence[MeasuredConditions]) -> Advice:
    """Return the advice on a warning for the rows that carry it; rows that want different things get them all.

    Args:
        carriers: the rows that carry it; without any the advice is the general one.
    """
    general = advice_for(kind)
    remedy = REMEDIES.get(kind)
    if remedy is None or not carriers:
        return general
    reported = dict.fromkeys(remedy(entry) or general.remedy for entry in carriers)
    return general.model_copy(update={"remedy": " ".join(reported)})


def _cores_shared(what: MeasuredConditions) -> str:
    if not what.cores or not what.working:
        return ""
    where = f"{what.row.variant}{' with its VNFs' if what.vnf_cores else ''}"
    if what.cores < what.wanted:
        return (
            f"This host has {what.cores} cores, and {where} wants {what.wanted} (switch, generator, each VNF, "
            "management): use a larger host; until then compare only rows with the same arrangement."
        )
    free = what.cores - len(what.working)
    return (
        f"This host has {what.cores} cores, {free} of them without work in {where}: name cores for each role in the "
        "site's file (arrangement), or take a flavor with cpu_policy: dedicated."
    )


def _offloads_on(what: MeasuredConditions) -> str:
    if what.vnf_kind == "vm":
        return (
            "Take the offloads from the guest's NICs (`offloads: false` of the VNF in the experiment, --no-offloads): "
            "its tap then completes checksums before the guest has the frame."
        )
    if what.row.port_kind is PortKind.VETH:
        return (
            f"Turn offloads off on the VNF's ports (`offloads: false` of the VNF in the experiment, --no-offloads), or "
            f"on all ports of {what.row.variant} (`options: {{offloads: false}}` in its file): the kernel then "
            "completes checksums before the VNF has the frame."
        )
    return ""


def _unsent(what: MeasuredConditions) -> str:
    if what.generator_shares:
        return (
            f"A VNF of {what.row.variant} ran on the generator's core {what.generator_core} and kept it from sending: "
            "use a host with a core for each of them, or a lower load."
        )
    if what.generator_core is not None and 0 < what.cores < what.wanted:
        return (
            f"Lower the load, or use a host with more cores: of {what.cores}, the generator's core "
            f"{what.generator_core} also serves the switch's management and nfvbed itself."
        )
    if what.generator_core is not None and what.generator_core not in what.isolated:
        return (
            f"Lower the load, or see what else ran on the generator's core {what.generator_core}; it is not isolated "
            f"(boot with isolcpus={_isolated_with(what, (what.generator_core,))})."
        )
    return ""


def _isolated_with(what: MeasuredConditions, cores: Sequence[int]) -> str:
    """Return cores with those that are isolated already: the kernel's parameter is one list, and names them all."""
    return format_cpu_list(tuple(sorted({*what.isolated, *cores})))


def _cpu_stolen(what: MeasuredConditions) -> str:
    open_cores = [core for core in what.working if core not in what.isolated]
    named = _isolated_with(what, open_cores)
    isolate = f"Isolate the working cores (boot with isolcpus={named} nohz_full={named})" if open_cores else ""
    if what.cores and len(open_cores) >= what.cores:
        # Isolating all cores leaves none for the rest of the machine.
        isolate = f"Stop other work: all {what.cores} cores of this host work in a trial, and none is left for it"
    if what.virtual:
        rest = "the hypervisor may take cores as well: measure more repetitions, or on a bare-metal host."
        return f"{isolate}; {rest}" if isolate else f"This is a virtual machine: {rest}"
    return f"{isolate}." if isolate else "Move interrupts away from the working cores (irqaffinity)."


def _frequency_changed(what: MeasuredConditions) -> str:
    others = [name for name in what.governors if name != "performance"]
    if others:
        return (
            f"The governor is {', '.join(others)}: set it to performance and switch turbo off (nfvbed doctor says how, "
            "and what that means for others on this host), and measure again."
        )
    if what.governors:
        return (
            "The governor is performance already: switch turbo off (cpufreq/boost or intel_pstate/no_turbo), and "
            "measure again."
        )
    return "This machine does not let its frequency be governed: measure more repetitions, or on a host that does."


def _wrong_numa_node(what: MeasuredConditions) -> str:
    if what.generator_core is None:
        return ""
    cores = ", ".join(str(core) for core in what.switch_cores)
    return (
        f"The switch is on core {cores}, the generator on core {what.generator_core} of {what.nodes} nodes: name cores "
        "of the node that has the NIC in the site's file (arrangement), and reserve hugepages on that node "
        "(/sys/devices/system/node/nodeN/hugepages)."
    )


def _vnf_limited(what: MeasuredConditions) -> str:
    if not what.row.vnf_resolved.startswith("process-io"):
        return ""
    shares = " It shares its core with the generator: a host with more cores lifts this limit." * what.generator_shares
    return f"No VNF is lighter than testpmd io: read the row as a lower bound.{shares}"


def _generator_limited(what: MeasuredConditions) -> str:
    if what.generator_shares:
        return (
            f"A VNF of {what.row.variant} had a part of the generator's core: use a host with a core for each, or read "
            "the row as a lower bound."
        )
    return f"The generator has one core for its {what.row.port_kind.value} ports: read the row as a lower bound."


def _placement_changed(what: MeasuredConditions) -> str:
    if what.virtual or not what.cores:
        return ""
    return "This is no virtual machine: see whether the working threads stayed on their cores; else allow more rounds."


def _too_few(what: MeasuredConditions) -> str:
    if what.run_status in (Status.BLOCKED, Status.INTERRUPTED, Status.FAILED, None):
        return f"Go on with it: nfvbed run --resume {what.row.run}; allow more rounds or time where it ended for that."
    return "Run again with more rounds (--max-rounds, --time-limit); a survey needs fewer, and makes no verdicts."


def _unstable(what: MeasuredConditions) -> str:
    carried = {warning.kind for warning in what.row.warnings}
    first = next((kind for kind in EXPLAINING if kind in carried), None)
    if first is not None:
        return f"{what.row.variant} also carries {first.value}, which makes rates scatter: fix that first."
    return ""


REMEDIES: Final[Mapping[QualityWarning, Callable[[MeasuredConditions], str]]] = {
    QualityWarning.GENERATOR_LIMITED: _generator_limited,
    QualityWarning.VNF_LIMITED: _vnf_limited,
    QualityWarning.PLACEMENT_CHANGED: _placement_changed,
    QualityWarning.UNSENT: _unsent,
    QualityWarning.CPU_STOLEN: _cpu_stolen,
    QualityWarning.FREQUENCY_CHANGED: _frequency_changed,
    QualityWarning.WRONG_NUMA_NODE: _wrong_numa_node,
    QualityWarning.OFFLOADS_ON: _offloads_on,
    QualityWarning.UNSTABLE: _unstable,
    QualityWarning.TOO_FEW_REPETITIONS: _too_few,
    QualityWarning.CORES_SHARED: _cores_shared,
}
"""Empty text: nothing is known that would make the general remedy better."""
