"""The driver of VNFs in virtual machines: QEMU started, its guest waited for, watched and ended."""

import contextlib
import sys
import time
from pathlib import Path

from nfvbed.errors import OnboardError, PrerequisiteError, UnsupportedError, VnfDiedError
from nfvbed.host.fitness import Fitness
from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside
from nfvbed.host.qemu.accelerator import find_accelerator
from nfvbed.host.qemu.binaries import QemuBinaries, locate
from nfvbed.host.qemu.images import Image, find
from nfvbed.host.qemu.vhost import vhost_net_reason
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Accelerator, CounterSource, Hop, HopKind, PortKind, VnfHandle, VnfKind, WorkThread
from nfvbed.spec.vnf import ImageSpec, VnfChoice
from nfvbed.vnfs.vm import agentwork, command, devices, image, launch, pinning, sizing, support
from nfvbed.vnfs.vm.console import Console
from nfvbed.vnfs.vm.death import Death
from nfvbed.vnfs.vm.guest import Guest
from nfvbed.vnfs.vm.monitor import Monitor
from nfvbed.vnfs.vm.startwait import StartWait
from nfvbed.vnfs.vm.state import GuestState
from nfvbed.vnfs.vnf import VnfDriver, VnfSeat

_FAILED = "vloop: failed:"
_QUIT_S = 5.0
_DRIVER_OK = "VIRTIO_CONFIG_S_DRIVER_OK"


class VmVnf(VnfDriver):
    """A virtual machine of an image built here, with an agent, or of a user's image without one."""

    def __init__(self) -> None:
        self._workspaces: dict[str, Workspace] = {}

    def probe(self, choice: VnfChoice) -> Fitness:
        """Look for QEMU, boot a guest once, and try the ports' kinds."""
        return support.probe(choice)

    def require_files(self, choice: VnfChoice, root: Path) -> None:
        """Look for the image, and read its digest."""
        find(_image(choice), root, _declared(choice))

    def start(self, seat: VnfSeat) -> VnfHandle:
        """Start QEMU; the guest boots while other VNFs start."""
        choice, workspace = seat.choice, seat.workspace
        agentwork.check(seat)
        binaries = support.usable(locate(seat.root))
        found = find(_image(choice), seat.root, _declared(choice))
        accelerator = find_accelerator(seat.root, binaries)
        if accelerator.accelerator is Accelerator.NONE:
            raise UnsupportedError("no guest boots on this host", observed=accelerator.reason)
        placed = sizing.resolved(seat)
        guest = _guest(seat, found, accelerator.accelerator, binaries)
        began = time.time_ns()
        process = _spawn(seat, guest, binaries)
        self._workspaces[str(workspace.directory)] = workspace
        cores = sorted({core for cores in placed.vcpu_cores for core in cores})
        state = _state(seat, guest).model_copy(update={"started_ns": began})
        return VnfHandle(
            name=seat.name,
            kind=VnfKind.VM,
            forwarding=seat.does,
            ports=seat.ports,
            pids=(process.pid,),
            cgroup=str(workspace.cgroup()),
            cores=tuple(cores),
            shares_core=seat.shares_core,
            accelerator=accelerator.accelerator,
            control=state.as_control(),
            versions={"qemu": binaries.version, "image": found.digest},
            facts={
                "accelerator": accelerator.model_dump(mode="json"),
                "seat": placed.model_dump(mode="json"),
                "vhost": any(nic.vhost for nic in guest.nics),
            },
        )

    def ready(self, seat: VnfSeat, handle: VnfHandle) -> VnfHandle:
        """Wait for the monitor, pin the threads, wait for the console's mark, for the agent and for the links."""
        spec, steps = _image(seat.choice), Steps()
        wait = StartWait.of(handle.pids[0], seat.choice.vnf.readiness.within_s)
        state = GuestState.of(handle)
        console = Console(Path(state.console_log))

        def alive() -> None:
            self.verify(handle)

        with steps.timed(f"onboard.{handle.name}.monitor"), Monitor(Path(state.monitor)) as monitor:
            monitor.connect(wait.left_s, alive)
            vcpus = pinning.vcpu_threads(monitor.execute("query-cpus-fast"))
        realtime = seat.choice.flavor.realtime
        pinning.pin(handle.pids[0], vcpus, sizing.resolved(seat), realtime=realtime)
        facts = dict(handle.facts)
        marker = spec.console_marker
        if marker:
            facts["console"] = console.wait_for(marker, _FAILED if spec.agent else "", wait, alive)
        booted = console.last_written_ns() - state.started_ns
        versions = dict(handle.versions)
        if state.agent is not None:
            reported = agentwork.forward(seat, Path(state.agent), steps, max(wait.left_s, wait.within_s))
            versions |= reported.versions
            facts |= reported.facts
        with steps.timed(f"onboard.{handle.name}.links"):
            self._wait_for_links(seat, handle, wait)
        control = state.model_copy(update={"vcpus": tuple(vcpus)}).as_control()
        known = handle.model_copy(update={"control": control, "versions": versions, "facts": facts})
        boot = ((f"onboard.{handle.name}.boot", booted),) if marker else ()
        return known.model_copy(update={"threads": self.threads(known), "steps": (*boot, *steps.done)})

    def _wait_for_links(self, seat: VnfSeat, handle: VnfHandle, wait: StartWait) -> None:
        """Wait until a driver of the guest has taken every virtio NIC, and every tap has a carrier."""
        while True:
            self.verify(handle)
            down = self._links_down(seat, handle, wait)
            if not down:
                return
            if wait.is_over:
                raise OnboardError(
                    f"{seat.name}: ports are not up in time",
                    where=GuestState.of(handle).console_log,
                    observed="; ".join(down),
                    fix="its image needs drivers for these NICs, and must bring them up",
                )
            time.sleep(0.1)

    def _links_down(self, seat: VnfSeat, handle: VnfHandle, wait: StartWait) -> list[str]:
        down = []
        nics = sizing.nics(seat.choice, seat.ports, vhost=False)
        with Monitor(Path(GuestState.of(handle).monitor)) as monitor:
            monitor.connect(wait.left_s, lambda: self.verify(handle))
            for index, nic in enumerate(nics):
                if nic.model != "virtio":
                    continue
                path = f"/machine/peripheral/nic{index}/virtio-backend"
                status = monitor.execute("x-query-virtio-status", {"path": path})["status"]["statuses"]
                if not any(_DRIVER_OK in name for name in status):
                    down.append(f"{seat.ports[index].name}: no driver of the guest has taken the NIC")
        for port in seat.ports:
            if port.kind is PortKind.TAP and port.netns and not _carrier(port.netns, port.address):
                down.append(f"{port.name}: {port.address} has no carrier")
        return down

    def verify(self, handle: VnfHandle) -> None:
        """Check that QEMU lives; a guest that panics or powers off ends it."""
        process = self._process(handle)
        if process.alive():
            return
        printed = Console(Path(GuestState.of(handle).console_log)).tail()
        who = f"{handle.name} (vm, {handle.forwarding})"
        raise Death(who, process.exit_status, process.log_tail(6), printed, process.log).error()

    def hops(self, handle: VnfHandle) -> tuple[Hop, ...]:
        """Return the guest's counters where its image has the agent; else the host's of the taps."""
        if GuestState.of(handle).agent is not None:
            return agentwork.hops(handle)
        return tuple(_host_hop(handle, number) for number in range(len(handle.ports)))

    def threads(self, handle: VnfHandle) -> tuple[WorkThread, ...]:
        """Return the vCPUs and QEMU's main thread."""
        return pinning.work_threads(handle.pids[0], GuestState.of(handle).vcpus)

    def stop(self, handle: VnfHandle) -> None:
        """End QEMU through its monitor, or by a signal where that does not answer."""
        process = self._process(handle)
        if process.alive():
            with (
                contextlib.suppress(OnboardError, VnfDiedError),
                Monitor(Path(GuestState.of(handle).monitor)) as monitor,
            ):
                monitor.connect(_QUIT_S, lambda: self.verify(handle))
                monitor.execute("quit")
            process.wait(_QUIT_S)
        process.stop()

    def _process(self, handle: VnfHandle) -> ManagedProcess:
        state = GuestState.of(handle)
        directory = state.run_directory
        if directory not in self._workspaces:
            self._workspaces[directory] = Workspace.attach(Path(directory))
        return self._workspaces[directory].process(state.process)


def _image(choice: VnfChoice) -> ImageSpec:
    spec = choice.image or choice.vnf.image
    if spec is None:
        raise PrerequisiteError(
            f"VNF {choice.vnf.name} names no image", fix="image: in its vnf.yml, or in the experiment"
        )
    return spec


def _declared(choice: VnfChoice) -> str:
    """Return where an image is named; for one that is not the VNF's own, only its name is known."""
    if choice.image in (None, choice.vnf.image):
        return f"image.file in vnfd/{choice.vnf.name}/vnf.yml"
    return f"image of {choice.label or choice.vnf.name}: in the experiment, a variant's native_vnf, or --image"


def _guest(seat: VnfSeat, found: Image, accelerator: Accelerator, binaries: QemuBinaries) -> Guest:
    choice, workspace = seat.choice, seat.workspace
    return Guest(
        name=seat.name,
        folder=workspace.directory,
        accelerator=accelerator,
        vcpus=choice.flavor.vcpus,
        memory=sizing.memory(seat, sizing.resolved(seat)),
        nics=sizing.nics(choice, seat.ports, vhost=not vhost_net_reason()),
        disk=image.disk(found, workspace.directory / f"{seat.name}.qcow2", binaries),
        direct=image.direct_boot(found, sizing.kernel_parameters(choice.flavor)),
        numa=bool(choice.flavor.numa),
        locked=choice.flavor.realtime,
    )


def _state(seat: VnfSeat, guest: Guest) -> GuestState:
    return GuestState(
        run_directory=str(seat.workspace.directory),
        process=seat.name,
        monitor=str(guest.monitor),
        console=str(guest.console),
        console_log=str(guest.console_log),
        agent=str(guest.agent) if _image(seat.choice).agent else None,
        destination_macs=tuple(port.mac for port in seat.ports) if seat.does == "router" else None,
    )


def _spawn(seat: VnfSeat, guest: Guest, binaries: QemuBinaries) -> ManagedProcess:
    namespaces = {port.netns for port in seat.ports if port.netns and port.kind is not PortKind.VHOST_USER}
    if len(namespaces) > 1:
        raise OnboardError(
            f"{seat.name}: its ports are in different network namespaces",
            observed=", ".join(sorted(namespaces)),
            fix="QEMU opens all taps of a guest in one",
        )
    workspace, words = seat.workspace, command.argv(guest, binaries)
    for path in (guest.monitor, guest.console, guest.agent, guest.console_log):
        path.unlink(missing_ok=True)
    files = []
    for nic, port in zip(guest.nics, seat.ports, strict=True):
        if nic.backend == "macvtap" and port.netns:
            device = devices.macvtap_file(port.address, port.netns, workspace.directory)
            files += [f"{number}={device}" for number in nic.descriptors]
    if files:
        words = [sys.executable, "-I", launch.__file__, *files, "--", *words]
    own = sizing.resolved(seat)
    cores = sorted({*own.emulator_cores, *(core for cores in own.vcpu_cores for core in cores)})
    netns = next(iter(namespaces), None)
    return workspace.spawn(seat.name, words, cores=cores, netns=netns, environment=binaries.environment)


def _carrier(netns: str, name: str) -> bool:
    counted = inside(netns, lambda: links.counters(name))
    return counted is not None and counted.up


def _host_hop(handle: VnfHandle, number: int) -> Hop:
    port = handle.ports[number]
    at = Hop(name=f"{handle.name} port {number}", kind=HopKind.VNF_PORT, port=port.port)
    netns = port.netns
    if port.kind not in (PortKind.TAP, PortKind.MACVTAP) or netns is None:
        return at
    counted = inside(netns, lambda: links.counters(port.address))
    if counted is None:
        return at
    received, sent = counted.rx_packets, counted.tx_packets
    drops = {"rx_dropped": counted.rx_dropped, "tx_dropped": counted.tx_dropped}
    if port.kind is PortKind.TAP:
        # What the host sends into a tap, the guest receives. A macvtap counts as the guest does.
        received, sent = sent, received
        drops = {"rx_dropped": counted.tx_dropped, "tx_dropped": counted.rx_dropped}
    counts = {"rx_packets": received, "tx_packets": sent, "drops": drops, "counted_by": CounterSource.LINUX}
    return at.model_copy(update=counts)
