"""Doubles for the data planes of a lab and for VNF drivers: they record what is asked of them, and nothing runs."""

from dataclasses import dataclass, field
from pathlib import Path

from nfvbed.errors import OnboardError, UnsupportedError, VnfDiedError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.fitness import Fitness
from nfvbed.records import (
    CellRole,
    Deployment,
    DirectionCounts,
    Engine,
    GeneratorPort,
    Hop,
    HopKind,
    PortKind,
    Role,
    VnfHandle,
    VnfPort,
    WorkThread,
)
from nfvbed.sites.hostview import HostView
from nfvbed.spec.layout import layout
from nfvbed.traffic.generator import Generator, GeneratorInfo, TrafficResult
from nfvbed.vnfs.vnf import VnfDriver

PORT = GeneratorPort(engine="xdp", spec="g0", kind=PortKind.VETH, netns="/run/netns/x")


class FakeDriver(VnfDriver):
    """Starts nothing; what it is asked to fail at, it fails at."""

    def __init__(self, log, fails_at="", reason="", lacks=None):
        self.log = log
        self.lacks = lacks
        self.fails_at = fails_at
        self.reason = reason

    def probe(self, choice):
        if self.reason:
            raise UnsupportedError(self.reason)
        return Fitness()

    def require_files(self, choice, root):
        if self.lacks is not None:
            raise self.lacks

    def start(self, seat):
        self.log.append(("start", seat.name, seat.does, seat.cores, seat.shares_core))
        if self.fails_at == "start":
            raise OnboardError("it does not start")
        return VnfHandle(
            name=seat.name,
            kind=seat.choice.kind,
            forwarding=seat.does,
            ports=seat.ports,
            cores=seat.cores,
            steps=((f"{seat.name}.start", 5),),
        )

    def ready(self, seat, handle):
        self.log.append(("ready", handle.name))
        if self.fails_at == "ready":
            raise OnboardError("it never said so")
        return handle

    def verify(self, handle):
        if self.fails_at == "verify":
            raise VnfDiedError(f"{handle.name} died")

    def hops(self, handle):
        return tuple(Hop(name=f"{handle.name} port {p.port}", rx_packets=0, tx_packets=0) for p in handle.ports)

    def threads(self, handle):
        return (WorkThread(role=Role.VNF, pid=1, tid=1, core=1, name=handle.name),)

    def stop(self, handle):
        self.log.append(("stop", handle.name))


class FakeGenerator(Generator):
    """Everything comes back, or nothing."""

    def __init__(self, log, returns=True, ports=(PORT, PORT)):
        self.ports = ports
        self.log = log
        self.returns = returns

    def hello(self):
        return GeneratorInfo(
            engine=Engine(name="fake", version="0"),
            pid=1,
            thread_id=1,
            core=1,
            tsc_hz=1,
            min_frame_size_bytes=64,
            max_frame_size_bytes=1518,
            max_flows=1,
            link_up=(True, True),
        )

    def run(self, request):
        frames = request.frames or 1000
        received = frames if self.returns else 0
        counts = DirectionCounts(intended=frames, sent=frames, received=received, lost=frames - received)
        ways = 2 if request.bidirectional else 1
        self.log.append(("run", request.frame_size, ways))
        return TrafficResult(1_000_000, 1, (counts,) * ways, (7, 0), (None,) * ways)

    def close(self):
        self.log.append(("close",))


class FakeStarter:
    """Starts generators in a lab's place."""

    def __init__(self, lab):
        self._lab = lab
        view = lab.host_view(None)
        self.workspace, self.arrangement = view.workspace, view.arrangement

    def launch(self, deployment):
        assert all(handle.name for handle in deployment.vnfs)
        return self._lab.open_generator(deployment)


@dataclass
class FakePlanes:
    """Data planes that are records only."""

    log: list = field(default_factory=list)
    directory: str = ""
    returns: bool = True
    is_client: bool = False
    """Its data plane connects to its peers, and so starts them first."""
    name: str = "lab"

    def deploy(self, variant, topology, role=CellRole.SUBJECT, vnf=None, peers=None):
        self.log.append(("deploy", topology, role, vnf and vnf.label))
        plan = layout(topology)
        ports = tuple(
            tuple(
                VnfPort(name=f"v{n + 1}{'ab'[p]}", vnf=n, port=p, kind=PortKind.VETH, address=f"e{n}{p}", mac="02::")
                for p in plan.ports_of(n)
            )
            for n in range(plan.vnfs if vnf else 0)
        )
        deployment = Deployment(
            id="1",
            variant="linux-bridge",
            site="lab",
            topology=topology,
            ports=(PORT,) * len(plan.outside),
            vnf_ports=ports,
            run_directory=self.directory,
        )
        beside = peers(FakeStarter(self)) if peers is not None else None
        if beside is not None and self.is_client:
            beside.start(deployment)
            self.log.append(("switch",))
            beside.wait()
            self.log.append(("ports",))
        return deployment

    def rig(self, deployment):
        return {"site": "lab", "vnf": None, "flavor": None, "accelerator": None}

    def host_view(self, deployment):
        arrangement = Arrangement(switch_cores=(0,), generator_core=1, control_cores=(1,), vnf_cores=(1,))
        return HostView(None, arrangement)

    def open_generator(self, deployment):
        self.log.append(("generator",))
        return FakeGenerator(self.log, self.returns)

    def wait_for_vnfs(self, deployment):
        assert deployment is not None

    def wait_for_generator(self, deployment):
        self.verify(deployment)

    def verify(self, deployment):
        pass

    def hops(self, deployment):
        links, ports = HopKind.GENERATOR_PORT, HopKind.SWITCH_PORT
        seen = (
            ("g0", links, None, 0),
            ("s0", ports, None, 0),
            ("v1a", ports, 0, 0),
            ("v1b", ports, 0, 1),
            ("s1", ports, None, 1),
            ("g1", links, None, 1),
        )
        return tuple(
            Hop(name=name, kind=kind, vnf=vnf, port=port, rx_packets=0, tx_packets=0) for name, kind, vnf, port in seen
        )

    def work_threads(self, deployment):
        return (WorkThread(role=Role.SWITCH, pid=1, tid=2, core=0, name="switch"),)

    def destroy(self, deployment):
        self.log.append(("destroy",))


ROOT = Path()
