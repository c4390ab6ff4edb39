"""The compute with VPP: nfvbed's own mechanism driver and agent of Neutron, guests and generator on sockets."""

import time
from collections.abc import Sequence

from nfvbed.cloud.devcloud.cloud import DevCloud
from nfvbed.cloud.devcloud.nodes.inside import file_in
from nfvbed.cloud.devcloud.services.computes import MGMT
from nfvbed.cloud.devcloud.services.nova import GUEST_RING_SIZE
from nfvbed.cloud.instances import DATA_NETWORKS, PlacedInstance
from nfvbed.dataplanes.computes import guests, packages, refusals
from nfvbed.dataplanes.computes.own_node import OwnNodeCompute
from nfvbed.dataplanes.computes.refusals import Others
from nfvbed.dataplanes.ports import vhost_user
from nfvbed.dataplanes.vpp import binaries, calls, nodeprocess, reading
from nfvbed.dataplanes.vpp.api import VppApi
from nfvbed.dataplanes.vpp.connection import Connection
from nfvbed.dataplanes.vpp.neutron_vpp import plumbing
from nfvbed.dataplanes.vpp.neutron_vpp.names import API
from nfvbed.dataplanes.vpp.node import KIND
from nfvbed.dataplanes.vpp.nodeprocess import UPLINK_SOCKETS, VppSetup
from nfvbed.dataplanes.vpp.options import VppOptions
from nfvbed.dataplanes.vpp.ports import memif_port
from nfvbed.dataplanes.vpp.startup import STATISTICS_SOCKET
from nfvbed.errors import DeployError, SwitchDiedError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.ledger.processes import ManagedProcess, tail
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.patience import patient
from nfvbed.records import GeneratorPort, Hop, PortKind, SwitchCounters, WorkThread
from nfvbed.spec.layout import End, Layout, layout
from nfvbed.spec.variant import Variant, options_of

_UPLINKS_S = patient(30.0)
"""The agent connects to a VPP that was started, and makes its interfaces."""
_OTHERS: Others = {
    "vnf_ports": ("vhost-user", "Neutron's driver for VPP binds ports of instances as vhost-user sockets"),
    "port_type": ((None, "vhost-user", "memif"), "a node is given no NICs"),
    "rx_mode": ("polling", "ports are sockets, which are polled while something is measured"),
    "rx_queue_size": (GUEST_RING_SIZE, "Nova gives guests rings of that size (rx_queue_size)"),
    "rx_queues": (1, "these are of NICs, and a node is given none"),
}
_MEASURED = frozenset(f"{plumbing.UPLINK}{name}" for name in DATA_NETWORKS)
_LAST_LINES = 12


class VppCompute(OwnNodeCompute):
    """VPP in the network namespace of a node of its own."""

    dataplane = "vpp"
    kind = KIND
    vnf_port_kind = PortKind.VHOST_USER
    no_made_networks = "they are VLANs of the physical network tenant, and VPP has no interface to it there"

    def __init__(self, cloud: DevCloud) -> None:
        super().__init__(cloud)
        self._opened: Connection | None = None

    def try_host(self, variant: Variant) -> None:
        """Run VPP, asking for its version: one that lacks a library, or a CPU's feature, fails here."""
        binaries.version(binaries.locate())

    def check(self, variant: Variant, plan: Layout) -> None:
        """Refuse what Neutron's driver and Nova decide, paths that are no chain, and a machine without VPP."""
        options_of(variant, VppOptions)
        refusals.refuse_all(variant, _OTHERS)
        refusals.require_chain(plan, refusals.LONGEST, refusals.JOINED)
        binaries.locate()

    def apply(self, variant: Variant, arrangement: Arrangement) -> None:
        """Restart VPP with the variant's options where it runs with others; the agent then makes its interfaces."""
        options = options_of(variant, VppOptions)
        cores = (arrangement.control_cores[0], arrangement.switch_cores)
        self._close()
        nodeprocess.start(*self._cloud.require_compute(self.host), VppSetup.of(options, cores))
        wanted = {f"{plumbing.UPLINK}{name}" for name in DATA_NETWORKS}
        deadline = time.monotonic() + _UPLINKS_S
        while missing := wanted - self._numbers().keys():
            self.verify()
            if time.monotonic() > deadline:
                raise DeployError(
                    "Neutron's agent has not made VPP's interfaces",
                    where=f"node {self.host}",
                    observed=f"without {', '.join(sorted(missing))} after {_UPLINKS_S:g} s",
                    fix=f"nfvbed devcloud logs {self.host}/{self.kind.agent}",
                )
            time.sleep(0.2)

    def rest(self, resting: bool) -> None:
        """Let workers sleep until frames come, or poll; an interface without a peer has nothing to poll."""
        if self._cloud.find_outside(self.host) is None:
            return
        mode = "interrupt" if resting else "polling"
        for tag, number in plumbing.interfaces(self._connection.api, linked=True).items():
            if tag.startswith(plumbing.PORT) or tag in _MEASURED:
                calls.set_rx_mode(self._connection.api, number, mode)

    def attach(self, workspace: Workspace, variant: Variant) -> tuple[GeneratorPort, GeneratorPort]:
        """Return the ports between generator and VPP: the generator serves vhost-user sockets, VPP those of memif."""
        options = options_of(variant, VppOptions)
        # Through a link of the workspace: names of sockets are short, and folders of checkouts need not be.
        folder = workspace.directory / "node"
        folder.unlink(missing_ok=True)
        folder.symlink_to(self._node.places.exchange)
        paths = [folder / UPLINK_SOCKETS[network] for network in DATA_NETWORKS]
        if options.port_type == "memif":
            first, second = (memif_port(index, path, options.rx_queue_size) for index, path in enumerate(paths))
        else:
            first, second = vhost_user.server_ports(paths, options.rx_queue_size)
        return first, second

    def adopt(self, variant: Variant, instances: Sequence[PlacedInstance]) -> None:
        """Check that VPP has the instances' interfaces; they get a link when the guests' drivers have started."""
        self._path(instances)

    def detach(self) -> None:
        """Close the connection to VPP; its interfaces stay, and wait for the next generator."""
        self._close()

    def versions(self) -> dict[str, str]:
        """Return versions of VPP and of the packages in the private root."""
        return {"vpp": self._connection.api.version(), **packages.versions(self._cloud.places, {})}

    def threads(self, instances: Sequence[PlacedInstance]) -> tuple[WorkThread, ...]:
        """Return VPP's workers and the guests' vCPUs."""
        workers = reading.workers(self._vpp().pid, polling=True)
        return (*workers, *guests.vcpu_threads(self._node, instances))

    def hops(self, instances: Sequence[PlacedInstance]) -> tuple[Hop, ...]:
        """Read the generator's first interface, the graph, each instance's interfaces, the generator's other one."""
        plan = layout(f"pv{len(instances)}p" if instances else "p2p")
        return reading.hops(self._connection.read(errors=True), self._path(instances), plan)

    def counters(self) -> SwitchCounters:
        """Read what came in through its interfaces, and what its workers' graph took for it."""
        measured = {tag: number for tag, number in self._numbers().items() if tag != f"{plumbing.UPLINK}{MGMT}"}
        return self._connection.counters(measured)

    def verify(self) -> None:
        """Check that VPP lives and answers on its API."""
        self._require_vpp()
        self._connection.api.call("control_ping")

    @property
    def _connection(self) -> Connection:
        if self._opened is None:
            api, statistics = (file_in(self._node, str(path)) for path in (API, API.with_name(STATISTICS_SOCKET)))
            self._opened = Connection.open(VppApi(api, self._require_vpp), statistics, self._require_vpp)
        return self._opened

    def _close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    def _vpp(self) -> ManagedProcess:
        found = self._cloud.find_outside(self.host)
        if found is None:
            raise SwitchDiedError(
                "the cloud's VPP has ended",
                where=f"node {self.host}",
                observed=f"the last lines of its log:\n{tail(self._node.places.logs / 'vpp.log', _LAST_LINES)}",
                fix="nfvbed devcloud start starts it again",
            )
        return found

    def _require_vpp(self) -> None:
        self._vpp()

    def _numbers(self) -> dict[str, int]:
        return plumbing.interfaces(self._connection.api)

    def _path(self, instances: Sequence[PlacedInstance]) -> dict[str, int]:
        """Return VPP's numbers of the path's interfaces, by the names of the path's ends."""
        numbers = self._numbers()
        tags = {f"p{number}": f"{plumbing.UPLINK}{name}" for number, name in enumerate(DATA_NETWORKS)}
        for place, instance in enumerate(instances):
            ends = (End(place, number).name for number in range(2))
            tags |= {end: f"{plumbing.PORT}{port.id}" for end, port in zip(ends, instance.ports[:2], strict=True)}
        missing = [tag for tag in tags.values() if tag not in numbers]
        if missing:
            raise SwitchDiedError(
                "VPP lacks interfaces of the path",
                where=f"node {self.host}",
                observed=f"there is none of {', '.join(missing)}",
                fix=f"nfvbed devcloud logs {self.host}/{self.kind.agent}",
            )
        return {name: numbers[tag] for name, tag in tags.items()}
