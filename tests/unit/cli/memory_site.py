"""A double of a site that is no lab, no host and no simulated variant's: what it deploys is in this process's memory.

It has what `Site` asks for and the verbs that it can do, and nothing of nfvbed's own sites.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from nfvbed.records import (
    CellRole,
    Deployment,
    GeneratorPort,
    Hop,
    PortKind,
    Readiness,
    Support,
    SwitchCounters,
    VnfHandle,
    WorkThread,
)
from nfvbed.records.readings import Part, Reading
from nfvbed.sites.deployed import DeploymentRecord
from nfvbed.sites.site import Site
from nfvbed.spec.layout import layout
from nfvbed.spec.site import SiteSpec
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.traffic.generator import Generator
from nfvbed.traffic.simulated.generator import SimulatedGenerator
from nfvbed.traffic.simulated.options import SimulatedOptions
from nfvbed.traffic.simulated.system import SimulatedPath, SimulatedSystem
from nfvbed.traffic.simulated.world import HiddenState, VirtualClock

RATES = {"linux-bridge": 1_000_000, "ovs-kernel": 2_000_000}
"""Variants that it can run, with their rates, frames/s."""
PORT = GeneratorPort(engine="simulated", spec="memory", kind=PortKind.VETH)
"""Port of kind veth without a namespace: a look for the host's link would not find it."""
UNSEEN = "the cores of this rack are not visible"
"""Why a part of a reading is not available."""


class MemorySiteSpec(SiteSpec):
    """A site that deploys into this process's memory."""

    kind: Literal["memory"]
    """Kind of site: this process's memory."""
    rack: str
    """Name of the rack that it stands for."""


class MemorySite(Site):
    """Deploys into a dictionary."""

    deployed: ClassVar[dict[str, DeploymentRecord]] = {}
    """By name of the site; it outlives a command, as this process does."""
    log: ClassVar[list[str]] = []
    dead: ClassVar[list[str]] = []

    def __init__(self, spec: MemorySiteSpec) -> None:
        self.name = spec.name
        self._rack = spec.rack
        self._systems: dict[str, SimulatedSystem] = {}

    def facts(self) -> dict[str, Any]:
        return {"rack": self._rack}

    def probe(self, variant: Variant) -> Support:
        if variant.name in RATES:
            return Support(variant=variant.name, readiness=Readiness.READY)
        return Support(variant=variant.name, readiness=Readiness.UNSUPPORTED, reason="not in memory", fix="none")

    def check(self, topology: str, vnf: VnfChoice) -> None:
        self.log.append(f"check {vnf.label}")

    def prepare(self, topology: str, vnf: VnfChoice) -> None:
        self.log.append(f"prepare {vnf.label}")

    def begin(self, *, many: bool = False) -> None:
        self.log.append("begin")

    def close(self) -> None:
        self.log.append("close")

    def find_deployed(self) -> DeploymentRecord | None:
        return self.deployed.get(self.name)

    def deploy_to_stay(self, variant: Variant, topology: str, vnf: VnfChoice | None = None) -> tuple[Deployment, bool]:
        found = self.find_deployed()
        if found is not None:
            if not found.is_same(variant, topology):
                raise found.in_the_way(variant.name)
            return found.deployment, True
        deployment = self.deploy(variant, topology, vnf=vnf)
        self.deployed[self.name] = DeploymentRecord(deployment, variant, vnf, f"rack {self._rack}", "the test began")
        return deployment, False

    def onboard(
        self, variant: Variant, topology: str, vnf: VnfChoice, tell: Callable[[str], None]
    ) -> tuple[Deployment, bool]:
        found = self.find_deployed()
        if found is not None and found.deployment.topology != topology:
            found.require_room(variant, topology)
            tell("it makes room")
            self.take_down()
        return self.deploy_to_stay(variant, topology, vnf)

    def dead_vnfs(self, deployment: Deployment) -> tuple[str, ...]:
        return tuple(self.dead)

    def heal(self, deployment: Deployment) -> Deployment:
        self.log.append(f"heal {' '.join(self.dead)}")
        self.dead.clear()
        return deployment

    def offboard(self, deployment: Deployment) -> Deployment:
        left = deployment.model_copy(update={"vnfs": ()})
        self.deployed[self.name] = replace(self.deployed[self.name], deployment=left, vnf=None)
        return left

    def foresee_scale(self, deployment: Deployment, vnfs: int) -> str:
        return f"would have {vnfs} VNFs"

    def scale(self, deployment: Deployment, vnfs: int) -> Deployment:
        handles = tuple(deployment.vnfs[0].model_copy(update={"name": f"vnf{n + 1}"}) for n in range(vnfs))
        scaled = deployment.model_copy(update={"vnfs": handles})
        self.deployed[self.name] = replace(self.deployed[self.name], deployment=scaled)
        return scaled

    def take_down(self, *, everything: bool = False) -> tuple[str, ...]:
        found = self.deployed.pop(self.name, None)
        return super().take_down() if found is None else (f"{found.variant.name} is out of memory",)

    def foresee_take_down(self) -> tuple[str, ...]:
        found = self.find_deployed()
        return super().foresee_take_down() if found is None else (f"would forget {found.variant.name}",)

    def deploy(
        self, variant: Variant, topology: str, role: CellRole = CellRole.SUBJECT, vnf: VnfChoice | None = None
    ) -> Deployment:
        self.log.append(f"deploy {variant.name} {topology}")
        identity = f"{self._rack}-{len(self.log)}"
        handles = () if vnf is None else tuple(_handle(number + 1, vnf) for number in range(layout(topology).vnfs))
        return Deployment(
            id=identity,
            variant=variant.name,
            site=self.name,
            topology=topology,
            role=role,
            ports=(PORT, PORT),
            vnfs=handles,
            versions={"memory": "1"},
            steps=(("deploy.memory", 5),),
        )

    def destroy(self, deployment: Deployment) -> None:
        self._systems.pop(deployment.id, None)
        self.log.append(f"destroy {deployment.variant}")

    def verify(self, deployment: Deployment) -> None:
        pass

    def rig(self, deployment: Deployment) -> dict[str, Any]:
        return {"rack": self._rack, "ports": [port.kind.value for port in self.generator_ports(deployment)]}

    def open_generator(self, deployment: Deployment) -> Generator:
        return SimulatedGenerator(self.generator_ports(deployment), self._system(deployment))

    def look(self, deployment: Deployment, *parts: Part, threads: Sequence[WorkThread] | None = None) -> Reading:
        system = self._system(deployment)
        packets, busy = system.packets, system.busy_cycles
        readers: dict[Part, Callable[[], Any]] = {
            Part.COUNTERS: lambda: SwitchCounters(packets=packets, busy_cycles=busy, source="memory"),
            Part.HOPS: lambda: (Hop(name="memory", rx_packets=packets, tx_packets=packets),),
        }
        return Reading.of(parts, readers, UNSEEN)

    def _system(self, deployment: Deployment) -> SimulatedSystem:
        if deployment.id not in self._systems:
            options = SimulatedOptions(dataplane="simulated", capacity_pps=RATES[deployment.variant])
            state = HiddenState(VirtualClock(), 0, deployment.id)
            path = SimulatedPath.of(deployment.topology)
            self._systems[deployment.id] = SimulatedSystem(options, deployment.role, state, deployment.id, path)
        return self._systems[deployment.id]


def _handle(number: int, vnf: VnfChoice) -> VnfHandle:
    return VnfHandle(name=f"vnf{number}", kind=vnf.kind, forwarding=vnf.forwarding, ports=())


def open_memory(spec: MemorySiteSpec, root: Path) -> MemorySite:
    """Open it, as the catalogue opens sites."""
    return MemorySite(spec)
