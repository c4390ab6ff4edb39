"""Instances that are killed under traffic and made again through Tacker: by command, or by its monitor."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from nfvbed.cloud.tacker.legacy import LegacyApi
from nfvbed.cloud.tacker.waits import wait
from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.records import Role, VnfHandle
from nfvbed.sites.disruption import Disruption, DisruptionReport, Mark
from nfvbed.sites.openstack import vnfs
from nfvbed.sites.openstack.boots import Console, await_boot, marker_of
from nfvbed.sites.openstack.deployment import CloudDeployment
from nfvbed.spec.testkinds.lifecycles import LifeCycleOperation
from nfvbed.spec.vnf import MonitoringSpec

_CHECKS = "10 s, if Tacker's check_intvl is its default"
"""Time between two looks of Tacker's monitor, which it tells nobody."""


@dataclass(frozen=True)
class CloudControl:
    """The requests to a cloud that a disruption takes."""

    status: Callable[[str], str]
    """Nova's status of an instance, by its id."""
    heal: Callable[[VnfHandle], VnfHandle]
    """Has the first VNF made again through Tacker, and returns when its instances are ACTIVE."""
    respawned: Callable[[VnfHandle, Callable[[], None]], VnfHandle]
    """Waits until Tacker's monitor has had the first VNF made again; calls back when it has noticed."""
    console: Console


def disrupt(live: CloudDeployment, wanted: Disruption, control: CloudControl) -> DisruptionReport:
    """Kill the instance of the first VNF, and have Tacker make the VNF again.

    It is healed when Nova has noticed, or respawned when Tacker's monitor has. Where its image prints nothing when it
    forwards, the moment of its boot is left out.

    Raises:
        UnsupportedError: as `require_disruptable`.
        OnboardError: nobody notices, Tacker does not make it again, or it does not boot.
    """
    require_disruptable(live, wanted)
    handle, pids, began = live.handles[0], _processes(live), time.monotonic_ns()
    marks: list[tuple[Mark, int]] = []

    def mark(name: Mark) -> None:
        marks.append((name, time.monotonic_ns() - began))

    time.sleep(wanted.after_s)
    mark(Mark.BEGAN)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)

    def noticed() -> None:
        mark(Mark.DETECTED)
        mark(Mark.DECIDED)

    if wanted.operation is LifeCycleOperation.RESPAWN:
        healed = control.respawned(handle, noticed)
    else:
        _await_death(handle, control)
        noticed()
        healed = control.heal(handle)
    handles = (healed, *live.handles[1:])
    live.deployment = live.deployment.model_copy(
        update={"vnfs": handles, "vnf_ports": tuple(one.ports for one in handles)}
    )
    live.compute.adopt(live.wanted.variant, live.instances)
    mark(Mark.ACTED)
    marker = marker_of(live.wanted.choice)
    if marker:
        await_boot(vnfs.CloudVnfState.of(healed).instance, marker, control.console)
        mark(Mark.BOOTED)
    return DisruptionReport(
        vnf=handle.name,
        marks=tuple(marks),
        accelerator=healed.accelerator,
        settings=_settings(live, wanted, vnfs.CloudVnfState.of(healed).tacker_api),
    )


def _await_death(handle: VnfHandle, control: CloudControl) -> None:
    waited = wait("settle", lambda: bool(vnfs.dead(control.status, (handle,))))
    if not waited.done:
        raise OnboardError(
            f"Nova takes {handle.name} for alive",
            where=f"instance {vnfs.CloudVnfState.of(handle).instance}",
            observed=f"its process was killed {waited.seconds:.0f} s ago",
            fix="see the log of nova-compute",
        )


def _settings(live: CloudDeployment, wanted: Disruption, api: str) -> tuple[tuple[str, str], ...]:
    """Return who made the VNF again, and by what its death was found out."""
    monitoring = _monitoring(live)
    if wanted.operation is not LifeCycleOperation.RESPAWN or monitoring is None:
        return (("healed by", f"Tacker, {api} API"), ("detected by", "Nova's status, asked every 0.5 s"))
    return (
        ("monitor", f"Tacker's, {api} API: pings of the management address"),
        ("delay", f"{monitoring.delay_s} s"),
        ("interval", _CHECKS),
        ("failures", f"{monitoring.count} echo requests, {monitoring.interval_s} s apart, all without an answer"),
        ("time-out", f"{monitoring.timeout_s} s"),
        ("detected by", "Tacker's status, asked every 0.5 s"),
    )


def _monitoring(live: CloudDeployment) -> MonitoringSpec | None:
    return None if live.wanted.choice is None else live.wanted.choice.vnf.monitoring


def require_disruptable(live: CloudDeployment, wanted: Disruption) -> None:
    """Refuse what cannot be done; nothing is changed.

    Raises:
        UnsupportedError: a monitor would come before the command; the instance is not on this machine, or frames would
            be sent to the address of the killed one.
    """
    where = f"{live.deployment.variant} ({live.deployment.topology})"
    is_legacy = vnfs.CloudVnfState.of(live.handles[0]).tacker_api == LegacyApi.api
    if wanted.operation is LifeCycleOperation.HEAL and is_legacy and _monitoring(live) is not None:
        raise UnsupportedError(
            "a VNF that Tacker monitors is not healed by command",
            where=where,
            observed="its monitor would respawn it at the same time",
            fix="operations: [respawn], or a VNF without monitoring",
        )
    if live.compute.destination_macs(live.instances) is not None:
        raise UnsupportedError(
            "a VNF cannot be healed under traffic on this data plane",
            where=where,
            observed="frames are sent to the address of the instance, and the new one has another",
            fix="a data plane whose instances get every frame, whatever its address",
        )
    _processes(live)


def _processes(live: CloudDeployment) -> tuple[int, ...]:
    """Return the processes of the first VNF's instances.

    Raises:
        UnsupportedError: they are on another machine.
    """
    first = vnfs.instances(live.handles[:1])
    found = {thread.pid for thread in live.compute.threads(first) if thread.role is Role.VNF}
    if not found:
        raise UnsupportedError(
            "no process of the instance is on this machine, and so it cannot be killed",
            where=f"{first[0].name} on {first[0].host}",
            observed=live.compute.hidden or "its compute shows none",
            fix="a devcloud",
        )
    return tuple(sorted(found))
