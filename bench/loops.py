"""The loops in which nfvgen and testpmd are compared: the same ports, cores, peer and frame size for both."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Literal

from pairs import CORES, NFVGEN, TESTPMD, VARIANT, LoopResult, Measure
from pressure import Pressure
from testpmd import Testpmd, TestpmdOptions, both, received_by

from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.host.native import native_binary
from nfvbed.host.network import links, napi
from nfvbed.host.network import veth as veth_ports
from nfvbed.host.network.namespaces import inside
from nfvbed.host.network.veth import GENERATOR_LINKS, MACS
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.measure.trial import wait_for_links
from nfvbed.records import GeneratorPort, PortKind, Role
from nfvbed.traffic.generator import TrafficRequest
from nfvbed.traffic.nfvgen import NfvgenClient, NfvgenOptions
from nfvbed.units import NS_PER_S

WARM_UP_S = 0.1
FRAME_SIZE_BYTES = 64
FLOWS = 1024
"""testpmd flowgen's default."""
BURSTS = (32, 64)
"""testpmd's default, and nfvgen's. Both have both; the better one of each counts, in each class."""
PEER_CORE, GENERATOR_CORE = CORES

ONE_CORE = f"{TESTPMD}, one core"
Loop = tuple[dict[str, Measure], dict[str, Measure], LoopResult]
"""nfvgen and testpmd in their variants, and where the result goes."""


class Nfvgen:
    """nfvgen in a workspace: each call opens the ports, warms up, measures once and closes them."""

    def __init__(self, workspace: Workspace, ports: Sequence[str], duration_s: float, netns: str | None = None) -> None:
        self._workspace = workspace
        self._duration_s = duration_s
        self._netns = netns
        engine: Literal["dpdk", "xdp"] = "xdp" if netns else "dpdk"
        kind = PortKind.VETH if netns else PortKind.VHOST_USER
        self._ports = tuple(GeneratorPort(engine=engine, spec=spec, kind=kind, netns=netns) for spec in ports)
        self._engine = engine
        self._count = 0

    def variants(self) -> dict[str, Measure]:
        """Return the measures of both bursts; the XDP engine has none."""
        if self._engine == "xdp":
            return {NFVGEN: self}
        return {f"{NFVGEN}{VARIANT}{burst}": partial(self, burst=burst) for burst in BURSTS}

    def __call__(self, bidirectional: bool = True, burst: int = BURSTS[-1]) -> tuple[float, float]:
        """Return the frames/s that came back, stamped and checked, over all directions, and the CPU pressure."""
        self._count += 1
        name = f"nfvgen-{self._count}"
        options = NfvgenOptions(
            binary=native_binary("nfvgen"),
            engine=self._engine,
            ports=(self._ports[0], self._ports[1]),
            core=GENERATOR_CORE,
            socket_path=self._workspace.directory / "nfvgen.sock",
            file_prefix=name,
            burst=burst,
        )

        def spawn(argv: Sequence[str]) -> ManagedProcess:
            return self._workspace.spawn(name, argv, cores=[GENERATOR_CORE], netns=self._netns)

        client = NfvgenClient(options, spawn)
        try:
            wait_for_links(client)
            for duration_s in (WARM_UP_S, self._duration_s):
                request = TrafficRequest(
                    duration_ns=round(duration_s * NS_PER_S),
                    frame_size=FRAME_SIZE_BYTES,
                    flows=FLOWS,
                    bidirectional=bidirectional,
                )
                pressure = Pressure()
                result = client.run(request)
                share = pressure.share()
            return sum(d.received for d in result.directions) * NS_PER_S / result.duration_ns, share
        finally:
            client.close()


@contextmanager
def virtio_user(workspace: Workspace, duration_s: float) -> Iterator[Loop]:
    """virtio-user here, vhost in testpmd io on the other core."""
    socket = f"{workspace.directory}/socket{{i}}"
    mine = both(f"net_virtio_user{{i}},path={socket},queue_size=1024")
    theirs = both(f"net_vhost{{i}},iface={socket},queues=1")
    with _dpdk_loop(workspace, "virtio-user", (theirs, mine), duration_s) as loop:
        yield loop


@contextmanager
def memif(workspace: Workspace, duration_s: float) -> Iterator[Loop]:
    """memif clients here, memif servers in testpmd io on the other core."""
    common = f"socket={workspace.directory}/socket{{i}},socket-abstract=no,id=0,rsize=10"
    mine = both(f"net_memif{{i}},role=client,{common}")
    theirs = both(f"net_memif{{i}},role=server,{common}")
    with _dpdk_loop(workspace, "memif", (theirs, mine), duration_s) as loop:
        yield loop


@contextmanager
def _dpdk_loop(
    workspace: Workspace, name: str, ends: tuple[tuple[str, str], tuple[str, str]], duration_s: float
) -> Iterator[Loop]:
    workspace.hugepages(768)
    theirs, mine = ends
    result = LoopResult(name=f"{name}, testpmd io on the other core", aim=1.0)
    run = workspace.directory

    sockets = (run / "socket0", run / "socket1")

    def other(mode: str) -> TestpmdOptions:
        return TestpmdOptions(name=f"peer-{mode}", core=PEER_CORE, vdevs=theirs, mode=mode, sockets=sockets)

    def here(mode: str, burst: int = BURSTS[0]) -> TestpmdOptions:
        return TestpmdOptions(name=f"gen-{mode}", core=GENERATOR_CORE, vdevs=mine, mode=mode, burst=burst)

    def flowgen(burst: int) -> Measure:
        return lambda: received_by([here("flowgen", burst)], run, duration_s)

    # In these the peer polls from both of them: first who receives, and then who only sends.
    result.beside_mpps["testpmd txonly to rxonly on the other core"] = _one_way(
        here("txonly"), other("rxonly"), run, duration_s
    )
    result.beside_mpps["testpmd rxonly from txonly on the other core"] = (
        received_by([other("txonly"), here("rxonly")], run, duration_s)[0] / 1e6
    )
    nfvgen = Nfvgen(workspace, mine, duration_s)

    def with_peer(measure: Measure) -> Measure:
        # A new peer for every trial: testpmd crashes now and then when a memif goes away under its polling.
        def measured() -> tuple[float, float]:
            peer = Testpmd(other("io"), run)
            try:
                peer.start()
                return measure()
            finally:
                peer.close()

        return measured

    rivals = {f"{TESTPMD}{VARIANT}{burst}": with_peer(flowgen(burst)) for burst in BURSTS}
    yield {name: with_peer(measure) for name, measure in nfvgen.variants().items()}, rivals, result


def _one_way(sender: TestpmdOptions, receiver: TestpmdOptions, run: Path, duration_s: float) -> float:
    """Return the rate that a sender gets rid of, in Mpps: the receiver has to be there first."""
    sink = Testpmd(receiver, run)
    try:
        sink.start()
        source = Testpmd(sender, run)
        try:
            source.wait_for_links()
            source.start()
            return sink.rates_pps(duration_s)[0] / 1e6
        finally:
            source.close()
    finally:
        sink.close()


@contextmanager
def veth(workspace: Workspace, duration_s: float, two_cores: bool) -> Iterator[Loop]:
    """A bare veth pair, both ends in one process; on two cores the receive work has the other one to itself.

    testpmd on one core is a rival in both: what two cores are worth is counted against it. On two it is another one.
    """
    workspace.hugepages(384)
    single = _pair(workspace, "veth1")
    rivals = _af_xdp(workspace, single, ONE_CORE, duration_s)
    result = LoopResult(name="veth pair, XDP against net_af_xdp, one core", aim=4.0, aim_rival=ONE_CORE)
    netns = single
    if two_cores:
        netns = _pair(workspace, "veth2")
        before = list(napi.napi_threads())
        napi.make_threaded(netns, GENERATOR_LINKS)
        for name in GENERATOR_LINKS:
            napi.pin_threads(name, before, PEER_CORE, Role.GENERATOR)
        rivals |= _af_xdp(workspace, netns, f"{TESTPMD}, two cores", duration_s)
        result.name, result.aim = "veth pair, XDP on two cores against net_af_xdp", 8.0
        # Both ports' receive threads are on the one core: one of them waits nearly half of the time, undisturbed.
        result.pressure_limit = 0.5
    ours = Nfvgen(workspace, GENERATOR_LINKS, duration_s, netns)
    result.beside_mpps["nfvgen, one direction only"] = ours(bidirectional=False)[0] / 1e6
    yield ours.variants(), rivals, result


def _pair(workspace: Workspace, name: str) -> str:
    """Make a veth pair in a namespace of its own; return its path."""
    netns = workspace.network_namespace(name)
    first, second = GENERATOR_LINKS
    inside(netns, lambda: links.add_veth(first, second, (MACS[first], MACS[second])))
    veth_ports.prepare(netns, GENERATOR_LINKS)
    veth_ports.wait_until_up(netns, GENERATOR_LINKS)
    return netns


def _af_xdp(workspace: Workspace, netns: str, title: str, duration_s: float) -> dict[str, Measure]:
    """Return testpmd flowgen on a pair, in its variants."""
    workspace.libxdp()
    vdevs = (f"net_af_xdp0,iface={GENERATOR_LINKS[0]}", f"net_af_xdp1,iface={GENERATOR_LINKS[1]}")

    def flowgen(burst: int) -> Measure:
        options = TestpmdOptions("gen-af-xdp", GENERATOR_CORE, vdevs, mode="flowgen", netns=netns, burst=burst)
        return lambda: received_by([options], workspace.directory, duration_s)

    return {f"{title}{VARIANT}{burst}": flowgen(burst) for burst in BURSTS}
