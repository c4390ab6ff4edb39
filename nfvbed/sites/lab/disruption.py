"""VNFs of the lab that are killed under traffic, and started again: by command, or by a monitor."""

import os
import signal
import time
from collections.abc import Callable

from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.patience import patient
from nfvbed.records import VnfHandle
from nfvbed.sites.disruption import Disruption, DisruptionReport, Mark
from nfvbed.sites.lab.vnfs import LabVnfs
from nfvbed.spec.testkinds.lifecycles import LifeCycleOperation
from nfvbed.units import NS_PER_S

_LOOK_S = 0.001
"""Time between two looks of a command that waits for a death."""
_DEATH_S = patient(5.0)
"""How long a killed process may take to be gone."""


def require_disruptable(live: LabVnfs, wanted: Disruption) -> None:
    """Refuse what cannot be done; nothing is changed.

    Raises:
        UnsupportedError: VNFs are to be scaled, or the first one has no process.
    """
    if wanted.operation not in (LifeCycleOperation.HEAL, LifeCycleOperation.RESPAWN):
        raise UnsupportedError(
            "VNFs of the lab are not scaled under traffic",
            where=wanted.operation.value,
            observed="a data plane makes the ports of all VNFs before one starts: it is set up again, with the"
            " generator's ports",
            fix="operations: [heal, respawn]",
        )
    if not live.handles[0].pids:
        raise UnsupportedError(
            f"{live.handles[0].name} has no process that could be killed",
            where=f"{live.choice.vnf.name} ({live.choice.label})",
            observed="the kernel forwards in its place",
            fix="a VNF with a process: forwarding io, raw or xdp; or kind vm",
        )


def disrupt(live: LabVnfs, wanted: Disruption) -> DisruptionReport:
    """Kill the first VNF, and start it again when the command or the monitor says so.

    Raises:
        UnsupportedError: as `require_disruptable`.
        OnboardError, VnfDiedError: it had died already, or did not come up again.
    """
    require_disruptable(live, wanted)
    handle, began = live.handles[0], time.monotonic_ns()
    marks: list[tuple[Mark, int]] = []

    def mark(name: Mark) -> None:
        marks.append((name, time.monotonic_ns() - began))

    time.sleep(wanted.after_s)
    live.drivers[0].verify(handle)
    mark(Mark.BEGAN)
    os.kill(handle.pids[0], signal.SIGKILL)
    if wanted.operation is LifeCycleOperation.HEAL:
        _await_death(live, handle)
        mark(Mark.DETECTED)
    else:
        _watch(lambda: handle.name in live.dead(), wanted, began, mark)
    mark(Mark.DECIDED)
    started = live.start_again((handle.name,))
    mark(Mark.ACTED)
    live.await_ready(started)
    mark(Mark.BOOTED)
    return DisruptionReport(
        vnf=handle.name,
        marks=tuple(marks),
        accelerator=handle.accelerator,
        settings=_settings(wanted),
    )


def _await_death(live: LabVnfs, handle: VnfHandle) -> None:
    deadline = time.monotonic() + _DEATH_S
    while handle.name not in live.dead():
        if time.monotonic() > deadline:
            raise OnboardError(
                f"{handle.name} was killed and is still there",
                where=f"process {handle.pids[0]}",
                observed=f"it runs {_DEATH_S:g} s after SIGKILL",
                fix="see what it waits for: cat /proc/PID/stack",
            )
        time.sleep(_LOOK_S)


def _watch(is_dead: Callable[[], bool], wanted: Disruption, began_ns: int, mark: Callable[[Mark], None]) -> None:
    """Look as a monitor does, until it has found the VNF dead as often as it takes.

    Looks come at fixed times, wherever between two of them the VNF was killed.

    Args:
        began_ns: when the test began, monotonic clock.
    """
    monitor, failures, looks = wanted.monitor, 0, 0
    while failures < monitor.failures:
        at_s = monitor.delay_s + looks * monitor.interval_s
        looks += 1
        if at_s < wanted.after_s:
            continue  # The VNF lived then.
        time.sleep(max(0.0, at_s - (time.monotonic_ns() - began_ns) / NS_PER_S))
        failures = failures + 1 if is_dead() else 0
        if failures == 1:
            mark(Mark.DETECTED)


def _settings(wanted: Disruption) -> tuple[tuple[str, str], ...]:
    if wanted.operation is not LifeCycleOperation.RESPAWN:
        return ()
    monitor = wanted.monitor
    return (
        ("monitor", "nfvbed's own: whether the process lives"),
        ("delay", f"{monitor.delay_s:g} s"),
        ("interval", f"{monitor.interval_s:g} s"),
        ("failures", str(monitor.failures)),
    )
