"""The compute with macvtap: Neutron's macvtap agent, guests on devices of the generator's links, in mode bridge."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from nfvbed.cloud.devcloud.cloud import GUESTS_MIB
from nfvbed.cloud.devcloud.links import space
from nfvbed.cloud.devcloud.services import libvirt, neutron, nova
from nfvbed.cloud.devcloud.services.computes import DATA, ComputeKind
from nfvbed.cloud.devcloud.services.service import Copy, Mechanism, Process, Service
from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.dataplanes.computes import kernel_options, refusals
from nfvbed.dataplanes.computes.kernel import KernelCompute, port_hop
from nfvbed.dataplanes.macvtap import tapdevices
from nfvbed.dataplanes.macvtap.options import MacvtapOptions
from nfvbed.dataplanes.ports.veth_probe import Attempt, require_sender, try_out
from nfvbed.errors import DeployError, SwitchDiedError
from nfvbed.host import fixes
from nfvbed.host.network import links, macvlans, veth
from nfvbed.host.network.macvlans import MacvlanDevice
from nfvbed.host.network.namespaces import inside
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Hop, PortKind
from nfvbed.spec.layout import End, Layout
from nfvbed.spec.variant import Variant, options_of

MODE = "bridge"
"""Mode of the devices: Neutron's mechanism driver asks for no other."""
_OTHERS: dict[str, tuple[object, str]] = {
    "mode": (MODE, "Neutron's mechanism driver asks libvirt for devices of that mode"),
    "offloads": kernel_options.OFFLOADS,
    "vhost": kernel_options.VHOST,
}
_PROGRAM = "/run/nfvbed/tapdevices.py"
_TAPS = Service(
    "taps",
    copies=(Copy(_PROGRAM, Path(tapdevices.__file__)),),
    processes=(Process("tap-devices", ("/usr/bin/python3", "-I", _PROGRAM)),),
)
_NO_CHAIN = (
    "VNFs of a chain are joined by networks of type local, and Neutron's macvtap agent has ports on flat and VLAN"
    " networks alone"
)


class MacvtapCompute(KernelCompute):
    """Devices that libvirt makes on the generator's links; frames reach those whose MAC address they have."""

    dataplane = "macvtap"
    kind = ComputeKind(
        "macvtap",
        "neutron-macvtap-agent",
        (_TAPS, libvirt.SERVICE, nova.COMPUTE, neutron.agent("macvtap", __package__)),
        Mechanism("macvtap"),
    )
    vnf_port_kind = PortKind.MACVTAP
    called = "lower link"
    tap = "macvtap"

    @property
    def guests_mib(self) -> int:
        """Memory for one guest: there are no chains."""
        return GUESTS_MIB

    def try_host(self, variant: Variant) -> None:
        """Look for live frames, and make a device in a namespace."""
        options_of(variant, MacvtapOptions)
        require_sender()
        try_out(Attempt(_make_device, "no macvtap can be made", fixes.load("macvtap")))

    def check(self, variant: Variant, plan: Layout) -> None:
        """Refuse what Neutron and Nova decide, and all paths but one VNF between the two networks."""
        options_of(variant, MacvtapOptions)
        refusals.refuse_all(variant, _OTHERS)
        refusals.require_chain(plan, 1, _NO_CHAIN)

    def adopt(self, variant: Variant, instances: Sequence[PlacedInstance]) -> None:
        """Check the devices' mode. Frames of guests are switched in their own system calls, whatever the core use."""
        netns = space(self._node)
        for instance in instances:
            for port in instance.ports[:2]:
                name = self.device(port)
                found = inside(netns, partial(macvlans.mode_of, name))
                if found != MODE:
                    raise DeployError(
                        "a guest's device is in another mode", where=name, observed=found, fix=f"mode {MODE}"
                    )

    def own_hops(self, instances: Sequence[PlacedInstance]) -> tuple[Hop, ...]:
        """Return data0, the device on it, the device on data1, and data1."""
        devices = [
            (End(place, number), self.device(port))
            for place, instance in enumerate(instances)
            for number, port in enumerate(instance.ports[:2])
        ]
        walk = [(End(None, 0), DATA[0]), *devices, (End(None, 1), DATA[1])]
        found = veth.read(space(self._node), tuple(name for _, name in walk))
        return tuple(port_hop("macvtap", name, found[name], end) for end, name in walk)

    def destination_macs(self, instances: Sequence[PlacedInstance]) -> tuple[str, str] | None:
        """Return the addresses of the first and the last port: a device gets only frames with its own address."""
        if not instances:
            return None
        return instances[0].ports[0].mac, instances[-1].ports[1].mac

    def device(self, port: InstancePort) -> str:
        """Return the name of a port's device, found by its MAC address: libvirt names it."""
        found = inside(space(self._node), macvlans.by_address)
        try:
            return found[port.mac.lower()]
        except KeyError:
            raise SwitchDiedError(
                "a port of an instance has no device",
                where=f"node {self.host}, port {port.id}",
                observed=f"no macvtap has the address {port.mac}",
                fix="see whether the instance runs: nfvbed devcloud console",
            ) from None


def _make_device(workspace: Workspace) -> None:
    netns = workspace.network_namespace("probe")
    inside(netns, lambda: links.add_veth("s0", "g0", (veth.MACS["s0"], veth.MACS["g0"])))
    device = MacvlanDevice(name="v0", lower="s0", mac="02:4e:46:56:10:00", mode=MODE)
    inside(netns, lambda: macvlans.add(device))
