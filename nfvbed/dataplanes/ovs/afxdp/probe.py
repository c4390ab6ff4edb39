"""Whether this host can run Open vSwitch on AF_XDP sockets: it is tried with one port, as the variant declares it."""

import os

from nfvbed.dataplanes.ovs import tuning
from nfvbed.dataplanes.ovs.afxdp import modes
from nfvbed.dataplanes.ovs.afxdpoptions import AfxdpDatapathOptions
from nfvbed.dataplanes.ovs.binaries import binaries_of
from nfvbed.dataplanes.ovs.database import PortRequest
from nfvbed.dataplanes.ovs.instance import OvsInstance, thread_settings
from nfvbed.dataplanes.ports.veth_probe import Attempt, probe_veth, try_out
from nfvbed.errors import UnsupportedError
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.fitness import Fitness
from nfvbed.host.native import native_binary
from nfvbed.host.network import links, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.host.network.veth import MACS
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.spec.variant import Variant, options_of

POLLED = "afxdp"
BY_INTERRUPT = "afxdp-nonpmd"
_PORT, _PEER = "p0", "g0"


def port_request(name: str, number: int, options: AfxdpDatapathOptions, cores: tuple[int, ...]) -> PortRequest:
    """Return the request for a port on the device of the same name.

    Args:
        number: its OpenFlow port number.
        cores: of the polling threads.
    """
    return PortRequest(
        name,
        BY_INTERRUPT if options.interrupt else POLLED,
        number,
        {
            "n_rxq": str(options.n_rxq),
            "xdp-mode": options.xdp_mode,
            "use-need-wakeup": str(options.need_wakeup).lower(),
        },
        tuning.interface_settings(name, options, cores),
    )


def try_afxdp(variant: Variant) -> Fitness:
    """Start the switch with one port on a veth link, in a namespace; end it.

    Raises:
        UnsupportedError, PrerequisiteError, DeployError: this host cannot.
    """
    options = options_of(variant, AfxdpDatapathOptions)
    probe_veth(variant)
    native_binary("nfvgen")
    tuning.check_affinity(variant)
    tuning.check_version(options, binaries_of(options))
    tried = options.model_copy(update={"rxq_affinity": {}})
    cannot, fix = "a link for an AF_XDP port cannot be made", "see the reason; another xdp_mode; make setup"
    return try_out(Attempt(lambda workspace: _try(tried, workspace), cannot, fix, fix))


def _try(options: AfxdpDatapathOptions, workspace: Workspace) -> None:
    netns = workspace.network_namespace("probe")
    inside(netns, lambda: links.add_veth(_PORT, _PEER, (MACS["s0"], MACS["g0"]), queues=options.n_rxq))
    veth.prepare(netns, (_PORT, _PEER), offloads=False)
    core = read_topology().allowed[0]
    workspace.libxdp()
    binaries = binaries_of(options)
    instance = OvsInstance(workspace, binaries, sorted(os.sched_getaffinity(0)))
    instance.start_database()
    request = port_request(_PORT, 1, options, (core,))
    with instance.connect() as database:
        database.initialise(thread_settings((core,)))
        instance.start_switch(netns)
        types = database.wait_for_switch(dpdk=False).interface_types
        if request.type not in types:
            raise UnsupportedError(
                f"this Open vSwitch has no ports of type {request.type}",
                where=str(binaries.vswitchd),
                observed=f"it was built without AF_XDP; it has {', '.join(sorted(types))}",
                fix="one that was built with --enable-afxdp (release, program), as Debian has it from 3.1 on",
            )
        database.add_bridge("br0", [request])
        modes.check(instance.control_socket, database.statuses, (_PORT,), options)
