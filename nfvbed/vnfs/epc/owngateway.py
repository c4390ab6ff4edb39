"""A mobile core whose bearers nfvbed's gateway carries: UEs attach through nextepc, whose gateways are idle.

nextepc's serving and packet gateways have ports that lead nowhere, so that they can answer on S11 and S5 wherever the
VNF's ports are; with the others they are stopped when the UEs are attached. The own gateway then opens the VNF's ports,
with the bearers that the attaches gave, and synthetic ones where more are wanted.
"""

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

from nfvbed.dataplanes.ports import memif
from nfvbed.dataplanes.reader import CounterReader
from nfvbed.errors import DeployError, OnboardError
from nfvbed.host.fitness import Fitness
from nfvbed.host.native import native_binary
from nfvbed.host.network.napi import still_there
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import CounterSource, Deployment, Hop, HopKind, PortKind, Role, VnfHandle, VnfPort, WorkThread
from nfvbed.spec.bearers import BearerTable
from nfvbed.spec.gateway import SOCKETS
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.epc import network
from nfvbed.vnfs.epc.core import FUNCTIONS, FunctionCores
from nfvbed.vnfs.epc.driver import EpcState, EpcVnf
from nfvbed.vnfs.gateway.client import PortCounts
from nfvbed.vnfs.gateway.process import PROGRAMS, Gateway, GatewaySpec, RunningGateway, probe
from nfvbed.vnfs.gateway.reader import GatewayReader
from nfvbed.vnfs.process import devices
from nfvbed.vnfs.process.life import kernel_ports, port_title
from nfvbed.vnfs.vnf import VnfSeat

DESCRIPTORS = 1024
"""Descriptors of each ring of the DPDK gateway's ports: what its program sets up (`native/gateway/polling.c`)."""
_CAUSES = tuple(name for name in PortCounts.model_fields if name not in ("name", "neighbour", "received", "forwarded"))


class OwnGatewayVnf(EpcVnf):
    """The common part of both kinds of own gateway."""

    kind: ClassVar[Literal["xdp", "dpdk"]]

    def probe(self, choice: VnfChoice) -> Fitness:
        """Probe what nextepc needs, and what the gateway needs."""
        probe(self.kind)
        return super().probe(choice)

    def require_files(self, choice: VnfChoice, root: Path) -> None:
        """Look for nextepc's programs and the gateway."""
        super().require_files(choice, root)
        native_binary(PROGRAMS[self.kind], root)

    def places(self, seat: VnfSeat) -> FunctionCores:
        """Return the places: nextepc's gateways are beside the others, as no frame passes them."""
        return FunctionCores(seat.control_cores, seat.control_cores)

    def take_up(self, seat: VnfSeat, handle: VnfHandle, table: BearerTable) -> tuple[WorkThread, ...]:
        """Stop all of nextepc, and start the gateway with the bearers."""
        self.core_of(handle).freeze(FUNCTIONS)
        Gateway(seat.workspace, self.described(seat)).start(table)
        return self.own_threads(handle)

    @abstractmethod
    def described(self, seat: VnfSeat) -> GatewaySpec:
        """Return how the gateway is started on the VNF's ports."""

    def own_threads(self, handle: VnfHandle) -> tuple[WorkThread, ...]:
        """Return the gateway's own threads that forward, beside those of the kernel."""
        return ()

    def threads(self, handle: VnfHandle) -> Sequence[WorkThread]:
        """Return the kernel's threads that receive for it, or the gateway's."""
        pid = gateway_of(handle).process.pid
        of_kernel = tuple(thread for thread in handle.threads if thread.pid != pid)
        return (*still_there(of_kernel), *self.own_threads(handle))

    def verify(self, handle: VnfHandle) -> None:
        """Check that the gateway and all functions live."""
        gateway_of(handle).verify()
        super().verify(handle)

    def hops(self, handle: VnfHandle) -> tuple[Hop, ...]:
        """Return the gateway's counts at its ports: what came in, and its fate."""
        counts = _counts(self, handle)
        return tuple(
            Hop(
                name=port_title(handle.name, port),
                kind=HopKind.VNF_PORT,
                port=port.port,
                vnf=port.vnf,
                rx_packets=mine.received,
                tx_packets=other.forwarded + mine.echo,
                drops={cause: getattr(mine, cause) for cause in _CAUSES if cause not in ("arp", "echo")},
                counted_by=CounterSource.GATEWAY,
            )
            for port, mine, other in zip(handle.ports, counts, reversed(counts), strict=True)
        )

    def give_back(self, handle: VnfHandle, state: EpcState) -> None:
        """End the gateway; the ports are where they were before."""
        try:
            process = gateway_of(handle).process
        except DeployError:
            return  # never started
        process.stop()

    def end(self, handle: VnfHandle) -> None:
        """End the gateway and the functions; namespaces and ports go with the workspace."""
        self.give_back(handle, EpcState.of(handle))
        super().end(handle)


class XdpGatewayVnf(OwnGatewayVnf):
    """A gateway in XDP programs on the VNF's veths: it runs in their NAPI threads on the VNF's core."""

    kind = "xdp"

    def lay_ports(
        self, seat: VnfSeat, spaces: network.EpcNamespaces
    ) -> tuple[tuple[VnfPort, ...], tuple[WorkThread, ...]]:
        """Leave the VNF's ports where they are, up and silent."""
        network.set_aside(spaces)
        return seat.ports, devices.prepare(seat)

    def described(self, seat: VnfSeat) -> GatewaySpec:
        """Return the gateway on the VNF's devices."""
        netns, (s1u, sgi) = kernel_ports(seat)
        return GatewaySpec(
            kind="xdp",
            s1u=s1u,
            sgi=sgi,
            sgi_address=str(network.GATEWAY_SGI),
            enb_mac=seat.beyond[0],
            next_hop_mac=seat.beyond[1],
            netns=netns,
            core=seat.control_cores[0],
        )


class DpdkGatewayVnf(OwnGatewayVnf):
    """A gateway that polls the VNF's sockets on its core; where others share the core, it yields when idle."""

    kind = "dpdk"

    def home_of(self, seat: VnfSeat) -> str:
        """Return no namespace: sockets are in none."""
        return ""

    def lay_ports(
        self, seat: VnfSeat, spaces: network.EpcNamespaces
    ) -> tuple[tuple[VnfPort, ...], tuple[WorkThread, ...]]:
        """Give nextepc unused ports, and return the VNF's unchanged: sockets are in no network of the host."""
        network.set_aside(spaces)
        return seat.ports, ()

    def described(self, seat: VnfSeat) -> GatewaySpec:
        """Return the gateway on the VNF's sockets."""
        s1u, sgi = (vdev(index, port) for index, port in enumerate(seat.ports))
        return GatewaySpec(
            kind="dpdk",
            s1u=s1u,
            sgi=sgi,
            sgi_address=str(network.GATEWAY_SGI),
            enb_mac=seat.beyond[0],
            next_hop_mac=seat.beyond[1],
            core=seat.cores[0],
            macs=(seat.ports[0].mac, seat.ports[1].mac),
            yield_when_idle=seat.shares_core,
        )

    def own_threads(self, handle: VnfHandle) -> tuple[WorkThread, ...]:
        """Return the thread that polls: the program's thread that does not answer on the socket."""
        pid = gateway_of(handle).process.pid
        tasks = Path(f"/proc/{pid}/task")
        try:
            program = (tasks / str(pid) / "comm").read_text()
            found = [int(task.name) for task in tasks.glob("*") if (task / "comm").read_text() == program]
        except (FileNotFoundError, ProcessLookupError):
            return ()  # it has just ended: the verification says how
        return tuple(
            WorkThread(role=Role.VNF, pid=pid, tid=tid, core=handle.cores[0], name=PROGRAMS["dpdk"], polling=True)
            for tid in sorted(found)
            if tid != pid
        )

    def reader(self, handle: VnfHandle) -> CounterReader:
        """Return the reader of its cycle counts."""
        return GatewayReader(gateway_of(handle).client)

    def carry(self, seat: VnfSeat, handle: VnfHandle, deployment: Deployment) -> bool:
        """Send frames from the kernel where the generator has kernel ports; else only the generator can."""
        if any(port.kind in SOCKETS for port in deployment.ports):
            return False
        return super().carry(seat, handle, deployment)


def gateway_of(handle: VnfHandle) -> RunningGateway:
    """Return the own gateway of a VNF that has one."""
    return RunningGateway(Workspace.attach(Path(EpcState.of(handle).run_directory)))


def _counts(driver: EpcVnf, handle: VnfHandle) -> tuple[PortCounts, PortCounts]:
    try:
        return gateway_of(handle).client.counters().ports
    except OnboardError:
        driver.verify(handle)
        raise


def vdev(index: int, port: VnfPort) -> str:
    """Return a socket in the form that the gateway's engine opens.

    A memif has as many rings each way: Open vSwitch polls so many, and would read the first one again in the place of
    one that is missing (`ports/memif.py`).

    Args:
        index: 0 on S1-U, 1 on SGi.
        port: port with the queues of the switch's end.
    """
    if port.kind is PortKind.MEMIF:
        arguments = memif.devargs(f"net_memif{index}", port.address, DESCRIPTORS, listens=port.listens)
        return f"{arguments},mac={port.mac},rx_queues={port.queues},tx_queues={port.queues}"
    return (
        f"net_virtio_user{index},path={port.address},server=1,queues={port.queues},"
        f"queue_size={DESCRIPTORS},mac={port.mac}"
    )
