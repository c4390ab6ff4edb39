"""DPDK's testpmd, as Debian ships it, as a VNF: io, mac, macswap, 5tswap; as a source and as a sink of traffic."""

import os
import time
from pathlib import Path

from pydantic import AliasChoices, Field

from nfvbed.dataplanes.ports import memif
from nfvbed.errors import DeployError, OnboardError, PrerequisiteError, UnsupportedError
from nfvbed.host.fitness import Fitness
from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.host.native import native_binary
from nfvbed.host.network.napi import still_there
from nfvbed.host.testpmd import command, telemetry
from nfvbed.host.testpmd.threads import forwarding_threads, is_runnable
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.workspace import try_memory
from nfvbed.patience import patient
from nfvbed.records import CounterSource, Hop, HopKind, PortKind, Role, VnfHandle, VnfPort, WorkThread
from nfvbed.spec.vnf import VnfChoice
from nfvbed.units import FCS_BYTES
from nfvbed.vnfs.process import devices, sharing
from nfvbed.vnfs.process.first_peer import first_peers
from nfvbed.vnfs.process.life import Processes, ProcessState, check_alive, kernel_ports, port_title
from nfvbed.vnfs.vnf import SINK, SOURCE, VnfDriver, VnfSeat

MODES = {"io": "io", "mac": "mac", "macswap": "macswap", "5tswap": "5tswap", SOURCE: "flowgen", SINK: "rxonly"}
"""testpmd's own names. Its `txonly` never polls, so it could not be made to yield; `flowgen` also sends many flows."""
MEMORY_MIB = 64
_PAGES_BACK_S = 5.0
_LOOK_S = 0.02
MIN_MBUFS, MAX_MBUFS = 4096, 20480
SPARE_MBUFS = 2048
"""Beyond what the rings hold: bursts under way, and the caches of the lcores."""
XDP_RINGS = 2 * 2048
"""Buffers of each queue over AF_XDP, whatever the descriptors: the ring of buffers that the kernel fills, of which DPDK
fills all at the start, and the ring by which it gives sent ones back (XSK_RING_CONS__DEFAULT_NUM_DESCS each). Without
buffers beyond the first of them testpmd never receives a frame: it takes one out of the ring only when it can put
another in.
"""
IDLE, WAITS, YIELDS, POLLS = "idle", "waits", "yields", "polls"
"""In a handle's facts: what it does with its core when there is nothing to do."""
POLLING_LOOKS = 3
"""How often in a row the forwarding thread must be seen running: DPDK's own start lets it run for a moment."""
SOCKETS = (PortKind.VHOST_USER, PortKind.MEMIF)
"""Kinds of ports that are rings behind a socket; all others are network devices."""
_LOOK_S = 0.005
_KERNEL_PORTS = {
    "af_xdp": "net_af_xdp{index},iface={device},queue_count={queues}",
    "af_packet": "net_af_packet{index},iface={device},qpairs={queues},framesz=2048,framecnt=512,blocksz=65536,"
    "qdisc_bypass=1",
}


class TestpmdVnfState(ProcessState):
    """The record of a testpmd VNF."""

    __test__ = False
    telemetry: str
    """Its telemetry socket."""
    hugepages: str
    """Folder of its memory."""
    netns: str | None = None
    """The namespace of its network devices, where it has some."""
    report: str | None = Field(
        default=None, validation_alias=AliasChoices("yield", "report"), serialization_alias="yield"
    )
    """What the plug-in counts, where it is loaded."""


class TestpmdVnf(VnfDriver):
    """testpmd in a process of its own; on vhost-user ports as virtio-user, the server of their sockets.

    Args:
        kernel_ports: DPDK's driver for network devices: `af_xdp`, or `af_packet` for kernels without it.
    """

    __test__ = False

    def __init__(self, kernel_ports: str = "af_xdp") -> None:
        self._kernel_ports = kernel_ports
        self._processes = Processes()

    def probe(self, choice: VnfChoice) -> Fitness:
        """Look for testpmd and the plug-in, and check the memory."""
        if os.geteuid() != 0:
            raise PrerequisiteError("testpmd needs root", fix="run it with sudo")
        command.program()
        native_binary(sharing.PLUGIN)
        try_memory(MEMORY_MIB)
        return Fitness()

    def start(self, seat: VnfSeat) -> VnfHandle:
        """Start testpmd; it forwards once its ports have a peer."""
        spec, workspace, name = seat.choice.vnf, seat.workspace, seat.name
        steps, netns = Steps(), None
        napi_threads: tuple[WorkThread, ...] = ()
        with steps.timed(f"onboard.{name}.start"):
            if _is_network_device(seat.ports[0]):
                netns, _ = kernel_ports(seat)
                workspace.libxdp()
                napi_threads = devices.prepare(seat)
            elif seat.ports[0].kind in SOCKETS:
                _remove_dead_sockets(seat.ports)
            options = self._options(seat)
            environment = {"RUNTIME_DIRECTORY": str(workspace.directory)}
            report, idle = workspace.directory / f"{name}.yield", self._idle(seat)
            if idle != POLLS:
                report.unlink(missing_ok=True)  # of one that is restarted
                environment |= sharing.environment(report, seat.root, waits=idle == WAITS)
            cores = sorted({*seat.cores, options.main_core})
            process = workspace.spawn(name, command.argv(options), cores=cores, netns=netns, environment=environment)
        self._processes.remember(workspace)
        state = TestpmdVnfState(
            run_directory=str(workspace.directory),
            telemetry=str(telemetry.socket_path(workspace.directory, options.file_prefix)),
            hugepages=str(options.hugepages),
            netns=netns,
            report=None if idle == POLLS else str(report),
        )
        return VnfHandle(
            name=name,
            kind=seat.choice.kind,
            forwarding=seat.does,
            ports=seat.ports,
            pids=(process.pid,),
            cgroup=str(workspace.cgroup()),
            cores=seat.cores,
            shares_core=seat.shares_core,
            threads=napi_threads,
            control=state.as_control(),
            steps=steps.done,
            facts={
                "mode": options.mode,
                "burst": options.burst,
                "descriptors": options.descriptors,
                "mbufs": options.mbufs,
                IDLE: idle,
                "retry": spec.retry,
                "ports": [device.partition(",")[0] for device in (*options.vdevs, *options.pci)],
            },
        )

    def ready(self, seat: VnfSeat, handle: VnfHandle) -> VnfHandle:
        """Wait until its ports run and its threads poll, with the plug-in where it yields its core."""
        steps = Steps()
        process = self._processes.of(handle)
        sockets = [port.address for port in handle.ports if port.kind is PortKind.VHOST_USER]
        with steps.timed(f"onboard.{handle.name}.ready"), first_peers(sockets):
            self._wait(seat, handle, process)
        return handle.model_copy(
            update={
                "threads": (*handle.threads, *_own_threads(handle, process.pid)),
                "versions": {
                    "testpmd": str(telemetry.ask(Path(TestpmdVnfState.of(handle).telemetry), "/info")["version"])
                },
                "steps": (*handle.steps, *steps.done),
            }
        )

    def _wait(self, seat: VnfSeat, handle: VnfHandle, process: ManagedProcess) -> None:
        timeout_s = seat.choice.vnf.readiness.within_s
        deadline = time.monotonic() + timeout_s
        seen = 0
        while seen < POLLING_LOOKS:
            check_alive(process)
            if time.monotonic() > deadline:
                raise OnboardError(
                    f"{handle.name} was not ready within {timeout_s:g} s",
                    where=str(process.log),
                    observed=process.log_tail(5),
                    fix="see whether its ports' other sides are there",
                )
            time.sleep(_LOOK_S)
            seen = seen + 1 if _forwards(handle, process) else 0

    def verify(self, handle: VnfHandle) -> None:
        """Check that testpmd lives."""
        check_alive(self._processes.of(handle))

    def hops(self, handle: VnfHandle) -> tuple[Hop, ...]:
        """Return its ports' counters."""
        path = Path(TestpmdVnfState.of(handle).telemetry)
        try:
            counted = [telemetry.ask(path, f"/ethdev/stats,{index}") for index in range(len(handle.ports))]
        except DeployError:
            self.verify(handle)
            raise
        return tuple(
            Hop(
                name=port_title(handle.name, port),
                kind=HopKind.VNF_PORT,
                port=port.port,
                rx_packets=int(counts["ipackets"]),
                tx_packets=int(counts["opackets"]),
                drops={key: int(counts[key]) for key in ("imissed", "ierrors", "oerrors", "rx_nombuf")},
                counted_by=CounterSource.AF_XDP if self._driver_of(port) == "af_xdp" else CounterSource.DPDK,
            )
            for port, counts in zip(handle.ports, counted, strict=True)
        )

    def threads(self, handle: VnfHandle) -> tuple[WorkThread, ...]:
        """Return its forwarding threads, and the kernel's that receive for it."""
        pid = self._processes.of(handle).pid
        of_kernel = tuple(thread for thread in handle.threads if thread.pid != pid)
        return (*still_there(of_kernel), *_own_threads(handle, pid))

    def stop(self, handle: VnfHandle) -> None:
        """End testpmd; its memory is released."""
        self._processes.of(handle).stop()
        self._tidy(handle)

    def end(self, handle: VnfHandle) -> None:
        """Kill testpmd: an orderly end takes a third of a second to close ports that go with the deployment."""
        self._processes.of(handle).kill()
        self._tidy(handle)

    def _tidy(self, handle: VnfHandle) -> None:
        state = TestpmdVnfState.of(handle)
        # One that was killed leaves its socket, which would pass for that of the next.
        Path(state.telemetry).unlink(missing_ok=True)
        for file in Path(state.hugepages).glob("*map_*"):
            file.unlink(missing_ok=True)
        _remove_dead_sockets(handle.ports)

    def _options(self, seat: VnfSeat) -> command.TestpmdOptions:
        spec, workspace, mode = seat.choice.vnf, seat.workspace, MODES[seat.does]
        queues = seat.ports[0].queues
        commands = None
        if spec.retry:
            commands = workspace.directory / f"{seat.name}.testpmd"
            commands.write_text(command.retry_commands(mode))
        first, *others = seat.cores[:queues]
        return command.TestpmdOptions(
            vdevs=tuple(
                self._vdev(index, port, spec.descriptors)
                for index, port in enumerate(seat.ports)
                if not _is_pci_device(port)
            ),
            pci=tuple(port.address for port in seat.ports if _is_pci_device(port)),
            main_core=seat.control_cores[0],
            forwarding_core=first,
            more_cores=tuple(others),
            hugepages=_hugepages(seat),
            memory_mib=MEMORY_MIB,
            file_prefix=f"nfvbed-{workspace.id}-{seat.name}",
            descriptors=spec.descriptors,
            mbufs=_mbufs(len(seat.ports) * queues, self._ring_entries(seat)),
            burst=spec.burst,
            mode=mode,
            peers=seat.beyond if mode == "mac" else (),
            queues=queues,
            single_file_segments=True,
            packet_bytes=seat.frame_size - FCS_BYTES if seat.does == SOURCE else None,
            commands=commands,
        )

    def _idle(self, seat: VnfSeat) -> str:
        """Return what it does when its queues are empty.

        On sockets it waits: its devices' receive threads need its core. A source has nothing to wait for.
        """
        if _is_network_device(seat.ports[0]) and seat.does != SOURCE:
            return WAITS
        return YIELDS if seat.shares_core else POLLS

    def _ring_entries(self, seat: VnfSeat) -> int:
        """Return how many frames the rings of one queue hold, both directions together."""
        descriptors = seat.choice.vnf.descriptors
        if self._driver_of(seat.ports[0]) != "af_xdp":
            return 2 * descriptors
        return XDP_RINGS + descriptors

    def _driver_of(self, port: VnfPort) -> str:
        """Return DPDK's driver for a network device; empty for other ports.

        What lies on a lower link has no native XDP, and AF_XDP without it copies; AF_PACKET works on every function.
        """
        if not _is_network_device(port):
            return ""
        return "af_packet" if port.kind in (PortKind.MACVTAP, PortKind.VF) else self._kernel_ports

    def _vdev(self, index: int, port: VnfPort, descriptors: int) -> str:
        if port.kind is PortKind.VHOST_USER:
            return (
                f"net_virtio_user{index},path={port.address},server=1,queues={port.queues},"
                f"queue_size={descriptors},mac={port.mac}"
            )
        if port.kind is PortKind.MEMIF:
            arguments = memif.devargs(f"net_memif{index}", port.address, descriptors, listens=port.listens)
            return f"{arguments},mac={port.mac}"
        return _KERNEL_PORTS[self._driver_of(port)].format(index=index, device=port.address, queues=port.queues)


def _is_network_device(port: VnfPort) -> bool:
    return port.kind not in SOCKETS and port.netns is not None


def _is_pci_device(port: VnfPort) -> bool:
    return port.kind is PortKind.VF and port.netns is None


def _mbufs(queues: int, ring_entries: int) -> int:
    """Return enough buffers for full rings in both directions; few, as each VNF of a chain has its own.

    Raises:
        UnsupportedError: the rings alone hold more than fits into the VNF's memory.
    """
    wanted = queues * ring_entries + SPARE_MBUFS
    if wanted > MAX_MBUFS:
        raise UnsupportedError(
            "testpmd's rings hold more frames than its memory",
            where=f"{queues} queues with rings for {ring_entries} frames each",
            observed=f"{wanted} frames with those under way; room for {MAX_MBUFS} in {MEMORY_MIB} MiB",
            fix="fewer queues, or fewer descriptors in the VNF's file",
        )
    return max(wanted, MIN_MBUFS)


def _hugepages(seat: VnfSeat) -> Path:
    """Mount the VNF's memory; a restarted VNF finds its old one, without what the last process left in it."""
    link = seat.workspace.directory / f"{seat.name}.hugepages"
    if link.is_symlink():
        _empty(link.resolve())
    else:
        link.symlink_to(seat.workspace.hugepages(MEMORY_MIB))
    return link.resolve()


def _empty(mount: Path) -> None:
    """Remove a killed process's files, and wait for their pages: the kernel frees those of AF_XDP sockets later.

    Pages that do not come back are the next process's to complain of.
    """
    for file in mount.iterdir():
        file.unlink()
    deadline = time.monotonic() + patient(_PAGES_BACK_S)
    while (room := os.statvfs(mount)).f_bfree < room.f_blocks and time.monotonic() < deadline:
        time.sleep(_LOOK_S)


def _remove_dead_sockets(ports: tuple[VnfPort, ...]) -> None:
    """Remove a killed process's socket, which would keep the next from listening."""
    for port in ports:
        if port.kind in SOCKETS and port.listens:
            Path(port.address).unlink(missing_ok=True)


def _own_threads(handle: VnfHandle, pid: int) -> tuple[WorkThread, ...]:
    found = forwarding_threads(pid, handle.cores, Role.VNF)
    if handle.facts.get(IDLE) == WAITS:
        return tuple(thread.model_copy(update={"polling": False}) for thread in found)
    return found


def _forwards(handle: VnfHandle, process: ManagedProcess) -> bool:
    state = TestpmdVnfState.of(handle)
    if not Path(state.telemetry).is_socket():
        return False
    threads = forwarding_threads(process.pid, handle.cores, Role.VNF)
    if state.report is None:
        return any(is_runnable(thread) for thread in threads)
    report = sharing.read_report(Path(state.report))
    return report.ports == len(handle.ports) and any(thread.tid in report.threads for thread in threads)
