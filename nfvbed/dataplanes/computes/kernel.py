"""What computes share whose switch is the kernel's: the cores of their links and taps, and the kernel's counters."""

from abc import abstractmethod
from collections.abc import Sequence

from nfvbed.cloud.devcloud.links import space
from nfvbed.cloud.devcloud.services.computes import DATA
from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.dataplanes.computes import guests
from nfvbed.dataplanes.computes.linked import LinkedCompute, Notes
from nfvbed.dataplanes.ports.kernel_cores import place_generator, place_links
from nfvbed.host.cores import coredistance
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.network import links, napi, veth
from nfvbed.host.network.links import LinkCounters
from nfvbed.host.network.namespaces import inside
from nfvbed.host.network.veth import GENERATOR_LINKS
from nfvbed.records import NOT_SEPARABLE, Hop, HopKind, Role, SwitchCounters, WorkThread
from nfvbed.spec.layout import End
from nfvbed.spec.options import CoreUse
from nfvbed.spec.variant import Variant


class KernelNotes(Notes):
    """Notes that also say which threads do the receive work."""

    core_use: CoreUse


class KernelCompute(LinkedCompute):
    """A compute whose switch is the kernel's; the guests' taps are ports of it."""

    noted = KernelNotes
    no_made_networks = "they are VLANs of the physical network tenant, and Neutron's agent there has no interface to it"
    tap: str
    """How names of devices of guests begin."""

    def apply(self, variant: Variant, arrangement: Arrangement) -> None:
        """Put the receive work of both ends of the generator's links where the variant wants it."""
        inner, core_use = space(self._node), variant.options.veth_core_use
        self._release_cores()
        core = arrangement.switch_cores[0]
        threads: tuple[WorkThread, ...] = ()
        if core_use == "rps":
            napi.steer(inner, DATA, core)
        if core_use == "threaded-napi":
            threads = place_links(inner, DATA, core, Role.SWITCH)
        if core_use != "inline":
            threads += place_generator(GENERATOR_LINKS, self._outer, arrangement)
        tsc_hz = coredistance.measure((core, arrangement.generator_core)).tsc_hz
        self._note(KernelNotes(core_use=core_use, switch_core=core, tsc_hz=tsc_hz, threads=threads))

    def adopt(self, variant: Variant, instances: Sequence[PlacedInstance]) -> None:
        """Let RPS hand what guests send to the switch's core: a tap has no receive work that a thread could do."""
        notes = self._notes(KernelNotes)
        if notes.core_use != "inline":
            names = [self.device(port) for instance in instances for port in instance.ports[:2]]
            napi.steer(space(self._node), names, notes.switch_core)

    def threads(self, instances: Sequence[PlacedInstance]) -> tuple[WorkThread, ...]:
        """Return the NAPI threads, the guests' vCPUs, and QEMU's main threads, which serve the taps."""
        node, switching = self._node, napi.still_there(self._notes(KernelNotes).threads)
        return (*switching, *guests.vcpu_threads(node, instances), *guests.main_threads(node, instances))

    @abstractmethod
    def device(self, port: InstancePort) -> str:
        """Return the name of the device of an instance's port."""

    def counters(self) -> SwitchCounters:
        """Read what came into the switch's ports. Its cycles cannot be separated from those of the guests' QEMU."""
        found = {name: counted for name, counted in self._read().items() if name in DATA or name.startswith(self.tap)}
        core_use = self._notes(KernelNotes).core_use
        return SwitchCounters(
            packets=sum(counted.rx_packets for counted in found.values()),
            busy_cycles=NOT_SEPARABLE,
            source=f"the {self.called}'s work is part of a guest's writes to its tap ({core_use})",
            raw={name: counted.model_dump() for name, counted in found.items()},
        )

    def _read(self) -> dict[str, LinkCounters]:
        return inside(space(self._node), links.all_counters)


def port_hop(bridge: str, name: str, counted: LinkCounters, end: End) -> Hop:
    """Return a port of the switch as a hop."""
    return veth.hop(f"{bridge} port {name}", counted, HopKind.SWITCH_PORT, end)
