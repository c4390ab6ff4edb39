"""Instances that are killed under traffic and made again, by command, through Tacker."""

import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from nfvbed.cloud.tacker.waits import wait
from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.records import Role, VnfHandle
from nfvbed.sites.disruption import Disruption, DisruptionReport, Mark
from nfvbed.sites.openstack import vnfs
from nfvbed.sites.openstack.deployment import CloudDeployment
from nfvbed.spec.testkinds.lifecycles import LifeCycleOperation

_REFUSED = {
    LifeCycleOperation.RESPAWN: (
        "Tacker's monitor pings an address of management, and the VNFs of a path have ports on it alone",
        "operations: [heal, scale-out, scale-in]",
    ),
}
"""What is not done on a cloud, and why."""


@dataclass(frozen=True)
class CloudControl:
    """The requests to a cloud that a disruption takes."""

    status: Callable[[str], str]
    """Nova's status of an instance, by its id."""
    heal: Callable[[VnfHandle], VnfHandle]
    """Has the first VNF made again through Tacker, and returns when its instances are ACTIVE."""


def disrupt(live: CloudDeployment, wanted: Disruption, control: CloudControl) -> DisruptionReport:
    """Kill the instance of the first VNF; when Nova has noticed, have Tacker make the VNF again.

    Nothing says when a new instance has booted, before frames do: that moment is left out.

    Raises:
        UnsupportedError: as `require_disruptable`.
        OnboardError: Nova does not notice, or Tacker does not make it again.
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
    waited = wait("settle", lambda: bool(vnfs.dead(control.status, (handle,))))
    if not waited.done:
        raise OnboardError(
            f"Nova takes {handle.name} for alive",
            where=f"instance {vnfs.CloudVnfState.of(handle).instance}",
            observed=f"its process was killed {waited.seconds:.0f} s ago",
            fix="see the log of nova-compute",
        )
    mark(Mark.DETECTED)
    mark(Mark.DECIDED)
    healed = control.heal(handle)
    handles = (healed, *live.handles[1:])
    live.deployment = live.deployment.model_copy(
        update={"vnfs": handles, "vnf_ports": tuple(one.ports for one in handles)}
    )
    live.compute.adopt(live.wanted.variant, live.instances)
    mark(Mark.ACTED)
    api = vnfs.CloudVnfState.of(healed).tacker_api
    return DisruptionReport(
        vnf=handle.name,
        marks=tuple(marks),
        accelerator=healed.accelerator,
        settings=(("healed by", f"Tacker, {api} API"), ("detected by", "Nova's status, asked every 0.5 s")),
    )


def require_disruptable(live: CloudDeployment, wanted: Disruption) -> None:
    """Refuse what cannot be done; nothing is changed.

    Raises:
        UnsupportedError: another operation is asked for; the instance is not on this machine, or frames would be sent
            to the address of the killed one.
    """
    where = f"{live.deployment.variant} ({live.deployment.topology})"
    if wanted.operation in _REFUSED:
        observed, fix = _REFUSED[wanted.operation]
        raise UnsupportedError(
            f"{wanted.operation.value} under traffic is not done on a cloud", where=where, observed=observed, fix=fix
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
