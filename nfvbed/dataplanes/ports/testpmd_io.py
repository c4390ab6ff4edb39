"""The reference on vhost-user ports: testpmd `io` in the switch's place, on its core, with its memory settings.

It moves frames from one port to the other without looking at them: that is the cost of the ports themselves. What a
switch needs beyond it is the switching overhead.
"""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from nfvbed.dataplanes.dataplane import Ceiling, DeployRequest
from nfvbed.dataplanes.ports import vhost_user
from nfvbed.errors import DeployError
from nfvbed.host.ledger.processes import ManagedProcess, check_alive
from nfvbed.host.testpmd import command, telemetry
from nfvbed.host.testpmd.threads import forwarding_threads, is_runnable
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.patience import patient
from nfvbed.records import (
    NOT_SEPARABLE,
    CellRole,
    CounterSource,
    Deployment,
    GeneratorPort,
    Hop,
    HopKind,
    Role,
    SwitchCounters,
    WorkThread,
)
from nfvbed.records.state import PlaneState, State

PROCESS = "testpmd"
START_S = patient(15.0)
_PORTS = (0, 1)
POLLING_LOOKS = 3
"""How often in a row the forwarding thread must be seen running: DPDK's own start lets it run for a moment."""


@dataclass(frozen=True)
class ReferencePorts:
    """What testpmd's two ports are, and how they are opened."""

    vdevs: tuple[str, str]
    ports: tuple[GeneratorPort, ...]
    netns: str
    """Path of the network namespace that testpmd runs in."""
    hugepages_mib: int
    memory_mib: int
    descriptors: int
    threads: tuple[WorkThread, ...] = ()
    """Threads of the kernel that move frames to and from it."""
    state: PlaneState = field(default_factory=PlaneState)
    """What is written down beside testpmd's own."""
    versions: dict[str, str] = field(default_factory=dict)


class TestpmdState(State):
    """What is recorded of a testpmd in the switch's place."""

    __test__ = False
    telemetry: str
    """Its telemetry socket."""
    netns: str
    switch_core: int


class TestpmdIo(Ceiling):
    """dpdk-testpmd with two vhost ports, clients of the generator's sockets as Open vSwitch's are."""

    __test__ = False
    kind = "testpmd-io"
    counted_by: ClassVar[CounterSource] = CounterSource.DPDK

    def __init__(self) -> None:
        self._workspaces: dict[str, Workspace] = {}

    def deploy(self, request: DeployRequest) -> Deployment:
        """Start testpmd; it connects by itself when the generator listens, and forwards from then on."""
        variant, workspace, core = request.variant, request.workspace, request.arrangement.switch_cores[0]
        prefix = f"nfvbed-{workspace.id}-io"
        path = telemetry.socket_path(workspace.directory, prefix)
        steps = Steps()
        with steps.timed("deploy.ports"):
            wiring = self._wire(request)
        with steps.timed("deploy.hugepages"):
            hugepages = workspace.hugepages(wiring.hugepages_mib)
        with steps.timed("deploy.switch"):
            options = command.TestpmdOptions(
                vdevs=wiring.vdevs,
                main_core=request.arrangement.control_cores[0],
                forwarding_core=core,
                hugepages=hugepages,
                memory_mib=wiring.memory_mib,
                file_prefix=prefix,
                descriptors=wiring.descriptors,
            )
            cores = sorted({core, *request.arrangement.control_cores})
            environment = {"RUNTIME_DIRECTORY": str(workspace.directory)}
            argv = command.argv(options)
            process = workspace.spawn(PROCESS, argv, cores=cores, netns=wiring.netns, environment=environment)
            _wait_until_forwarding(process, path, core)
        self._workspaces[workspace.id] = workspace
        return Deployment(
            id=workspace.id,
            variant=variant.name,
            site="lab",
            topology=request.layout.name,
            role=CellRole.REFERENCE,
            ports=wiring.ports,
            threads=(*wiring.threads, *forwarding_threads(process.pid, (core,), Role.SWITCH)),
            run_directory=str(workspace.directory),
            control=wiring.state.as_control()
            | TestpmdState(telemetry=str(path), netns=wiring.netns, switch_core=core).as_control(),
            versions={"testpmd": str(telemetry.ask(path, "/info")["version"])} | wiring.versions,
            steps=steps.done,
        )

    def _wire(self, request: DeployRequest) -> ReferencePorts:
        """Make both sides of testpmd's ports."""
        variant, workspace = request.variant, request.workspace
        options = variant.options
        sockets = tuple(vhost_user.sockets(workspace.directory).values())
        return ReferencePorts(
            vdevs=(self.vdev(0, sockets[0], options.ring_size), self.vdev(1, sockets[1], options.ring_size)),
            ports=self.ports(sockets, options.ring_size),
            netns=workspace.network_namespace("switch"),
            hugepages_mib=max(variant.hugepages_mib, options.ring_memory_mib),
            memory_mib=options.ring_memory_mib,
            descriptors=options.ring_size,
        )

    def vdev(self, index: int, socket: Path, size: int) -> str:
        """Return testpmd's port on a socket."""
        return vdev(index, socket)

    def ports(self, sockets: tuple[Path, ...], size: int) -> tuple[GeneratorPort, ...]:
        """Return the generator's ports on the same sockets."""
        return vhost_user.server_ports(sockets, size)

    def verify(self, deployment: Deployment) -> None:
        """Check that testpmd lives."""
        check_alive(self._process(deployment))

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Read the frames that its ports received. Its loop is always busy, so it has no busy cycles."""
        ports = self._ports(deployment)
        return SwitchCounters(
            packets=sum(_plain(port)["ipackets"] for port in ports),
            busy_cycles=NOT_SEPARABLE,
            source="testpmd polls all the time and does not tell busy from idle cycles",
            raw={f"port {number}": _plain(port) for number, port in zip(_PORTS, ports, strict=True)},
        )

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """Return its two ports."""
        counted = zip(_PORTS, self._ports(deployment), strict=True)
        return tuple(_hop(number, port, self.counted_by) for number, port in counted)

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """Return its forwarding thread."""
        core = TestpmdState.of(deployment).switch_core
        return forwarding_threads(self._process(deployment).pid, (core,), Role.SWITCH)

    def _process(self, deployment: Deployment) -> ManagedProcess:
        if deployment.id not in self._workspaces:
            self._workspaces[deployment.id] = Workspace.attach(Path(deployment.run_directory))
        return self._workspaces[deployment.id].process(PROCESS)

    def _ports(self, deployment: Deployment) -> list[dict[str, object]]:
        path = Path(TestpmdState.of(deployment).telemetry)
        try:
            return [telemetry.ask(path, f"/ethdev/stats,{number}") for number in _PORTS]
        except DeployError:
            self.verify(deployment)
            raise


def vdev(index: int, socket: Path) -> str:
    """Return testpmd's vhost port, a client of the generator's socket."""
    return f"net_vhost{index},iface={socket},client=1,queues=1"


def _wait_until_forwarding(process: ManagedProcess, path: Path, core: int) -> None:
    """Wait until DPDK is up (its telemetry comes last) and the forwarding thread polls.

    It is seen from outside: asking a port for counters before it is configured crashes testpmd 22.11.

    Raises:
        DeployError: it did not in time.
        SwitchDiedError: testpmd has ended.
    """
    deadline = time.monotonic() + START_S
    seen = 0
    while seen < POLLING_LOOKS:
        check_alive(process)
        if time.monotonic() > deadline:
            raise DeployError(
                f"testpmd was not ready within {START_S:g} s", where=str(process.log), observed=process.log_tail(5)
            )
        threads = forwarding_threads(process.pid, (core,), Role.SWITCH)
        seen = seen + 1 if path.is_socket() and any(is_runnable(thread) for thread in threads) else 0
        time.sleep(0.005)


def _hop(number: int, port: dict[str, object], counted_by: CounterSource) -> Hop:
    counted = _plain(port)
    drops = {name: counted[name] for name in ("imissed", "ierrors", "oerrors", "rx_nombuf")}
    return Hop(
        name=f"testpmd port {number}",
        kind=HopKind.SWITCH_PORT,
        port=number,
        rx_packets=counted["ipackets"],
        tx_packets=counted["opackets"],
        drops=drops,
        counted_by=counted_by,
    )


def _plain(port: dict[str, object]) -> dict[str, int]:
    """Return the values that are no per-queue lists."""
    return {name: value for name, value in port.items() if isinstance(value, int)}
