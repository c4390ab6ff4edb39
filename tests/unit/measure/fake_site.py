"""A site and a generator with known answers."""

from collections.abc import Callable, Sequence
from typing import Any

from nfvbed.errors import GeneratorError, SwitchDiedError
from nfvbed.host.cores.procfs import read_sample
from nfvbed.records import (
    CellRole,
    Deployment,
    DirectionCounts,
    Engine,
    GeneratorPort,
    Hop,
    PortKind,
    Support,
    SwitchCounters,
    WorkThread,
)
from nfvbed.records.readings import Part, Reading, Unavailable
from nfvbed.sites.site import Site
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.traffic.generator import Generator, GeneratorInfo, TrafficRequest, TrafficResult

PORTS = (
    GeneratorPort(engine="dpdk", spec="a", kind=PortKind.VHOST_USER),
    GeneratorPort(engine="dpdk", spec="b", kind=PortKind.VHOST_USER),
)


NOBODY = 2**22 + 1
"""Above the highest process id that Linux gives: a generator that is gone."""


def counts(**changes: int) -> DirectionCounts:
    """Return a direction in which all 1,000 frames arrived."""
    return DirectionCounts(**({"intended": 1000, "sent": 1000, "received": 1000, "lost": 0} | changes))


def result(*directions: DirectionCounts, busy_ns: int = 1, duration_ns: int = 100_000_000) -> TrafficResult:
    """Return a result of both directions, or of those given."""
    shown = directions or (counts(), counts())
    return TrafficResult(duration_ns, busy_ns, shown, (0, 0), tuple(None for _ in shown))


def info(**changes: Any) -> GeneratorInfo:
    """Return what the fake generator says of itself."""
    usual: dict[str, Any] = {
        "engine": Engine(name="fake", version="1"), "pid": NOBODY, "thread_id": NOBODY, "core": 1,
        "tsc_hz": 2_000_000_000,
        "min_frame_size_bytes": 64, "max_frame_size_bytes": 1518, "max_flows": 10, "link_up": (True, True),
    }  # fmt: skip
    return GeneratorInfo(**(usual | changes))


class FakeGenerator(Generator):
    """Gives the same result every time; `failing` makes it die."""

    def __init__(self, outcome: TrafficResult | None = None, **changes: Any) -> None:
        self.ports = PORTS
        self.outcome = outcome or result()
        self.changes = changes
        self.failing = False
        self.requests: list[TrafficRequest] = []
        self.hellos = 0

    def hello(self) -> GeneratorInfo:
        self.hellos += 1
        return info(**self.changes)

    def run(self, request: TrafficRequest) -> TrafficResult:
        self.requests.append(request)
        if self.failing:
            raise GeneratorError("nfvgen ended in the middle of a trial")
        return self.outcome

    def close(self) -> None:
        pass


class FakeSite(Site):
    """Cumulative counters that grow with every reading."""

    name = "fake"

    def __init__(self, role: CellRole = CellRole.SUBJECT, simulated: bool = True) -> None:
        self.deployment = Deployment(
            id="d", variant="v", site="fake", topology="p2p", role=role, ports=PORTS, simulated=simulated
        )
        self.dead = False
        self.distances: list[float | None] = [30.0, 150.0]
        self.readings: list[SwitchCounters | None] = []
        self.threads: tuple[WorkThread, ...] = ()
        self.hop_readings: list[tuple[Hop, ...] | Unavailable] = []
        self.joins = 0

    def begin(self, *, many: bool = False) -> None:
        pass

    def close(self) -> None:
        pass

    def facts(self) -> dict[str, Any]:
        return {}

    def rig(self, deployment: Deployment) -> dict[str, Any]:
        return {}

    def probe(self, variant: Variant) -> Support:
        raise NotImplementedError

    def deploy(
        self,
        variant: Variant,
        topology: str,
        role: CellRole = CellRole.SUBJECT,
        vnf: VnfChoice | None = None,
    ) -> Deployment:
        return self.deployment

    def open_generator(self, deployment: Deployment) -> Generator:
        return FakeGenerator()

    def verify(self, deployment: Deployment) -> None:
        if self.dead:
            raise SwitchDiedError("the switch ended", observed="exit status 139")

    def wait_for_generator(self, deployment: Deployment) -> None:
        self.joins += 1

    def look(self, deployment: Deployment, *parts: Part, threads: Sequence[WorkThread] | None = None) -> Reading:
        readers: dict[Part, Callable[[], Any]] = {
            Part.COUNTERS: lambda: (self.readings.pop(0) if self.readings else None) or Unavailable("no counters"),
            Part.HOPS: lambda: self.hop_readings.pop(0),
            Part.DISTANCES: self._distances,
        }
        if not deployment.simulated:
            sampled = self.threads if threads is None else threads
            readers[Part.THREADS] = lambda: self.threads
            readers[Part.CPU] = lambda: read_sample((thread.pid, thread.tid) for thread in sampled)
        return Reading.of(parts, readers, "simulated")

    def _distances(self) -> dict[tuple[int, int], float] | Unavailable:
        distance = self.distances.pop(0)
        return Unavailable("one core") if distance is None else {(0, 1): distance}

    def destroy(self, deployment: Deployment) -> None:
        pass
