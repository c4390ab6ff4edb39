"""A raw-Ethernet VNF: whole frames through packet sockets, without the kernel's stack."""

import os
import socket
from pathlib import Path

from nfvbed.errors import OnboardError
from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.records import CounterSource, Hop, HopKind, Role, VnfHandle, WorkThread
from nfvbed.vnfs.process.forwarder import ForwarderVnf
from nfvbed.vnfs.process.life import port_title
from nfvbed.vnfs.vnf import VnfSeat

_THREAD = "forward"


class RawVnf(ForwarderVnf):
    """A VNF on raw sockets.

    It sleeps when there is nothing to forward, so it may share a core; there it runs before the sender.
    """

    program = "nfvbed-raw-forwarder"

    def try_it(self) -> str:
        """Try to open a packet socket."""
        try:
            socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
        except OSError as failure:
            return f"no packet socket: {failure}"
        return ""

    def ready(self, seat: VnfSeat, handle: VnfHandle) -> VnfHandle:
        """Wait until it forwards."""
        done = super().ready(seat, handle)
        if seat.shares_core:
            for thread in self.own_threads(self._processes.of(done), done):
                _put_first(thread)
        return done

    def own_threads(self, process: ManagedProcess, handle: VnfHandle) -> tuple[WorkThread, ...]:
        """Return its forwarding thread."""
        found = []
        for task in Path(f"/proc/{process.pid}/task").glob("*"):
            try:
                name = (task / "comm").read_text().strip()
            except (FileNotFoundError, ProcessLookupError):
                continue  # it ended meanwhile
            if name == _THREAD:
                found.append(
                    WorkThread(role=Role.VNF, pid=process.pid, tid=int(task.name), core=handle.cores[0], name=name)
                )
        return tuple(found)

    def hops(self, handle: VnfHandle) -> tuple[Hop, ...]:
        """Return the frames that it read and wrote."""
        return tuple(
            Hop(
                name=f"{port_title(handle.name, port)} ({port.address})",
                kind=HopKind.VNF_PORT,
                port=port.port,
                rx_packets=int(mine["rx_packets"]),
                tx_packets=int(mine["tx_packets"]),
                drops={"rx_dropped": int(mine["rx_dropped"]), "tx_dropped": int(mine["tx_dropped"])},
                counted_by=CounterSource.FORWARDER,
            )
            for port, mine in zip(handle.ports, self.statistics(handle), strict=True)
        )


def _put_first(thread: WorkThread) -> None:
    """Give it the priority of the kernel's threads that receive: behind a busy sender it would wait whole slices."""
    try:
        os.sched_setscheduler(thread.tid, os.SCHED_FIFO, os.sched_param(1))
    except OSError as failure:
        raise OnboardError(
            "the raw forwarder cannot be given priority over the sender on its core",
            where=f"thread {thread.tid}",
            observed=str(failure),
            fix="root outside of a container has it; in one, allow CAP_SYS_NICE",
        ) from failure
