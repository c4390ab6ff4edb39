"""The site of simulated variants: nothing is deployed or measured, and the answer is known."""

from collections.abc import Callable, Sequence
from typing import Any

from nfvbed import __version__
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.tables import ForwardingTable, LearningTable
from nfvbed.errors import InternalError, UnsupportedError
from nfvbed.records import (
    CellRole,
    Deployment,
    GeneratorPlace,
    GeneratorPort,
    Hop,
    PortKind,
    Readiness,
    Support,
    SwitchCounters,
    VnfHandle,
    VnfKind,
    WorkThread,
)
from nfvbed.records.readings import Part, Reading, Unavailable
from nfvbed.sites.disruption import Disruption, DisruptionReport
from nfvbed.sites.simulated.tables import SimulatedEntries, SimulatedLearning
from nfvbed.sites.site import Site
from nfvbed.spec.layout import layout
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.traffic.generator import Generator
from nfvbed.traffic.simulated.generator import SimulatedGenerator
from nfvbed.traffic.simulated.options import SimulatedOptions
from nfvbed.traffic.simulated.system import SimulatedPath, SimulatedSystem
from nfvbed.traffic.simulated.world import HiddenState, VirtualClock
from nfvbed.units import NS_PER_S

DEPLOY_NS = 1_000_000_000
"""Virtual time that a deployment takes."""


class SimulatedSite(Site):
    """One simulated host.

    Args:
        offset: trials that the host has had; a resumed run passes its own, so that noise is not drawn twice.
        real_time: let simulated time pass in real time.
    """

    def __init__(self, name: str = "simulated", offset: int = 0, real_time: bool = False) -> None:
        self.name = name
        self._offset = offset
        self._clock = VirtualClock(real_time)
        self._states: dict[tuple[float, int], HiddenState] = {}
        self._systems: dict[str, tuple[SimulatedSystem, HiddenState]] = {}
        self._count = 0
        self._vnfs: dict[str, dict[str, str]] = {}
        self._port_kinds: dict[str, str] = {}
        """Port kinds of the variants: one that is simulated can stand for any."""

    def require_possible(
        self, variant: Variant, topology: str, choice: VnfChoice | None = None, role: CellRole = CellRole.SUBJECT
    ) -> None:
        """Accept everything: anything can be simulated."""

    def begin(self, *, many: bool = False) -> None:
        """Take nothing: a simulated site has no host to lock."""

    def close(self) -> None:
        """Do nothing: nothing outlives the process."""

    def facts(self) -> dict[str, Any]:
        """Return the simulated host's description, the same everywhere."""
        return {"simulated": True, "cpu": "none", "version": __version__}

    def rig(self, deployment: Deployment) -> dict[str, Any]:
        """Return what surrounds the variant: a generator that sends nothing, and the deployment's VNFs."""
        engine = {"name": "simulated", "version": __version__}
        rig = {"simulated": True, "site": self.name, "port_kind": self._port_kinds[deployment.id], "engine": engine}
        vnf = self._vnfs.get(deployment.id)
        return rig | {"vnf": vnf} if vnf else rig

    def probe(self, variant: Variant) -> Support:
        """Accept simulated variants only."""
        if isinstance(variant.options, SimulatedOptions):
            return Support(variant=variant.name, readiness=Readiness.READY)
        return Support(
            variant=variant.name,
            readiness=Readiness.UNSUPPORTED,
            reason="the simulated site runs simulated variants only",
            fix="choose another site",
        )

    def deploy(
        self,
        variant: Variant,
        topology: str,
        role: CellRole = CellRole.SUBJECT,
        vnf: VnfChoice | None = None,
    ) -> Deployment:
        """Set up a simulated system, with VNFs that are part of the simulation.

        Raises:
            UnsupportedError: it is a real variant, or a topology or VNF that is not simulated.
        """
        if not isinstance(variant.options, SimulatedOptions):
            raise UnsupportedError(
                f"{variant.name} cannot run on the simulated site",
                where=f"site {self.name}",
                observed=f"data plane {variant.options.dataplane}",
                fix="choose another site",
            )
        _refuse_unsimulated(topology, vnf)
        options = variant.options
        state = self._state(options)
        self._count += 1
        self._clock.advance(DEPLOY_NS)
        identity = f"simulated-{self._offset}-{self._count}"
        seed = f"{options.seed} {variant.name} {role.value} {identity}"
        system = SimulatedSystem(options, role, state, seed, SimulatedPath.of(topology))
        if vnf is not None:
            self._vnfs[identity] = {"name": vnf.vnf.name, "kind": vnf.kind.value, "forwarding": vnf.forwarding}
        self._systems[identity] = (system, state)
        self._port_kinds[identity] = variant.port_kind.value
        port = GeneratorPort(engine="simulated", spec="simulated", kind=PortKind.SIMULATED)
        return Deployment(
            id=identity,
            variant=variant.name,
            site=self.name,
            topology=topology,
            role=role,
            ports=(port, port),
            vnfs=_simulated_vnfs(topology, vnf),
            versions={"simulated": __version__},
            simulated=True,
        )

    @property
    def generator_place(self) -> GeneratorPlace:
        """Nowhere: nothing is sent."""
        return GeneratorPlace.SIMULATED

    def open_generator(self, deployment: Deployment) -> Generator:
        """Return the simulated generator of a deployment."""
        first, second = deployment.ports
        return SimulatedGenerator((first, second), self._running(deployment)[0])

    def verify(self, deployment: Deployment) -> None:
        """Do nothing: a simulated deployment always lives."""
        self._running(deployment)

    def look(self, deployment: Deployment, *parts: Part, threads: Sequence[WorkThread] | None = None) -> Reading:
        """Return what the simulated system forwarded and spent, its one hop, and its core distance."""
        system, state = self._running(deployment)
        hop = Hop(name="simulated system", rx_packets=system.packets, tx_packets=system.packets)
        readers: dict[Part, Callable[[], Any]] = {
            Part.COUNTERS: lambda: _counters(deployment, system),
            Part.HOPS: lambda: (hop,),
            Part.DISTANCES: lambda: {(0, 1): state.core_distance_ns()},
        }
        if system.stolen_time.threads():
            readers[Part.THREADS] = system.stolen_time.threads
            readers[Part.CPU] = lambda: system.stolen_time.sample(self._clock.now_ns)
        return Reading.of(parts, readers, "simulated: no thread of this machine does the work")

    def reset(self, deployment: Deployment, after_s: float) -> ResetReport:
        """Schedule the known outage in the next trial."""
        self._running(deployment)[0].schedule_outage(round(after_s * NS_PER_S))
        return ResetReport(kind="simulated", steps=())

    def require_disruptable(self, deployment: Deployment, wanted: Disruption) -> None:
        """Accept everything: an outage is an outage."""

    def disrupt(self, deployment: Deployment, wanted: Disruption) -> DisruptionReport:
        """Schedule the known outage in the next trial; what a VNF does meanwhile is not simulated."""
        self._running(deployment)[0].schedule_outage(round(wanted.after_s * NS_PER_S))
        return DisruptionReport(vnf=deployment.vnfs[0].name, marks=())

    def forwarding_table(self, deployment: Deployment, variant: Variant) -> ForwardingTable:
        """Return the simulated forwarding table."""
        return SimulatedEntries(self._running(deployment)[0].tables)

    def learning_table(self, deployment: Deployment, variant: Variant) -> LearningTable:
        """Return the simulated table of addresses."""
        return SimulatedLearning(self._running(deployment)[0].tables)

    def destroy(self, deployment: Deployment) -> None:
        """Forget the deployment; idempotent."""
        self._systems.pop(deployment.id, None)
        self._vnfs.pop(deployment.id, None)
        self._port_kinds.pop(deployment.id, None)

    def _state(self, options: SimulatedOptions) -> HiddenState:
        # Variants of one host share its state: those that name the same changes and seed are on one host.
        key = (options.state_change_per_s, options.seed)
        if key not in self._states:
            seed = f"{options.seed} {options.state_change_per_s} {self._offset}"
            self._states[key] = HiddenState(self._clock, options.state_change_per_s, seed)
        return self._states[key]

    def _running(self, deployment: Deployment) -> tuple[SimulatedSystem, HiddenState]:
        if deployment.id not in self._systems:
            raise InternalError(f"the simulated deployment {deployment.id} is not deployed in this process")
        return self._systems[deployment.id]


def _counters(deployment: Deployment, system: SimulatedSystem) -> SwitchCounters | Unavailable:
    if deployment.role in (CellRole.LOOPBACK, CellRole.VNF):
        return Unavailable("no switch is on this path")
    return SwitchCounters(packets=system.packets, busy_cycles=system.busy_cycles, source="simulated")


def _refuse_unsimulated(topology: str, vnf: VnfChoice | None) -> None:
    """Refuse what has no known answer here.

    Raises:
        UnsupportedError: a path that begins or ends at a VNF, or a guest.
    """
    if layout(topology).one_way or (vnf is not None and vnf.kind is VnfKind.VM):
        raise UnsupportedError(
            "this is not simulated",
            where=f"topology {topology}",
            observed=f"VNF of kind {vnf.kind.value}" if vnf else "no VNF",
            fix="simulate pvp, pvvp, chains or VNFs side by side, with process VNFs",
        )


def _simulated_vnfs(topology: str, vnf: VnfChoice | None) -> tuple[VnfHandle, ...]:
    if vnf is None:
        return ()
    return tuple(
        VnfHandle(name=f"vnf{number}", kind=vnf.kind, forwarding=vnf.forwarding, ports=(), steps=(("start", 0),))
        for number in range(1, layout(topology).vnfs + 1)
    )
