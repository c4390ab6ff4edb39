"""SR-IOV: virtual functions of one NIC, joined by the switch in the NIC."""

import os
import platform
from pathlib import Path

from nfvbed.dataplanes.dataplane import DataPlane, DeployRequest
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.sriov import choice, functions, representors, reset, vfs
from nfvbed.dataplanes.sriov.choice import choose
from nfvbed.dataplanes.sriov.functions import FunctionRecord, FunctionState
from nfvbed.dataplanes.sriov.options import SriovOptions
from nfvbed.dataplanes.sriov.plan import FunctionPlan, cables, plan_functions
from nfvbed.dataplanes.sriov.settings import NetlinkVfLink
from nfvbed.dataplanes.wiring import require_vnf, vnf_ports
from nfvbed.errors import InternalError, SwitchDiedError, UnsupportedError
from nfvbed.host import fixes
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.fitness import Fitness
from nfvbed.host.network import links, veth
from nfvbed.host.nics import mellanox, netdevs
from nfvbed.host.nics.pf import PfPort, discover
from nfvbed.host.nics.vfio import vfio_reason
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import (
    NOT_SEPARABLE,
    CounterSource,
    Deployment,
    GeneratorPort,
    Hop,
    HopKind,
    PortKind,
    QualityWarning,
    SwitchCounters,
    VnfPort,
    WorkThread,
)
from nfvbed.spec.layout import End, layout
from nfvbed.spec.variant import Variant, options_of

_LEAST = "p2p"
"""The topology that a probe asks for."""


class Sriov(DataPlane):
    """Virtual functions of one port: two of the generator's, two of each VNF's."""

    kind = "sriov"

    def probe(self, variant: Variant) -> Fitness:
        """Read what the NICs and their drivers say. Nothing is created: that takes the links of a NIC down."""
        options = options_of(variant, SriovOptions)
        if os.geteuid() != 0:
            raise UnsupportedError("virtual functions can only be made by root", fix="run it with sudo")
        chosen = choose(options, discover())
        _check(options, chosen, plan_functions(layout(_LEAST), options, None))
        where = f"{chosen.port.name} ({chosen.function.address}, {chosen.function.driver})"
        reason = f"{where} says that it can have {chosen.function.total_vfs} functions; none was made to try"
        return Fitness(reason=reason)

    def deploy(self, request: DeployRequest) -> Deployment:
        """Create the functions, apply their settings, bind their drivers, and hand them to their users."""
        options = options_of(request.variant, SriovOptions)
        require_vnf(request.layout, request.vnf, request.variant)
        plans = plan_functions(request.layout, options, request.vnf)
        chosen = choose(options, discover())
        _check(options, chosen, plans)
        warnings = _numa_warnings(options, chosen, request.arrangement.generator_core)
        on, steps = functions.nic(chosen, request.workspace.ledger), Steps()
        with steps.timed("deploy.functions"):
            netdevs.bring_up(chosen.port.name, on.ledger)
            found = functions.create(on, options.functions or len(plans), len(plans))
            representors.enter_mode(chosen, options.embedded_switch, on.ledger)
        with steps.timed("deploy.settings"):
            laid_down = functions.lay_down(on, plans)
        with steps.timed("deploy.drivers"):
            drivers = functions.give_drivers(on, plans, found)
            spaces = functions.take_netdevs(on, plans, found, _Spaces(request.workspace).of)
        with steps.timed("deploy.links"):
            if options.embedded_switch == "switchdev":
                representors.join(chosen.port.name, cables(request.layout, plans), on.ledger)
            for space in sorted(set(spaces.values())):
                names = tuple(one.netdev for one in plans if spaces.get(one.index) == space)
                veth.prepare(space, names)
                netdevs.wait_for_carrier(space, names)
        records = {
            one.name: functions.record(one, found[one.index].address, drivers[one.index], spaces, laid_down[one.index])
            for one in plans
        }
        return Deployment(
            id=request.workspace.id,
            variant=request.variant.name,
            site="lab",
            topology=request.layout.name,
            ports=tuple(_generator_port(records[f"p{end}"], end, chosen) for end in request.layout.outside),
            vnf_ports=vnf_ports(request.layout, lambda end: _vnf_port(end, plans, records)),
            run_directory=str(request.workspace.directory),
            control=_state(chosen, records).as_control(),
            versions={"linux": platform.release(), "pf_driver": chosen.function.driver or ""},
            steps=steps.done,
            warnings=warnings,
        )

    def verify(self, deployment: Deployment) -> None:
        """Check that the NIC's link is up, and that its functions are there with their drivers and devices."""
        state = FunctionState.of(deployment)
        own = links.counters(state.pf_interface)
        if own is None or not own.up:
            raise SwitchDiedError(
                "the physical function is down", where=state.pf_interface, fix="see who set it down; deploy again"
            )
        now = {one.address: one.driver for one in vfs.read_functions(state.pf_address)}
        for record in _records(deployment).values():
            if now.get(record.address) != record.driver:
                raise SwitchDiedError(
                    "a virtual function is gone or has another driver",
                    where=f"{record.name}, {record.address}",
                    observed=f"driver {now.get(record.address, 'none: no such function')}, was {record.driver}",
                    fix="see who changed sriov_numvfs or its driver; deploy again",
                )
            if record.netns and not veth.read(record.netns, (record.netdev,))[record.netdev].up:
                raise SwitchDiedError("a virtual function is down", where=f"{record.name} ({record.netdev})")

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Read what functions with network devices received; the switch is in the NIC, and no CPU works for it."""
        counted = _counted(deployment)
        if not counted:
            return None
        return SwitchCounters(
            packets=sum(hop.rx_packets or 0 for hop in counted.values()),
            busy_cycles=NOT_SEPARABLE,
            source="the switch is in the NIC: no cycles of this machine",
            raw={name: hop.model_dump(exclude={"kind", "port"}) for name, hop in counted.items()},
        )

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """Return the functions in the order of the path; those of DPDK or a guest are counted by their users alone."""
        counted = _counted(deployment)
        return tuple(counted.get(name, _hop(record)) for name, record in _records(deployment).items())

    def reset(self, deployment: Deployment) -> ResetReport:
        """Set the physical function down and up: the NIC is reset, with the switch in it."""
        records = tuple(_records(deployment).values())
        reset.check(records)
        interface = FunctionState.of(deployment).pf_interface
        ledger = Workspace.attach(Path(deployment.run_directory)).ledger
        return reset.execute(interface, records, NetlinkVfLink(interface), ledger)

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return no threads: the NIC switches."""
        return ()


class _Spaces:
    """Makes each namespace when it is first asked for."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._made: dict[str, str] = {}

    def of(self, name: str) -> str:
        if name not in self._made:
            self._made[name] = self._workspace.network_namespace(name)
        return self._made[name]


def _check(options: SriovOptions, chosen: PfPort, plans: tuple[FunctionPlan, ...]) -> None:
    wanted = max(options.functions or 0, len(plans))
    choice.check(options, chosen, len(plans))
    if options.functions is not None and options.functions < len(plans):
        raise UnsupportedError(
            f"the topology needs {len(plans)} virtual functions",
            where="options.functions",
            observed=str(options.functions),
            fix="leave functions out, or a shorter chain",
        )
    vfs.check_number(chosen.function, wanted)
    representors.check_mode(chosen, options.embedded_switch)
    if any(_needs_vfio(chosen, one) for one in plans):
        reason = vfio_reason()
        if reason:
            raise UnsupportedError(
                "functions cannot be given to DPDK or a guest",
                where="vfio-pci",
                observed=reason,
                fix=f"{fixes.VFIO}; or attach: kernel",
            )


def _needs_vfio(chosen: PfPort, one: FunctionPlan) -> bool:
    return one.use == "guest" or (one.use == "dpdk" and not mellanox.keeps_kernel_driver(chosen.function))


def _numa_warnings(options: SriovOptions, chosen: PfPort, core: int) -> tuple[QualityWarning, ...]:
    here, there = read_topology().node_of(core), chosen.function.numa_node
    if there is None or there == here:
        return ()
    if options.local_numa_only:
        raise UnsupportedError(
            "the NIC is on another NUMA node than the generator",
            where=f"{chosen.port.name}, {chosen.function.address}",
            observed=f"NIC: node {there}, core {core}: node {here}",
            fix=f"arrange the site's cores on node {there}, take another NIC, or local_numa_only: false",
        )
    return (QualityWarning.WRONG_NUMA_NODE,)


def _state(chosen: PfPort, records: dict[str, FunctionRecord]) -> FunctionState:
    inner = [record.mac for record in records.values() if record.vnf is not None]
    return FunctionState(
        pf_interface=chosen.port.name,
        pf_address=chosen.function.address,
        functions=tuple(records.values()),
        destination_macs=(inner[0], inner[-1]) if inner else None,
    )


def _generator_port(record: FunctionRecord, number: int, chosen: PfPort) -> GeneratorPort:
    if record.use == "kernel":
        spec = f"net_af_packet{number},iface={record.netdev},qdisc_bypass=1"
        return GeneratorPort(engine="dpdk", spec=spec, kind=PortKind.VF, netns=record.netns)
    device = mellanox.dpdk_device(record.address, chosen, record.mac)
    return GeneratorPort(engine="dpdk", spec=f"pci:{device}", kind=PortKind.VF)


def _vnf_port(end: End, plans: tuple[FunctionPlan, ...], records: dict[str, FunctionRecord]) -> VnfPort:
    name = next(one.name for one in plans if one.end == end)
    if end.vnf is None:
        raise InternalError("an outside end is no VNF's port")
    record = records[name]
    return VnfPort(
        name=name,
        vnf=end.vnf,
        port=end.port,
        kind=PortKind.VF,
        address=record.netdev or record.address,
        netns=record.netns or None,
        mac=record.mac,
    )


def _records(deployment: Deployment) -> dict[str, FunctionRecord]:
    return FunctionState.of(deployment).by_name


def _counted(deployment: Deployment) -> dict[str, Hop]:
    """Return the functions with network devices as ports of the switch: it receives what their users send."""
    found = {}
    for name, record in _records(deployment).items():
        if record.netns:
            user = veth.read(record.netns, (record.netdev,))[record.netdev]
            drops = {"rx_dropped": user.tx_dropped, "tx_dropped": user.rx_dropped, "rx_errors": user.tx_errors}
            drops |= {"tx_errors": user.rx_errors}
            counts = {"rx_packets": user.tx_packets, "tx_packets": user.rx_packets, "drops": drops}
            counts |= {"counted_by": CounterSource.LINUX}
            found[name] = _hop(record).model_copy(update=counts)
    return found


def _hop(record: FunctionRecord) -> Hop:
    """Return a function as a port of the switch, nothing counted."""
    title = f"{record.name}: vf {record.index} ({record.netdev or record.address})"
    return Hop(name=title, kind=HopKind.SWITCH_PORT, vnf=record.vnf, port=record.port)
