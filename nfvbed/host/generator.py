"""Starts nfvgen on a deployment's ports, where the arrangement wants it."""

import logging
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

from nfvbed.errors import InternalError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.host.native import native_binary
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.patience import patient
from nfvbed.records import Deployment, GeneratorPort
from nfvbed.records.state import PlaneState, VnfState
from nfvbed.spec.layout import layout
from nfvbed.traffic.generator import Generator, TrafficRequest
from nfvbed.traffic.nfvgen import NfvgenClient, NfvgenOptions
from nfvbed.traffic.sendercores import TRIAL_NS, SenderCores, choose_cores
from nfvbed.units import NS_PER_S

_log = logging.getLogger(__name__)

GENERATOR_ADDRESSES = ("198.18.0.1", "198.19.0.1")
"""The generator's ports' own, as a router sees them (RFC 2544's range); frames from port 0 go to the second."""
_MEMORY_MIB = 256
"""Enough for the generator's own buffers; the site's figure is what is reserved, this is what is taken at once."""
_MEASURED_SIZE = 64
"""Bytes of the frames that the cores are chosen with: the more frames, the more is a core's work."""
_QUEUE_MIB = 48
"""More of them for each further queue pair: two rings full of the largest frames, and room for received ones."""


class GeneratorStarter:
    """Starts generators in one workspace; their hugepages are reserved once.

    Args:
        root: folder of the project, with `native/build`.
    """

    def __init__(self, workspace: Workspace, arrangement: Arrangement, hugepages_mib: int, root: Path) -> None:
        self.workspace = workspace
        self.arrangement = arrangement
        self._hugepages_mib = hugepages_mib
        self._root = root
        self._started = 0
        self._reserved_mib = 0
        self._sender_cores: dict[str, SenderCores] = {}

    def start(self, deployment: Deployment) -> Generator:
        """Start one and wait until it is ready. Where it can have a core for each port, that is measured first, once.

        Raises:
            GeneratorError: it did not come up.
            PrerequisiteError: it is not built, or there is too little hugepage memory.
        """
        if self._can_have_two_cores(deployment) and deployment.id not in self._sender_cores:
            chosen = choose_cores(lambda cores: self._received_pps(deployment, cores))
            self._sender_cores[deployment.id] = chosen
            _log.warning("%s", chosen)
        generator = self.launch(deployment)
        generator.wait_until_ready()
        return generator

    def _can_have_two_cores(self, deployment: Deployment) -> bool:
        """Return whether its engine sends from a core for each port, both ports lead somewhere, and there are two."""
        two_ports = len(layout(deployment.topology).outside) == 2
        cores = self.arrangement.more_generator_cores
        return two_ports and bool(cores) and deployment.ports[0].engine == "xdp" and not self._shares_core(deployment)

    def _received_pps(self, deployment: Deployment, cores: int) -> float:
        """Return what comes back at maximum load, with a generator of its own on one core or two."""
        self._sender_cores[deployment.id] = SenderCores(cores, 0, 0)
        try:
            with closing(self.launch(deployment)) as generator:
                generator.wait_until_ready()
                found = generator.run(TrafficRequest(duration_ns=TRIAL_NS, frame_size=_MEASURED_SIZE))
        finally:
            del self._sender_cores[deployment.id]
        return sum(direction.in_time for direction in found.directions) * NS_PER_S / max(1, found.duration_ns)

    def launch(self, deployment: Deployment) -> Generator:
        """Start a generator; call its `wait_until_ready` before asking it anything.

        Raises:
            PrerequisiteError: it is not built, or there is too little hugepage memory.
        """
        ports = both_ports(deployment)
        engine = _engine(deployment, ports)
        binary = native_binary("nfvgen", self._root)
        queues = _queues(deployment, ports)
        memory_mib = min(_MEMORY_MIB, self._hugepages_mib) + (queues - 1) * _QUEUE_MIB
        if engine == "dpdk":
            self._reserve(self._hugepages_mib + (queues - 1) * _QUEUE_MIB, memory_mib)
        more_cores = self.arrangement.more_generator_cores[: self._cores(deployment, engine, queues) - 1]
        self._started += 1
        name = f"nfvgen-{self._started}"
        options = NfvgenOptions(
            binary=binary,
            engine=engine,
            ports=ports,
            core=self.arrangement.generator_core,
            queues=queues,
            queue_size=max(port.ring_size for port in ports),
            more_cores=more_cores,
            socket_path=self.workspace.directory / f"{name}.sock",
            memory_mib=memory_mib,
            file_prefix=f"nfvbed-{self.workspace.id}-{name}",
            drain_ns=round(patient(NfvgenOptions.drain_ns)),
            start_timeout_s=patient(NfvgenOptions.start_timeout_s),
            yield_when_idle=engine == "dpdk" and self._shares_core(deployment),
            destination_macs=destination_macs(deployment),
            destination_mac_count=PlaneState.of(deployment).destination_mac_count or 1,
        )
        # Its helper threads (DPDK's control threads) go where nfvbed itself is, not onto the switch's core.
        cores = sorted({self.arrangement.generator_core, *more_cores, *self.arrangement.control_cores})
        netns = ports[0].netns

        def spawn(argv: Sequence[str]) -> ManagedProcess:
            return self.workspace.spawn(name, argv, cores=cores, netns=netns)

        return NfvgenClient(options, spawn, wait=False)

    def _cores(self, deployment: Deployment, engine: str, queues: int) -> int:
        """Return how many cores it may have: one a queue, or what was measured."""
        if engine == "dpdk":
            return queues
        chosen = self._sender_cores.get(deployment.id)
        return 1 if chosen is None else chosen.cores

    def _reserve(self, wanted_mib: int, least_mib: int) -> None:
        """Reserve what is wanted beyond what earlier generators left here; one runs at a time."""
        missing_mib = wanted_mib - self._reserved_mib
        if missing_mib > 0:
            self.workspace.hugepages(missing_mib, least_mib=min(missing_mib, least_mib))
            self._reserved_mib = wanted_mib

    def _shares_core(self, deployment: Deployment) -> bool:
        """Return whether a VNF polls on the generator's core: then both must yield."""
        return bool(deployment.vnf_ports) and self.arrangement.generator_core in self.arrangement.vnf_cores


def destination_macs(deployment: Deployment) -> tuple[str, str] | None:
    """Return the destinations of frames from ports 0 and 1, where a switch or a VNF at an end asks for some."""
    wanted = PlaneState.of(deployment).destination_macs
    if wanted:
        first_mac, last_mac = wanted
        return first_mac, last_mac
    if not deployment.vnfs:
        return None
    first, last = (VnfState.of(deployment.vnfs[place]).destination_macs for place in (0, -1))
    return (first[0], last[-1]) if first and last else None


def both_ports(deployment: Deployment) -> tuple[GeneratorPort, GeneratorPort]:
    """Return the generator's two ports: port 0 at outside end 0, port 1 at outside end 1.

    Where one of the ends is a VNF, the generator's port there leads nowhere (`PlaneState.idle_port`).

    Raises:
        InternalError: both ends are VNFs, or the deployment does not say where an idle port leads.
    """
    ends = layout(deployment.topology).outside
    if not ends or len(deployment.ports) != len(ends):
        raise InternalError(
            f"topology {deployment.topology} leaves no port for a generator",
            where=deployment.variant,
            observed=f"{len(deployment.ports)} ports at the outside ends {list(ends)}",
        )
    if len(ends) == 2:
        first, second = deployment.ports
        return first, second
    real, nowhere = deployment.ports[0], PlaneState.of(deployment).idle_port
    if nowhere is None:
        raise InternalError("nothing is named for the generator's other port", where=deployment.variant)
    idle = real.model_copy(update={"spec": nowhere})
    return (real, idle) if ends == (0,) else (idle, real)


def _queues(deployment: Deployment, ports: Sequence[GeneratorPort]) -> int:
    if ports[0].queues != ports[1].queues:
        queues = [port.queues for port in ports]
        raise InternalError("nfvgen's ports have different queues", where=deployment.variant, observed=str(queues))
    return ports[0].queues


def _engine(deployment: Deployment, ports: Sequence[GeneratorPort]) -> Literal["dpdk", "xdp"]:
    engine = ports[0].engine
    if engine == "simulated" or ports[1].engine != engine:
        engines = [port.engine for port in ports]
        raise InternalError("nfvgen cannot open these ports", where=deployment.variant, observed=str(engines))
    return engine
