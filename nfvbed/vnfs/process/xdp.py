"""XDP redirect as a VNF: an eBPF program on each device hands every frame to the other one."""

from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.host.network.liveframes import try_xdp
from nfvbed.records import Hop, VnfHandle, WorkThread
from nfvbed.vnfs.process import devices
from nfvbed.vnfs.process.forwarder import ForwarderVnf


class XdpVnf(ForwarderVnf):
    """A VNF of XDP programs, which run in the devices' NAPI threads on the VNF's core."""

    program = "nfvbed-xdp-forwarder"

    def try_it(self) -> str:
        """Try to load an XDP program."""
        return try_xdp()

    def own_threads(self, process: ManagedProcess, handle: VnfHandle) -> tuple[WorkThread, ...]:
        """Return no threads: its process only holds the program and answers."""
        return ()

    def hops(self, handle: VnfHandle) -> tuple[Hop, ...]:
        """Return the frames that the program saw come in; what a device took is counted by its driver."""
        seen = self.statistics(handle)
        return tuple(
            hop.model_copy(update={"rx_packets": int(mine["rx_packets"])})
            for hop, mine in zip(devices.hops(handle), seen, strict=True)
        )
