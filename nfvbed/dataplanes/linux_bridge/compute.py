"""The compute with the kernel's bridge: Neutron's Linux bridge agent, a bridge for each network, guests on taps."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from nfvbed.cloud.compute import AddressLead
from nfvbed.cloud.devcloud.links import space
from nfvbed.cloud.devcloud.services import libvirt, neutron, nova
from nfvbed.cloud.devcloud.services.computes import DATA, ComputeKind
from nfvbed.cloud.devcloud.services.service import Mechanism
from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.dataplanes.computes import kernel_options, refusals
from nfvbed.dataplanes.computes.kernel import KernelCompute, port_hop
from nfvbed.dataplanes.linux_bridge.options import LinuxBridgeOptions
from nfvbed.dataplanes.ports.veth_probe import require_sender
from nfvbed.errors import UnsupportedError
from nfvbed.host import fixes
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.network import links, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.records import CounterSource, Hop, PortKind
from nfvbed.spec.layout import End, Layout
from nfvbed.spec.variant import Variant, options_of

_NETFILTER_SETTINGS = Path("/proc/sys/net/bridge")
_OTHERS: dict[str, tuple[object, str]] = {
    "offloads": kernel_options.OFFLOADS,
    "vhost": kernel_options.VHOST,
    "queue_balancer": (False, "Nova makes the taps of its guests, and nfvbed has no balancer on a node"),
    "guest_nic": (("any", "virtio"), "Nova gives a guest the NIC that its image asks for (hw_vif_model)"),
}
_ID = 11
"""Characters of a port's or a network's id in the name of its tap or bridge (Neutron)."""


class LinuxBridgeCompute(KernelCompute):
    """Bridges that Neutron's agent makes when a network gets its first port on the node."""

    dataplane = "linux-bridge"
    kind = ComputeKind(
        "linux-bridge",
        "neutron-linuxbridge-agent",
        (libvirt.SERVICE, nova.COMPUTE, neutron.agent("linuxbridge", __package__)),
        Mechanism("linuxbridge"),
    )
    vnf_port_kind = PortKind.TAP
    called = "bridge"
    tap = "tap"

    def try_host(self, variant: Variant) -> None:
        """Look for live frames and, where they are asked for, iptables on bridges."""
        require_sender()
        options = options_of(variant, LinuxBridgeOptions)
        if options.netfilter and not _NETFILTER_SETTINGS.is_dir():
            raise UnsupportedError("the kernel has no br_netfilter", fix=fixes.BRIDGE_NETFILTER)

    def check(self, variant: Variant, plan: Layout) -> None:
        """Refuse options that Nova decides, and paths that are no chain."""
        options_of(variant, LinuxBridgeOptions)
        refusals.refuse_all(variant, _OTHERS)
        refusals.require_chain(plan, refusals.LONGEST, refusals.JOINED)

    def apply(self, variant: Variant, arrangement: Arrangement) -> None:
        """Place the links' receive work, and turn iptables on or off for bridged frames."""
        super().apply(variant, arrangement)
        calls = int(options_of(variant, LinuxBridgeOptions).netfilter)
        inside(space(self._node), partial(_call_iptables, calls))

    def adopt(self, variant: Variant, instances: Sequence[PlacedInstance]) -> None:
        """Steer the taps' receive work, and configure Neutron's bridges as the lab configures its own."""
        super().adopt(variant, instances)
        options = options_of(variant, LinuxBridgeOptions)
        netns = space(self._node)
        taps = {self.device(port) for instance in instances for port in instance.ports[:2]}
        bridges = {bridge for name, bridge in inside(netns, links.masters).items() if name in {*DATA, *taps}}
        for bridge in sorted(bridges):
            settings = {"br_ageing_time": 30_000, "br_mcast_snooping": 0}
            if options.fdb_max_learned is not None:
                settings["br_fdb_max_learned"] = options.fdb_max_learned
            inside(netns, partial(links.tune_bridge, bridge, settings, options.learning))
            if options.fdb_max_learned is not None:
                inside(netns, partial(_check_limit, bridge, options.fdb_max_learned))

    def own_hops(self, instances: Sequence[PlacedInstance]) -> tuple[Hop, ...]:
        """Return data0, its bridge, the first tap; the last tap, its bridge, data1; between VNFs tap, bridge, tap."""
        netns = space(self._node)
        masters = inside(netns, links.masters)
        walk = tuple(_walk([self.device(port) for instance in instances for port in instance.ports[:2]]))
        found = veth.read(netns, tuple(name for _, name in walk))
        path: list[Hop] = []
        for place, (end, name) in enumerate(walk):
            bridge = masters.get(name, "no bridge")
            path.append(port_hop(bridge, name, found[name], end))
            if place % 2 == 0 and bridge in masters.values():
                counted = veth.read(netns, (bridge,))[bridge]
                drops = {"rx_dropped": counted.rx_dropped, "tx_dropped": counted.tx_dropped}
                path.append(Hop(name=bridge, drops=drops, counted_by=CounterSource.LINUX))
        return tuple(path)

    def lead(self, leads: Sequence[AddressLead]) -> None:
        """Put static entries into Neutron's bridges."""
        behind: dict[str, list[str]] = {}
        for one in leads:
            name = DATA[one.side] if one.instance is None else self.device(one.instance.ports[one.side])
            behind.setdefault(name, []).append(one.mac)
        inside(space(self._node), partial(links.lead_addresses, behind))

    def device(self, port: InstancePort) -> str:
        """Return the name of the port's tap."""
        return f"tap{port.id[:_ID]}"


def _walk(taps: Sequence[str]) -> Iterator[tuple[End, str]]:
    """Yield the ends of the path and the names of their ports; every two of them are on one bridge."""
    yield End(None, 0), DATA[0]
    for place, name in enumerate(taps):
        yield End(place // 2, place % 2), name
    yield End(None, 1), DATA[1]


def _call_iptables(calls: int) -> None:
    for table in ("iptables", "ip6tables"):
        if _NETFILTER_SETTINGS.is_dir():
            (_NETFILTER_SETTINGS / f"bridge-nf-call-{table}").write_text(str(calls))


def _check_limit(bridge: str, wanted: int) -> None:
    """Make sure that the limit is in force: a kernel that does not know the attribute does not refuse it."""
    limit = links.learnt_addresses(bridge)[1]
    if limit != wanted:
        raise UnsupportedError(
            "the bridge takes no limit of learnt addresses",
            where=f"fdb_max_learned: {wanted}",
            observed=f"the kernel says {limit}",
            fix="Linux 6.7 or later, or no fdb_max_learned",
        )
