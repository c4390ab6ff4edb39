"""Open vSwitch's userspace datapath on DPDK, with vhost-user or memif ports, or ports of NICs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from nfvbed.dataplanes.dataplane import DeployRequest, OwnEndsMaker, OwnKind
from nfvbed.dataplanes.ovs import openflow, reading, tuning
from nfvbed.dataplanes.ovs.binaries import binaries_of
from nfvbed.dataplanes.ovs.database import PortRequest, SwitchState, asked_mtu
from nfvbed.dataplanes.ovs.dpdk.options import OvsDpdkOptions
from nfvbed.dataplanes.ovs.dpdkoptions import DpdkDatapathOptions
from nfvbed.dataplanes.ovs.inplace import LedPath
from nfvbed.dataplanes.ovs.instance import SWITCH, DpdkSettings, OvsInstance, settings
from nfvbed.dataplanes.ovs.options import OvsOptions
from nfvbed.dataplanes.ovs.owntaps import TSO, own_taps
from nfvbed.dataplanes.ovs.ownveths import own_veths
from nfvbed.dataplanes.ovs.probe import try_open_vswitch
from nfvbed.dataplanes.ovs.state import OvsState
from nfvbed.dataplanes.ovs.steering.path import path_rules, steering_path
from nfvbed.dataplanes.ovs.switch import BRIDGE, NORMAL, VNF_PORT_MIB, OvsSwitch, StartedSwitch
from nfvbed.dataplanes.ports import memif, vhost_user
from nfvbed.dataplanes.reset import ResetReport
from nfvbed.dataplanes.wiring import layout_of, port_numbers, queues_of, require_vnf, vnf_ports
from nfvbed.errors import UnsupportedError
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.fitness import Fitness
from nfvbed.host.nics import take
from nfvbed.host.nics.inventory import Nic
from nfvbed.host.timing import Steps
from nfvbed.records import Deployment, GeneratorPort, PortKind, QualityWarning, VnfPort
from nfvbed.records.state import PlaneState
from nfvbed.spec.layout import VEPC, End
from nfvbed.spec.variant import Variant, options_of

_OPEN_PORTS = 2
STATIC_RULES = "static"
GENERATOR_QUEUES = 16
"""That nfvgen sends on at most (`native/nfvgen/engine.h`)."""


def ovs_options(variant: Variant) -> DpdkDatapathOptions:
    """Return the variant's options.

    Raises:
        ConfigurationError: they are those of another data plane.
        UnsupportedError: they ask for more queues than a generator's port has.
    """
    options = options_of(variant, DpdkDatapathOptions)
    most, why = _most_queues(options)
    if options.n_rxq > most:
        raise UnsupportedError(
            f"{options.port_type} ports receive on as many queues as their other side sends on: {why}",
            where=f"variant {variant.name}, n_rxq",
            observed=str(options.n_rxq),
            fix=f"n_rxq: {most} at most",
        )
    if options.port_type == "memif" and options.pmd_cores > memif.MOST_THREADS:
        raise UnsupportedError(
            "each polling thread sends on a queue of its own, and the generator receives on 16 of a memif at most",
            where=f"variant {variant.name}, pmd_cores",
            observed=f"{options.pmd_cores} polling threads and the main thread",
            fix=f"pmd_cores: {memif.MOST_THREADS} at most, or vhost-user ports",
        )
    return options


def _most_queues(options: DpdkDatapathOptions) -> tuple[int, str]:
    """Return how many queues of a generator's port the switch can receive on, and what bounds them."""
    if options.port_type == "pci":
        return options.n_rxq, "the card says how many"
    if options.port_type == "memif":
        # The rings of both ways are as many on either side, and Open vSwitch sends on one for each of its threads.
        return memif.queues(options.pmd_cores), "on a memif at most one for each of the switch's threads, and one more"
    return GENERATOR_QUEUES, f"the generator on {GENERATOR_QUEUES} at most"


class OvsDpdk(OvsSwitch):
    """`br0` in an instance of its own, its ports vhost-user, memif or NICs'; PMD threads on the switch's cores."""

    kind = "ovs-dpdk"

    def probe(self, variant: Variant) -> Fitness:
        """Find the programs, run them, and look for memory; nothing that polls is started."""
        options = ovs_options(variant)
        tuning.check_affinity(variant)
        binaries = binaries_of(options)
        tuning.check_version(options, binaries)
        return try_open_vswitch(variant, binaries, options.socket_memory_mib)

    def options(self, request: DeployRequest) -> OvsOptions:
        """Return the variant's options; refuse those that the ports cannot have."""
        options = ovs_options(request.variant)
        tuning.check_version(options, binaries_of(options))
        options.check_layout(request.layout)
        return options

    def start(self, request: DeployRequest, steps: Steps) -> StartedSwitch:
        """Start database and switch, make the bridge and all ports of the layout."""
        options, plan, workspace = ovs_options(request.variant), request.layout, request.workspace
        names = [name for name in port_numbers(plan) if not _is_on_nic(name, options)]
        sockets = vhost_user.sockets(workspace.directory, names)
        instance = OvsInstance(workspace, binaries_of(options), request.arrangement.control_cores)
        ports = _generator_ports(request, sockets)
        ports_of_vnfs = vnf_ports(plan, lambda end: _vnf_port(end, sockets[end.name], request))
        place = _make_place(request, len(sockets), steps)
        ends = self.ends(request)
        if request.peers is not None and _is_client(request):
            with steps.timed("deploy.peers.start"):
                request.peers.start(_foreseen(request, ports, ports_of_vnfs, ends))
        state = _start(request, instance, place, sockets, steps)
        return StartedSwitch(
            instance=instance,
            netns=place.netns,
            ports=ports,
            vnf_ports=ports_of_vnfs,
            threads=reading.pmd_threads(workspace.process(SWITCH).pid),
            daemon_cores=request.arrangement.control_cores,
            versions={"dpdk": state.dpdk_version},
            state=ends,
            warnings=place.warnings,
        )

    def own_ends(self, deployment: Deployment) -> Mapping[OwnKind, OwnEndsMaker]:
        """Return taps and veth ports where nfvbed writes the rules and frames stay as they are.

        Around a mobile core the ends stay as they are.
        """
        state, plan = OvsState.of(deployment), layout_of(deployment)
        numbers = port_numbers(plan)
        if plan.name == VEPC or not {"p0", "p1"} <= numbers.keys() or state.steering not in (STATIC_RULES, NORMAL):
            return {}
        rules = [openflow.Rule(output=openflow.PORT_NORMAL, cookie=0)]
        if state.steering != NORMAL:
            rules = list(path_rules(steering_path(plan)))
        workspace = self._workspace(deployment)
        path = LedPath(self._bridge(deployment), rules, (numbers["p0"], numbers["p1"]))
        thread = reading.main_thread(workspace.process(SWITCH).pid, state.control_cores)
        return {"tap": partial(own_taps, path, thread), "veth": partial(own_veths, path, workspace.libxdp)}

    def ends(self, request: DeployRequest) -> PlaneState:
        """Return what the generator needs to know of the ends of the path."""
        return PlaneState(idle_port=vhost_user.IDLE if len(request.layout.outside) == 1 else None)

    def reset(self, deployment: Deployment) -> ResetReport:
        """Reset as every Open vSwitch does; DPDK's memif clients would not connect again.

        Raises:
            UnsupportedError: a port of it is a memif.
        """
        kinds = {port.kind for port in deployment.ports}
        kinds |= {port.kind for ports in deployment.vnf_ports for port in ports}
        if PortKind.MEMIF in kinds:
            raise UnsupportedError(
                "a switch with memif ports cannot be reset beneath its peers",
                where=f"variant {deployment.variant}",
                observed="DPDK's memif client connects once, when its port starts",
                fix="leave the test reset out, or take variant ovs-dpdk",
            )
        return super().reset(deployment)


@dataclass(frozen=True)
class _Place:
    """Where the switch will run, and with what memory and ports."""

    netns: str
    dpdk: DpdkSettings
    warnings: tuple[QualityWarning, ...]


def _make_place(request: DeployRequest, sockets: int, steps: Steps) -> _Place:
    """Take the network ports, reserve hugepages on their NUMA nodes, and make the switch's namespace."""
    options, arrangement, workspace = ovs_options(request.variant), request.arrangement, request.workspace
    netns = workspace.network_namespace("switch")
    cores, main_core = arrangement.switch_cores, arrangement.control_cores[0]
    nics: tuple[Nic, ...] = ()
    if options.port_type == "pci":
        with steps.timed("deploy.nics"):
            taken = take.take(request.cables, netns, workspace.ledger)
            nics = tuple(taken[cable.switch] for cable in request.cables)
    topology = read_topology()
    nodes = take.memory_nodes(nics, (*cores, main_core), topology) if nics else ()
    memory_mib = options.socket_memory_mib + VNF_PORT_MIB * max(0, sockets + len(nics) - _OPEN_PORTS)
    asked_mib = max(request.variant.hugepages_mib + memory_mib - options.socket_memory_mib, memory_mib)
    with steps.timed("deploy.hugepages"):
        for node in nodes:
            workspace.reserve_hugepages(asked_mib, least_mib=memory_mib, node=node)
        share = max(1, len(nodes))
        hugepages = workspace.hugepages(asked_mib * share, least_mib=memory_mib * share)
    devices = tuple(nic.address for nic in nics)
    dpdk = DpdkSettings(memory_mib, hugepages, cores, main_core, memory_nodes=nodes, devices=devices)
    return _Place(netns, dpdk, take.warnings(nics, cores, topology))


def _is_client(request: DeployRequest) -> bool:
    """Return whether all ports are vhost-user, so that the other sides listen on their sockets."""
    if ovs_options(request.variant).port_type != "vhost-user":
        return False
    vnfs = require_vnf(request.layout, request.vnf, request.variant)
    return vnfs in (None, PortKind.VHOST_USER)


def _foreseen(
    request: DeployRequest,
    ports: tuple[GeneratorPort, ...],
    ports_of_vnfs: tuple[tuple[VnfPort, ...], ...],
    ends: PlaneState,
) -> Deployment:
    """Return the deployment as the other sides need it to start before the switch."""
    return Deployment(
        id=request.workspace.id,
        variant=request.variant.name,
        site="lab",
        topology=request.layout.name,
        ports=ports,
        vnf_ports=ports_of_vnfs,
        run_directory=str(request.workspace.directory),
        control=ends.as_control(),
    )


def _start(
    request: DeployRequest, instance: OvsInstance, place: _Place, sockets: Mapping[str, Path], steps: Steps
) -> SwitchState:
    """Start database and switch and make the bridge; return the switch's state."""
    options = ovs_options(request.variant)
    with steps.timed("deploy.database"):
        instance.start_database()
    other_config = settings(place.dpdk, f"nfvbed-{request.workspace.id}-ovs") | tuning.userspace_settings(options)
    if isinstance(options, OvsDpdkOptions) and options.userspace_tso:
        other_config |= {TSO: "true"}
    ports = [
        _nic_request(name, request) if _is_on_nic(name, options) else _port_request(name, sockets[name], request)
        for name in port_numbers(request.layout)
    ]
    with instance.connect() as database:
        with steps.timed("deploy.switch"):
            database.initialise(other_config)
            instance.start_switch(place.netns)
            state = database.wait_for_switch()
        if request.peers is not None and _is_client(request):
            with steps.timed("deploy.peers.wait"):
                request.peers.wait()
        with steps.timed("deploy.bridge"):
            database.add_bridge(BRIDGE, ports, tuning.bridge_settings(options))
    return state


def _is_on_nic(name: str, options: DpdkDatapathOptions) -> bool:
    """Return whether a port, `p0` or `p1`, is one of a NIC."""
    return options.port_type == "pci" and name.startswith("p")


def _nic_request(name: str, request: DeployRequest) -> PortRequest:
    """Return the request for a port of a NIC: p0 is the switch's end of the first cable, p1 of the second."""
    options = ovs_options(request.variant)
    descriptors = str(options.rx_queue_size)
    asked = {
        "dpdk-devargs": request.cables[int(name.removeprefix("p"))].switch,
        "n_rxq": str(options.n_rxq),
        "n_rxq_desc": descriptors,
        "n_txq_desc": descriptors,
    }
    tuned = tuning.interface_settings(name, options, request.arrangement.switch_cores)
    return PortRequest(name, "dpdk", port_numbers(request.layout)[name], asked, tuned, asked_mtu(request.variant))


def _port_request(name: str, path: Path, request: DeployRequest) -> PortRequest:
    """Return the request for a port; `p0` and `p1` lead to the generator, the others to VNFs."""
    options, cores = ovs_options(request.variant), request.arrangement.switch_cores
    number = port_numbers(request.layout)[name]
    outside = name.startswith("p")
    kind = request.variant.port_kind if outside else require_vnf(request.layout, request.vnf, request.variant)
    if kind is PortKind.MEMIF:
        arguments = memif.devargs(f"net_memif_{name}", path, options.rx_queue_size, listens=True)
        count = options.n_rxq if outside else memif.queues(options.pmd_cores)
        named = options.rxq_affinity.get(name, ())
        # The one queue that the affinity names has those beside it that a VNF's answers come on.
        threads = {name: named if outside or len(named) == count else named[:1] * count}
        tuned = tuning.interface_settings(name, options.model_copy(update={"rxq_affinity": threads}), cores)
        queues = {} if count == 1 else {"n_rxq": str(count)}
        return PortRequest(
            name, "dpdk", number, {"dpdk-devargs": arguments} | queues, tuned, asked_mtu(request.variant)
        )
    tuned = tuning.interface_settings(name, options, cores)
    return PortRequest(
        name, "dpdkvhostuserclient", number, {"vhost-server-path": str(path)}, tuned, asked_mtu(request.variant)
    )


def _generator_ports(request: DeployRequest, sockets: Mapping[str, Path]) -> tuple[GeneratorPort, ...]:
    options, outside = ovs_options(request.variant), request.layout.outside
    if options.port_type == "pci":
        return take.generator_ports(tuple(request.cables[end] for end in outside))
    paths = [sockets[f"p{end}"] for end in outside]
    return tuple(_generator_port(index, path, options) for index, path in enumerate(paths))


def _generator_port(index: int, path: Path, options: DpdkDatapathOptions) -> GeneratorPort:
    if options.port_type == "memif":
        queues = memif.queues(options.pmd_cores)
        return memif.generator_port(index, path, options.rx_queue_size, queues=queues, sending=options.n_rxq)
    return vhost_user.server_port(index, path, options.rx_queue_size, options.n_rxq)


def _vnf_port(end: End, path: Path, request: DeployRequest) -> VnfPort:
    options = ovs_options(request.variant)
    size = options.rx_queue_size
    if require_vnf(request.layout, request.vnf, request.variant) is PortKind.MEMIF:
        return memif.vnf_port(end, path, size, queues=memif.queues(options.pmd_cores))
    return vhost_user.vnf_port(end, path, size, queues_of(request.vnf))
