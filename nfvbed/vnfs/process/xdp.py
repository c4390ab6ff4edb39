"""XDP redirect as a VNF: an eBPF program on each device hands every frame to the other one."""

from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.host.network.liveframes import try_xdp
from nfvbed.records import Hop, VnfHandle, WorkThread
from nfvbed.vnfs.process import devices
from nfvbed.vnfs.process.forwarder import ForwarderVnf


class XdpVnf(ForwarderVnf):
    """The program runs where the devices receive: in their NAPI threads on the VNF's core."""

    program = "nfvbed-xdp-forwarder"

    def try_it(self) -> str:
        """Load an XDP program."""
        return try_xdp()

    def own_threads(self, process: ManagedProcess, handle: VnfHandle) -> tuple[WorkThread, ...]:
        """None: its process only holds the program and answers."""
        return ()

    def hops(self, handle: VnfHandle) -> tuple[Hop, ...]:
        """What the program saw come in; what a device took is counted by its driver."""
        seen = self.statistics(handle)
        return tuple(
            hop.model_copy(update={"rx_packets": int(mine["rx_packets"])})
            for hop, mine in zip(devices.hops(handle), seen, strict=True)
        )
