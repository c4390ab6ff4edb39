"""nextepc as one VNF: its gateways on the VNF's two ports, all else and the emulated eNB beside them."""

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from ipaddress import IPv4Address
from pathlib import Path

from pyroute2.netlink.exceptions import NetlinkError

from nfvbed.errors import OnboardError, PrerequisiteError, UnsupportedError, VnfDiedError
from nfvbed.host import fixes
from nfvbed.host.fitness import Fitness
from nfvbed.host.network import links, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.host.network.napi import still_there
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment, Hop, HopKind, Role, VnfHandle, VnfPort, WorkThread
from nfvbed.records.state import Cores, Words
from nfvbed.spec.bearers import BearerTable
from nfvbed.spec.corenetwork import DEFAULT_NETWORK
from nfvbed.spec.gateway import GATEWAYS as GATEWAY_KINDS
from nfvbed.spec.gateway import refused_bearers
from nfvbed.spec.layout import End
from nfvbed.spec.pcrf import NEXTEPC, STAND_IN, PcrfKind
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.epc import network, nextepc, sctp, shim
from nfvbed.vnfs.epc.carrying import Direction, Ends
from nfvbed.vnfs.epc.configuration import ORDER
from nfvbed.vnfs.epc.core import GATEWAYS, Core, FunctionCores, Subscribers
from nfvbed.vnfs.epc.reports import NO_ANSWER, AttachReport
from nfvbed.vnfs.epc.synthetic import with_synthetic
from nfvbed.vnfs.process import devices
from nfvbed.vnfs.process.life import ProcessState, kernel_ports, port_title
from nfvbed.vnfs.vnf import VnfDriver, VnfSeat

ATTACHED = 16
"""UEs that are attached when it is onboarded: the bearers that traffic goes over."""
BEARERS = "bearers"
"""The fact of a VNF that is the table of them."""
GATEWAY = "gateway"
"""The fact of a VNF that names what carries them: the same fact, and the same names, in results."""
PCRF = "pcrf"
"""The fact of a VNF that names its PCRF."""
_PROBE_FRAMES = 20


class EpcState(ProcessState):
    """The record of a vEPC."""

    home: str
    """Namespace of its two ports when nothing runs on them."""
    spaces: str
    """What the names of its own namespaces begin with."""
    others: Cores
    """Cores of the functions that frames do not pass."""
    beyond: Words
    """The MAC addresses behind port 0 and port 1."""
    root: str
    """Folder of the project."""


class EpcVnf(VnfDriver):
    """A vEPC: both gateways run on the VNF's core, all else on the control cores.

    What concerns the gateways alone is in methods of their own: `owngateway.py` has others.
    """

    def probe(self, choice: VnfChoice) -> Fitness:
        """Make its namespaces and a tun device, and remove them."""
        _require_bearers(choice)
        if os.geteuid() != 0:
            raise PrerequisiteError("namespaces and tun devices can only be made by root", fix="run it with sudo")
        try:
            _try()
        except (OSError, NetlinkError) as failure:
            raise UnsupportedError(
                "the kernel refuses a vEPC's networks", observed=str(failure), fix=fixes.load("tun", "bridge", "veth")
            ) from failure
        return Fitness()

    def require_files(self, choice: VnfChoice, root: Path) -> None:
        """Look for nextepc's programs, and for the library for SCTP where the kernel has none."""
        for function in ORDER:
            nextepc.program(function, root)
        shim.environment(root)

    def start(self, seat: VnfSeat) -> VnfHandle:
        """Make the networks, move the gateways' ports, and start the functions."""
        home, steps = self.home_of(seat), Steps()
        with steps.timed(f"onboard.{seat.name}.networks"), _kernel_errors(seat.name, home):
            spaces = network.make(seat.workspace, seat.name)
            ports, threads = self.lay_ports(seat, spaces)
        pcrf = seat.choice.pcrf or NEXTEPC
        core = Core(seat.workspace, seat.name, pcrf)
        with steps.timed(f"onboard.{seat.name}.start"):
            known = Subscribers.all_known(core.most_attached, seat.choice.core or DEFAULT_NETWORK)
            core.start(spaces, self.places(seat), seat.root, known)
        state = EpcState(
            run_directory=str(seat.workspace.directory),
            home=home,
            spaces=spaces.prefix,
            others=seat.control_cores,
            beyond=seat.beyond,
            root=str(seat.root),
            destination_macs=tuple(port.mac for port in ports),
        )
        return VnfHandle(
            name=seat.name,
            kind=seat.choice.kind,
            forwarding=seat.does,
            ports=ports,
            pids=core.pids(),
            cgroup=str(seat.workspace.cgroup()),
            cores=seat.cores,
            shares_core=seat.shares_core,
            threads=threads,
            control=state.as_control(),
            versions={"nextepc": nextepc.VERSION},
            steps=steps.done,
            facts={
                GATEWAY: GATEWAY_KINDS[seat.does],
                PCRF: pcrf,
                "sctp": "linux" if sctp.kernel_has_sctp() else "usrsctp",
            },
        )

    def home_of(self, seat: VnfSeat) -> str:
        """Return the namespace of the VNF's ports.

        Raises:
            OnboardError: they are no network devices of one namespace.
        """
        return kernel_ports(seat)[0]

    def lay_ports(
        self, seat: VnfSeat, spaces: network.EpcNamespaces
    ) -> tuple[tuple[VnfPort, ...], tuple[WorkThread, ...]]:
        """Move each port to its gateway; return the moved ports, and the threads that receive there."""
        ports = tuple(
            port.model_copy(update={"netns": spaces.functions[gateway]})
            for gateway, port in zip(GATEWAYS, seat.ports, strict=True)
        )
        return ports, _settle(replace(seat, ports=ports), self.home_of(seat))

    def places(self, seat: VnfSeat) -> FunctionCores:
        """Return where functions run: those that frames pass on the VNF's core."""
        return FunctionCores(seat.cores, seat.control_cores)

    def ready(self, seat: VnfSeat, handle: VnfHandle) -> VnfHandle:
        """Attach UEs, set up their bearers, and freeze the functions that frames do not pass."""
        core, steps = self.core_of(handle), Steps()
        wanted = seat.choice.bearers or ATTACHED
        for port in handle.ports:
            if port.netns is not None:
                veth.wait_until_up(port.netns, (port.address,))
        with steps.timed(f"onboard.{handle.name}.attach"):
            table = attached(core, wanted if wanted <= core.most_attached else ATTACHED)
        made = len(table.bearers)
        table = with_synthetic(table, wanted)
        facts = {BEARERS: table.model_dump(mode="json"), "attached": made, "synthetic": len(table.bearers) - made}
        with steps.timed(f"onboard.{handle.name}.gateway"):
            threads = self.take_up(seat, handle, table)
        known = {"facts": handle.facts | facts, "threads": (*handle.threads, *threads)}
        return handle.model_copy(update={"steps": (*handle.steps, *steps.done), **known})

    def take_up(self, seat: VnfSeat, handle: VnfHandle, table: BearerTable) -> tuple[WorkThread, ...]:
        """Set up the bearers, by default in nextepc's gateways; return threads that were started for it."""
        self.core_of(handle).freeze()
        return ()

    def carry(self, seat: VnfSeat, handle: VnfHandle, deployment: Deployment) -> bool:
        """Send frames over the bearers until they arrive whole in both directions."""
        deadline = time.monotonic() + seat.choice.vnf.readiness.within_s
        ends = ends_of(seat, handle, deployment)
        while True:
            report = ends.carry(bearers_of(handle), _PROBE_FRAMES)
            if report.uplink.complete and report.downlink.complete:
                return True
            self.verify(handle)
            if time.monotonic() > deadline:
                raise OnboardError(
                    f"no frames come over the bearers of {handle.name}",
                    where=f"{deployment.variant} ({deployment.topology})",
                    observed=f"uplink {_told(report.uplink)}, downlink {_told(report.downlink)}",
                    fix=f"see the logs {handle.name}-sgw and {handle.name}-pgw in the run directory",
                )

    def bearers(self, handle: VnfHandle) -> BearerTable:
        """Return the bearers of the UEs that were attached at onboarding."""
        return bearers_of(handle)

    def verify(self, handle: VnfHandle) -> None:
        """Check that all functions live."""
        self.core_of(handle).check()

    def hops(self, handle: VnfHandle) -> tuple[Hop, ...]:
        """Return the kernel's counters of the gateways' devices."""
        return tuple(_hop(handle, port) for port in handle.ports)

    def threads(self, handle: VnfHandle) -> Sequence[WorkThread]:
        """Return the kernel's threads that receive for it, and the gateways' processes."""
        pids = self.core_of(handle).pids(GATEWAYS)
        own = (
            WorkThread(role=Role.VNF, pid=pid, tid=pid, core=handle.cores[0], name=f"nextepc-{gateway}d")
            for gateway, pid in zip(GATEWAYS, pids, strict=True)
        )
        return (*still_there(handle.threads), *own)

    def stop(self, handle: VnfHandle) -> None:
        """End the functions, move the ports back, and remove the other networks."""
        self.core_of(handle).kill()
        self.give_back(handle, EpcState.of(handle))
        network.EpcNamespaces(EpcState.of(handle).spaces).remove()

    def give_back(self, handle: VnfHandle, state: EpcState) -> None:
        """Move the ports back."""
        moved = [port for port in handle.ports if port.netns is not None and Path(port.netns).exists()]
        for port in moved:
            network.move(port.address, str(port.netns), state.home)
        veth.prepare(state.home, tuple(port.address for port in moved), all(port.offloads for port in moved))

    def end(self, handle: VnfHandle) -> None:
        """End the functions; namespaces and ports go with the workspace."""
        self.core_of(handle).kill()

    def core_of(self, handle: VnfHandle) -> Core:
        """Return the functions of a VNF."""
        return Core(Workspace.attach(Path(EpcState.of(handle).run_directory)), handle.name, pcrf_of(handle))


def attached(core: Core, number: int, in_flight: int = 1) -> BearerTable:
    """Attach so many UEs, in the subscribers' order, and return their bearers.

    Raises:
        OnboardError: one is refused or not answered.
        VnfDiedError: a function has ended, or does not answer any more.
    """
    report = core.emulator.attach([subscriber.imsi for subscriber in core.subscribers()[:number]], in_flight)
    require_alive(core, report)
    require_attached(report)
    return table_of(core)


def pcrf_of(handle: VnfHandle) -> PcrfKind:
    """Return which PCRF a VNF has."""
    return STAND_IN if handle.facts.get(PCRF) == STAND_IN else NEXTEPC


def table_of(core: Core) -> BearerTable:
    """Return the bearers of the UEs that are attached."""
    carried = core.emulator.carried()
    return BearerTable(
        enb=network.ENB_S1U, sgw=IPv4Address(carried.sgw), server=network.SERVER, bearers=carried.bearers
    )


def require_alive(core: Core, report: AttachReport) -> None:
    """Raise where a UE had no answer because a function has ended, or the MME does not answer.

    Raises:
        VnfDiedError: with which.
    """
    if NO_ANSWER not in report.failures:
        return
    core.check()
    if not report.mme_answers:
        raise VnfDiedError(
            "the mme runs and does not answer any more",
            observed=f"{report.attached} of {len(report.outcomes)} UEs attached, then neither a UE nor the eNB is"
            f" answered; one start of the functions takes {core.most_attached} attaches",
            fix="end and start the functions: nfvbed offboard, then nfvbed onboard vepc",
        )


def require_attached(report: AttachReport) -> None:
    """Raise where a UE was not attached.

    Raises:
        OnboardError: with the causes.
    """
    if report.failures:
        raise OnboardError(
            f"{len(report.outcomes) - report.attached} of {len(report.outcomes)} UEs are not attached",
            observed="; ".join(f"{count}: {cause}" for cause, count in report.failures.items()),
            fix="see the logs of mme, hss and pcrf in the run directory",
        )


def bearers_of(handle: VnfHandle) -> BearerTable:
    """Return the bearers of the attached UEs.

    Raises:
        OnboardError: none is.
    """
    if BEARERS not in handle.facts:
        raise OnboardError(f"{handle.name} has no bearers", fix="nfvbed onboard vepc")
    return BearerTable.model_validate_json(json.dumps(handle.facts[BEARERS]))


def ends_of(seat: VnfSeat, handle: VnfHandle, deployment: Deployment) -> Ends:
    """Return the ends that send frames over the bearers: the generator's ports, which must be free."""
    first, last = (port.mac for port in handle.ports)
    return Ends(deployment.ports, (seat.beyond, (first, last)))


def _require_bearers(choice: VnfChoice) -> None:
    why, fix = refused_bearers(choice.forwarding, choice.bearers, choice.pcrf)
    if why:
        raise UnsupportedError(f"{choice.label} cannot have these bearers", observed=why, fix=fix)


def _settle(seat: VnfSeat, home: str) -> tuple[WorkThread, ...]:
    """Move each port to its gateway, with the gateway's addresses and routes."""
    threads: list[WorkThread] = []
    leads = (network.lead_s1u, network.lead_sgi)
    for port, lead, beyond in zip(seat.ports, leads, seat.beyond, strict=True):
        network.move(port.address, home, str(port.netns))
        threads += devices.prepare(replace(seat, ports=(port,)))
        inside(str(port.netns), partial(lead, network.DataPort(port.address, beyond)))
    return tuple(threads)


def _hop(handle: VnfHandle, port: VnfPort) -> Hop:
    counted = veth.read(str(port.netns), (port.address,))[port.address]
    name = f"{port_title(handle.name, port)} ({port.address})"
    return veth.hop(name, counted, HopKind.VNF_PORT, End(port.vnf, port.port))


@contextmanager
def _kernel_errors(name: str, where: str) -> Iterator[None]:
    try:
        yield
    except (OSError, NetlinkError) as failure:
        raise OnboardError(f"the networks of {name} cannot be made", where=where, observed=repr(failure)) from failure


def _told(direction: Direction) -> str:
    return f"{direction.received} of {direction.sent} frames, {direction.wrong} wrong"


def _try() -> None:
    workspace = Workspace.create()
    try:
        spaces = network.make(workspace, "probe")
        inside(spaces.functions["pgw"], lambda: links.add_tun(network.TUN))
    finally:
        workspace.close()
