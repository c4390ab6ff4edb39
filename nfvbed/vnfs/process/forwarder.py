"""VNFs that are programs of `native/forwarders`, between two network devices; their counters come over a socket."""

import os
import time
from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from nfvbed.errors import OnboardError, PrerequisiteError, UnsupportedError
from nfvbed.host import linesocket
from nfvbed.host.fitness import Fitness
from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.host.native import native_binary
from nfvbed.host.network.napi import still_there
from nfvbed.host.timing import Steps
from nfvbed.patience import patient
from nfvbed.records import VnfHandle, WorkThread
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.process import devices
from nfvbed.vnfs.process.life import Processes, ProcessState, check_alive, kernel_ports
from nfvbed.vnfs.vnf import VnfDriver, VnfSeat

_PATIENCE_S = patient(5.0)
_LOOK_S = 0.005


class ForwarderState(ProcessState, devices.DeviceState):
    """The record of a forwarder."""

    statistics: str
    """The socket that answers with counters."""


class ForwarderVnf(VnfDriver):
    """The common part of all programs that forward."""

    program: ClassVar[str]

    def __init__(self) -> None:
        self._processes = Processes()

    @abstractmethod
    def try_it(self) -> str:
        """Try what the program needs of the kernel; return why that is not available, or nothing."""

    @abstractmethod
    def own_threads(self, process: ManagedProcess, handle: VnfHandle) -> tuple[WorkThread, ...]:
        """Return the threads of the program that forward, beside those of the kernel."""

    def probe(self, choice: VnfChoice) -> Fitness:
        """Look for the program, and try what it needs."""
        if os.geteuid() != 0:
            raise PrerequisiteError("packet sockets and XDP need root", fix="run it with sudo")
        native_binary(self.program)
        reason = self.try_it()
        if reason:
            raise UnsupportedError(reason, fix="a kernel that has it")
        return Fitness()

    def start(self, seat: VnfSeat) -> VnfHandle:
        """Bring the devices up and start the program on them."""
        netns, names = kernel_ports(seat)
        spec, workspace, name = seat.choice.vnf, seat.workspace, seat.name
        statistics = workspace.directory / f"{name}.sock"
        argv = [str(native_binary(self.program, seat.root)), "--socket", str(statistics)]
        for device in names:
            argv += ["--port", device]
        argv += ["--burst", str(spec.burst), "--descriptors", str(spec.descriptors)]
        argv += ["--retry"] if spec.retry else []
        steps = Steps()
        with steps.timed(f"onboard.{name}.start"):
            threads = devices.prepare(seat)
            process = workspace.spawn(name, argv, cores=seat.cores, netns=netns)
        self._processes.remember(workspace)
        return VnfHandle(
            name=name,
            kind=seat.choice.kind,
            forwarding=seat.does,
            ports=seat.ports,
            pids=(process.pid,),
            cgroup=str(workspace.cgroup()),
            cores=seat.cores,
            shares_core=seat.shares_core,
            threads=threads,
            control=ForwarderState(
                run_directory=str(workspace.directory), statistics=str(statistics), netns=netns
            ).as_control(),
            steps=steps.done,
            facts={"burst": spec.burst, "descriptors": spec.descriptors, "retry": spec.retry},
        )

    def ready(self, seat: VnfSeat, handle: VnfHandle) -> VnfHandle:
        """Wait until the program answers: its ports are open then."""
        process = self._processes.of(handle)
        deadline = time.monotonic() + seat.choice.vnf.readiness.within_s
        steps = Steps()
        with steps.timed(f"onboard.{handle.name}.ready"):
            while not linesocket.listens(Path(ForwarderState.of(handle).statistics)):
                check_alive(process)
                if time.monotonic() > deadline:
                    raise OnboardError(
                        f"{handle.name} does not answer", where=str(process.log), observed=process.log_tail(5)
                    )
                time.sleep(_LOOK_S)
            self.statistics(handle)
            own = self.own_threads(process, handle)
        return handle.model_copy(
            update={
                "threads": (*handle.threads, *own),
                "versions": {self.program: "nfvbed's own"},
                "steps": (*handle.steps, *steps.done),
            }
        )

    def verify(self, handle: VnfHandle) -> None:
        """Check that the program lives."""
        check_alive(self._processes.of(handle))

    def threads(self, handle: VnfHandle) -> tuple[WorkThread, ...]:
        """Return the kernel's threads that receive for it, and its own."""
        process = self._processes.of(handle)
        of_kernel = tuple(thread for thread in handle.threads if thread.pid != process.pid)
        return (*still_there(of_kernel), *self.own_threads(process, handle))

    def stop(self, handle: VnfHandle) -> None:
        """End the program."""
        self._processes.of(handle).stop()
        Path(ForwarderState.of(handle).statistics).unlink(missing_ok=True)

    def statistics(self, handle: VnfHandle) -> list[dict[str, Any]]:
        """Return the counters of both ports.

        Raises:
            VnfDiedError: the program has ended.
            OnboardError: it does not answer.
        """
        path = ForwarderState.of(handle).statistics
        try:
            ports: list[dict[str, Any]] = linesocket.ask(Path(path), "", _PATIENCE_S)["ports"]
        except (OSError, ValueError, KeyError) as failure:
            self.verify(handle)
            raise OnboardError(
                f"{handle.name} does not tell its counters", where=path, observed=repr(failure)
            ) from failure
        return ports
