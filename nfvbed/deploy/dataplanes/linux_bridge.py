"""The kernel's bridge between two veth pairs, its work on a core of its own."""

import os
import platform
from collections.abc import Callable
from pathlib import Path

from pyroute2.netlink.exceptions import NetlinkError

from nfvbed.deploy.dataplane import DataPlane, DeployRequest
from nfvbed.deploy.dataplanes import veth_ports
from nfvbed.deploy.dataplanes.veth_ports import GENERATOR_LINKS, MACS, SWITCH_LINKS
from nfvbed.deploy.lab import coredistance, links, napi
from nfvbed.deploy.lab.arrangement import Arrangement
from nfvbed.deploy.lab.liveframes import try_live_frames
from nfvbed.deploy.lab.namespaces import inside
from nfvbed.deploy.lab.timing import Steps
from nfvbed.deploy.lab.workspace import Workspace
from nfvbed.errors import ConfigurationError, SwitchDiedError, UnsupportedError
from nfvbed.records import (
    NOT_SEPARABLE,
    Deployment,
    Hop,
    Readiness,
    Role,
    Support,
    SwitchCounters,
    WorkThread,
)
from nfvbed.spec.variant import LinuxBridgeOptions, Variant

BRIDGE = "br0"
_AGEING_CENTISECONDS = 30_000
_NETFILTER_SETTINGS = Path("/proc/sys/net/bridge")
NS_PER_S = 1_000_000_000


def bridge_options(variant: Variant) -> LinuxBridgeOptions:
    """The variant's options.

    Raises:
        ConfigurationError: they are those of another data plane.
    """
    if not isinstance(variant.options, LinuxBridgeOptions):
        raise ConfigurationError(f"variant {variant.name} is no linux-bridge", observed=variant.options.dataplane)
    return variant.options


class LinuxBridge(DataPlane):
    """`br0` with the ports s0 and s1 in one namespace; their other ends g0 and g1 in the generator's.

    Core use: `threaded-napi` puts the receive work of s0 and s1, and with it the bridge, into kernel threads on the
    switch's core, that of g0 and g1 on the generator's, before the sender's. `rps` hands the frames of s0 and s1 to
    the switch's core after their receive work on the sender's; g0 and g1 as before. `inline` leaves all of it to the
    sender's softirq, on the generator's core.
    """

    kind = "linux-bridge"

    def probe(self, variant: Variant) -> Support:
        """Make a bridge with a port in a namespace, thread its NAPI, send a live frame, and remove it all."""
        options = bridge_options(variant)
        if os.geteuid() != 0:
            return _unsupported(variant, "links and namespaces can only be made by root", "run it with sudo")
        reason = try_live_frames()
        if reason:
            return _unsupported(variant, f"the generator cannot send: {reason}", "Linux 5.18 or later")
        if options.netfilter and not _NETFILTER_SETTINGS.is_dir():
            return _unsupported(variant, "the kernel has no br_netfilter", "modprobe br_netfilter")
        workspace = Workspace.create()
        try:
            self._try(options, workspace)
        except UnsupportedError as failure:
            return _unsupported(variant, f"{failure.what}: {failure.observed}", failure.fix)
        except (OSError, NetlinkError) as failure:
            return _unsupported(
                variant, f"a bridge between veth links cannot be made: {failure}", "modprobe bridge veth"
            )
        finally:
            workspace.close()
        return Support(variant=variant.name, readiness=Readiness.READY)

    def _try(self, options: LinuxBridgeOptions, workspace: Workspace) -> None:
        netns = workspace.network_namespace("probe")
        inside(netns, lambda: links.add_veth("s0", "g0", (MACS["s0"], MACS["g0"])))
        inside(netns, lambda: links.add_bridge(BRIDGE, ["s0"], {"br_stp_state": 0}, options.learning))
        veth_ports.prepare(netns, ("s0", "g0"))
        if options.core_use == "threaded-napi":
            napi.make_threaded(netns, ["s0"])
        elif options.core_use == "rps":
            napi.steer(netns, ["s0"], 0)

    def deploy(self, request: DeployRequest) -> Deployment:
        """Make namespaces, links and bridge, and put their work onto its cores."""
        variant, workspace, arrangement = request.variant, request.workspace, request.arrangement
        options = bridge_options(variant)
        steps = Steps()
        with steps.timed("deploy.namespaces"):
            switch = workspace.network_namespace("switch")
            generator = workspace.network_namespace("generator")
        with steps.timed("deploy.links"):
            inside(switch, lambda: _make_links(generator))
            inside(switch, lambda: _make_bridge(options))
            veth_ports.prepare(generator, GENERATOR_LINKS, options.offloads)
            veth_ports.prepare(switch, SWITCH_LINKS, options.offloads)
            veth_ports.wait_until_up(switch, (BRIDGE, *SWITCH_LINKS))
        with steps.timed("deploy.cores"):
            threads = _place(options, (switch, generator), arrangement)
        cores = (arrangement.switch_cores[0], arrangement.generator_core)
        return Deployment(
            id=workspace.id,
            variant=variant.name,
            site="lab",
            topology=request.layout.name,
            ports=veth_ports.generator_ports(generator),
            threads=threads,
            run_directory=str(workspace.directory),
            control={
                "switch_netns": switch,
                "generator_netns": generator,
                "bridge": BRIDGE,
                "core_use": options.core_use,
                "switch_core": str(cores[0]),
                "tsc_hz": str(coredistance.measure(cores).tsc_hz),
            },
            versions={"linux": platform.release()},
            steps=steps.done,
        )

    def verify(self, deployment: Deployment) -> None:
        """Check that bridge and links are there and up, and that their threads live."""
        names = (BRIDGE, *SWITCH_LINKS)
        found = veth_ports.read(deployment.control["switch_netns"], names)
        down = [name for name, counted in found.items() if not counted.up]
        if down:
            raise SwitchDiedError("links of the bridge are down", where=str(down), fix="see who set them down")
        lost = set(deployment.threads) - set(napi.still_there(deployment.threads))
        if lost:
            names_lost = sorted(thread.name for thread in lost)
            raise SwitchDiedError("NAPI threads of the bridge are gone", where=str(names_lost), fix="deploy again")

    def counters(self, deployment: Deployment) -> SwitchCounters | None:
        """Frames that the bridge's ports received, and the cycles of their NAPI threads."""
        found = veth_ports.read(deployment.control["switch_netns"], SWITCH_LINKS)
        packets = sum(counted.rx_packets for counted in found.values())
        raw = {name: counted.model_dump() for name, counted in found.items()}
        times = [napi.run_time_ns(t.tid) for t in deployment.threads if t.role is Role.SWITCH]
        if not times or None in times:
            source = f"the bridge's work is part of the sender's softirq ({deployment.control['core_use']})"
            return SwitchCounters(packets=packets, busy_cycles=NOT_SEPARABLE, source=source, raw=raw)
        busy_ns = sum(t for t in times if t is not None)
        return SwitchCounters(
            packets=packets,
            busy_cycles=busy_ns * int(deployment.control["tsc_hz"]) // NS_PER_S,
            source="scheduler run time of NAPI threads x TSC",
            raw=raw | {"napi_run_time_ns": busy_ns},
        )

    def hops(self, deployment: Deployment) -> tuple[Hop, ...]:
        """g0, s0, br0, s1, g1."""
        outside = veth_ports.read(deployment.control["generator_netns"], GENERATOR_LINKS)
        within = veth_ports.read(deployment.control["switch_netns"], (*SWITCH_LINKS, BRIDGE))
        bridge = within[BRIDGE]
        return (
            veth_ports.hop("generator port 0 (g0)", outside["g0"]),
            veth_ports.hop("br0 port s0", within["s0"]),
            # A bridge counts as its own only what is for the host itself: what it forwards shows at its ports.
            Hop(name="br0", drops={"rx_dropped": bridge.rx_dropped, "tx_dropped": bridge.tx_dropped}),
            veth_ports.hop("br0 port s1", within["s1"]),
            veth_ports.hop("generator port 1 (g1)", outside["g1"]),
        )

    def work_threads(self, deployment: Deployment) -> tuple[WorkThread, ...]:
        """The NAPI threads: of s0 and s1 for the switch, of g0 and g1 for the generator."""
        return napi.still_there(deployment.threads)


def _make_links(generator: str) -> None:
    for inner, outer in zip(SWITCH_LINKS, GENERATOR_LINKS, strict=True):
        links.add_veth(inner, outer, (MACS[inner], MACS[outer]), generator)


def _make_bridge(options: LinuxBridgeOptions) -> None:
    links.silence_ipv6()
    calls = int(options.netfilter)
    if _NETFILTER_SETTINGS.is_dir():
        for table in ("iptables", "ip6tables"):
            (_NETFILTER_SETTINGS / f"bridge-nf-call-{table}").write_text(str(calls))
    attributes = {
        "br_stp_state": 0,
        "br_forward_delay": 0,
        "br_ageing_time": _AGEING_CENTISECONDS,
        "br_mcast_snooping": 0,
    }
    links.add_bridge(BRIDGE, SWITCH_LINKS, attributes, options.learning)


def _place(
    options: LinuxBridgeOptions, namespaces: tuple[str, str], arrangement: Arrangement
) -> tuple[WorkThread, ...]:
    switch, generator = namespaces
    switch_core, generator_core = arrangement.switch_cores[0], arrangement.generator_core
    before = list(napi.napi_threads())
    threads: list[WorkThread] = []

    def pin(names: tuple[str, ...], core: int, role: Role) -> None:
        for name in names:
            found = napi.pin_threads(name, before, core, role)
            if role is Role.GENERATOR:
                napi.put_first(found)
            threads.extend(found)

    actions: dict[str, list[Callable[[], None]]] = {
        "threaded-napi": [
            lambda: napi.make_threaded(switch, SWITCH_LINKS),
            lambda: napi.make_threaded(generator, GENERATOR_LINKS),
            lambda: pin(SWITCH_LINKS, switch_core, Role.SWITCH),
            lambda: pin(GENERATOR_LINKS, generator_core, Role.GENERATOR),
        ],
        "rps": [
            lambda: napi.steer(switch, SWITCH_LINKS, switch_core),
            lambda: napi.make_threaded(generator, GENERATOR_LINKS),
            lambda: pin(GENERATOR_LINKS, generator_core, Role.GENERATOR),
        ],
        "inline": [],
    }
    for action in actions[options.core_use]:
        action()
    return tuple(threads)


def _unsupported(variant: Variant, reason: str, fix: str) -> Support:
    return Support(variant=variant.name, readiness=Readiness.UNSUPPORTED, reason=reason, fix=fix)
