"""Instances of a VNF side by side on one path: scaled by Tacker, each with a share of the flows by its address.

They forward between the same two networks, and are no loop: each gives what it sends the address of its peer, which the
switch leads to the generator, as it leads the address of each share to one instance.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from nfvbed.cloud.compute import AddressLead
from nfvbed.cloud.instances import PlacedInstance
from nfvbed.cloud.tacker.waits import wait
from nfvbed.dataplanes.ports.shares import share_mac
from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.records import VnfHandle
from nfvbed.sites.disruption import Disruption, DisruptionReport, FlowShares, Mark
from nfvbed.sites.openstack import boots, paths, vnfs
from nfvbed.sites.openstack.deployment import CloudDeployment
from nfvbed.spec.testkinds.lifecycles import LifeCycleOperation
from nfvbed.traffic.generator import Addressing

SCALING = (LifeCycleOperation.SCALE_OUT, LifeCycleOperation.SCALE_IN)
_SIDES = (0, 1)
_PEER = "02:00:00:00:00:0{}"
"""The address to which testpmd in the mode `mac` sends what leaves through its port of a number, unless it is told
another one (`--eth-peer`)."""


@dataclass(frozen=True)
class ScaleControl:
    """The requests to a cloud that scaling takes."""

    scale: Callable[[VnfHandle, int], tuple[VnfHandle, ...]]
    """Has the VNF of an instance scaled by a number of instances; returns handles of all that it has then."""
    console: boots.Console


def require_scalable(live: CloudDeployment) -> None:
    """Refuse VNFs that would be a loop, or whose boot cannot be seen; nothing is changed.

    Raises:
        UnsupportedError: with the reason.
    """
    plan, choice = live.wanted.plan, live.wanted.choice
    where = f"{live.deployment.variant} ({live.deployment.topology})"
    if choice is None or paths.most_instances(plan, choice) < paths.SIDE_BY_SIDE:
        raise UnsupportedError(
            "this VNF is not scaled under traffic",
            where=where,
            observed="two of them between the same two networks are a loop: they pass on addresses as they are",
            fix="topology pvp and forwarding: mac, which gives frames the address of a fixed peer",
        )
    if not boots.marker_of(choice):
        raise UnsupportedError(
            "this VNF is not scaled under traffic",
            where=where,
            observed="its image prints nothing when it forwards, and frames before that would be lost",
            fix="console_marker of the image",
        )
    live.compute.lead(())


class SideBySide:
    """The instances of one deployment's VNF; the first one is the deployment's own."""

    def __init__(self, live: CloudDeployment, control: ScaleControl) -> None:
        self._live = live
        self._control = control
        self._handles: tuple[VnfHandle, ...] = live.handles

    def prepare(self, operation: LifeCycleOperation) -> FlowShares:
        """Have as many instances as an operation begins with, and deal the shares out to them."""
        wanted = 1 if operation is LifeCycleOperation.SCALE_OUT else paths.SIDE_BY_SIDE
        self._scale_to(wanted)
        self._deal()
        macs = (share_mac(1, 0), share_mac(0, 0))
        return FlowShares(paths.SIDE_BY_SIDE, Addressing(flow_macs=("destination",), macs=macs))

    def disrupt(self, wanted: Disruption) -> DisruptionReport:
        """Scale by one instance; deal the shares out again as soon as a new one forwards, or one is gone."""
        began, marks = time.monotonic_ns(), list[tuple[Mark, int]]()

        def mark(name: Mark) -> None:
            marks.append((name, time.monotonic_ns() - began))

        time.sleep(wanted.after_s)
        before = self._handles
        mark(Mark.BEGAN)
        if wanted.operation is LifeCycleOperation.SCALE_OUT:
            self._scale(1)
            mark(Mark.ACTED)
            self._await_boot(before)
            mark(Mark.BOOTED)
        else:
            self._scale(-1)
            mark(Mark.ACTED)
        self._deal()
        mark(Mark.DEALT)
        self._require_frames()
        return DisruptionReport(
            vnf=before[0].name,
            marks=tuple(marks),
            accelerator=self._handles[0].accelerator,
            settings=tuple(self._settings(before)),
        )

    def settle(self) -> None:
        """Scale in to the one instance that the deployment's path has."""
        self._scale_to(1)

    def _scale_to(self, wanted: int) -> None:
        before = self._handles
        if wanted != len(before):
            self._scale(wanted - len(before))
            self._await_boot(before)

    def _scale(self, delta: int) -> None:
        found = self._control.scale(self._handles[0], delta)
        there = {vnfs.CloudVnfState.of(one).instance: one for one in found}
        stayed = [one for one in self._handles if vnfs.CloudVnfState.of(one).instance in there]
        known = {vnfs.CloudVnfState.of(one).instance for one in stayed}
        self._handles = (*stayed, *(one for name, one in there.items() if name not in known))
        if not self._handles:
            raise OnboardError("no instance is there any more", where=self._live.deployment.variant)
        live = self._live
        live.deployment = live.deployment.model_copy(
            update={"vnfs": self._handles[:1], "vnf_ports": (self._handles[0].ports,)}
        )

    def _await_boot(self, before: Sequence[VnfHandle]) -> None:
        """Wait until all new instances have printed that they forward.

        Raises:
            OnboardError: one has not in time; with the last line of its console.
        """
        known = {vnfs.CloudVnfState.of(one).instance for one in before}
        for instance in (vnfs.CloudVnfState.of(one).instance for one in self._handles):
            if instance not in known:
                boots.await_boot(instance, boots.marker_of(self._live.wanted.choice), self._control.console)

    def _deal(self) -> None:
        """Lead each share to an instance, the first one's where there are fewer, and peers to the generator."""
        live = self._live
        instances = vnfs.instances(self._handles)
        live.compute.adopt(live.wanted.variant, instances)
        leads = [AddressLead(side, _PEER.format(side), None) for side in _SIDES]
        leads += [
            AddressLead(side, share_mac(side, share), instances[share % len(instances)])
            for side in _SIDES
            for share in range(paths.SIDE_BY_SIDE)
        ]
        live.compute.lead(leads)

    def _require_frames(self) -> None:
        """Make sure that every instance passes frames on both ways, once the shares are dealt out.

        Raises:
            OnboardError: one does not: its share would be lost to the trial's end, and nothing would say why.
        """
        for one in vnfs.instances(self._handles):
            before = self._passed(one)
            waited = wait("settle", partial(self._passes_more, one, before))
            if not waited.done:
                raise OnboardError(
                    "an instance side by side passes no frames on",
                    where=f"instance {one.id} on {one.host}",
                    observed=f"its ports have sent {before} and then {self._passed(one)} frames; {waited.too_long}",
                    fix="its console: nfvbed devcloud console; and where its addresses lead in the switch",
                )

    def _passes_more(self, one: PlacedInstance, before: Sequence[int]) -> bool:
        return all(now > then for now, then in zip(self._passed(one), before, strict=True))

    def _passed(self, one: PlacedInstance) -> list[int]:
        """Return the frames that came from both ports of an instance."""
        return [hop.rx_packets or 0 for hop in self._live.compute.hops((one,)) if hop.vnf is not None]

    def _settings(self, before: Sequence[VnfHandle]) -> list[tuple[str, str]]:
        api = vnfs.CloudVnfState.of(before[0]).tacker_api
        there = {vnfs.CloudVnfState.of(one).instance for one in self._handles}
        gone = [one for one in before if vnfs.CloudVnfState.of(one).instance not in there]
        told = [("scaled by", f"Tacker, {api} API"), ("instances", f"{len(before)} to {len(self._handles)}")]
        if gone:
            told.append(("removed", "the first, which the VNF had before" if before[0] in gone else "the second"))
        return told
