"""The VNFs of a deployment in the lab: what they need beforehand, and what is deployed of them."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from nfvbed.dataplanes.reader import CounterReader
from nfvbed.errors import OnboardError, PrerequisiteError, UnsupportedError, VnfDiedError
from nfvbed.host.fitness import support_of
from nfvbed.records import Accelerator, Deployment, Hop, Readiness, VnfHandle, WorkThread
from nfvbed.spec.bearers import BearerTable
from nfvbed.spec.layout import EndKind, Layout, layout
from nfvbed.spec.pcrf import NEXTEPC
from nfvbed.spec.vnf import VnfChoice
from nfvbed.traffic.bearers import BearerGenerator
from nfvbed.traffic.generator import BearerPath, Generator
from nfvbed.vnfs.catalogue import driver
from nfvbed.vnfs.ends import VnfEnds
from nfvbed.vnfs.incomplete import leave_checksums_out
from nfvbed.vnfs.onboarded import OnboardedVnfs
from nfvbed.vnfs.peers import OnboardedPeers
from nfvbed.vnfs.seats import seats, tasks
from nfvbed.vnfs.vnf import VnfDriver, VnfHost, VnfSeat

_VNF_CANNOT_RUN = "the VNF cannot run here:"


@dataclass
class LabVnfs:
    """The VNFs of one deployment."""

    plan: Layout
    choice: VnfChoice
    seats: tuple[VnfSeat, ...]
    drivers: tuple[VnfDriver, ...]
    handles: tuple[VnfHandle, ...]
    stays: bool = False
    """They ran before, or are meant to stay: `destroy` leaves them."""

    @classmethod
    def started(cls, plan: Layout, choice: VnfChoice, peers: OnboardedPeers) -> "LabVnfs":
        """Return VNFs that were started beside a data plane, or after it."""
        return cls(plan, choice, peers.seats, peers.drivers, peers.handles)

    @classmethod
    def found(cls, deployment: Deployment, left: OnboardedVnfs, host: VnfHost) -> "LabVnfs":
        """Return the VNFs that another command left.

        Args:
            host: the host that they are started again on.
        """
        plan = layout(deployment.topology)
        places = seats(deployment, plan, left.choice, host)
        drivers = tuple(driver(left.choice.kind, place.does) for place in places)
        return cls(plan, left.choice, places, drivers, left.handles, stays=True)

    def each(self) -> Iterator[tuple[VnfDriver, VnfHandle]]:
        """Yield the VNFs in the order of the path."""
        yield from zip(self.drivers, self.handles, strict=True)

    def carry(self, deployment: Deployment) -> bool:
        """Prove by own frames that the VNFs forward, where plain ones cannot; return whether that was needed.

        Raises:
            OnboardError: they do not.
        """
        places = zip(self.drivers, self.seats, self.handles, strict=True)
        needed = [run.carry(place, handle, deployment) for run, place, handle in places]
        return any(needed)

    def verify(self) -> None:
        """Check that the VNFs live.

        Raises:
            VnfDiedError: one does not.
        """
        for run, handle in self.each():
            run.verify(handle)

    def dead(self) -> tuple[str, ...]:
        """Return the names of the VNFs that have died."""
        return tuple(handle.name for run, handle in self.each() if not _lives(run, handle))

    def heal(self) -> None:
        """Start all dead VNFs again, then wait for them.

        Raises:
            OnboardError, VnfDiedError: one does not come up.
        """
        self.await_ready(self.start_again(self.dead()))

    def start_again(self, names: Collection[str]) -> tuple[int, ...]:
        """Start dead VNFs where they were; return their places on the path.

        Raises:
            OnboardError: one cannot be started.
        """
        handles, started = list(self.handles), list[int]()
        for index, (run, handle) in enumerate(self.each()):
            if handle.name in names:
                run.stop(handle)
                handles[index] = run.start(self.seats[index])
                started.append(index)
        self.handles = tuple(handles)
        return tuple(started)

    def await_ready(self, places: Collection[int]) -> None:
        """Wait until VNFs that were started say that they forward.

        Raises:
            OnboardError, VnfDiedError: one does not.
        """
        handles = list(self.handles)
        for index in places:
            handles[index] = self.drivers[index].ready(self.seats[index], handles[index])
        self.handles = tuple(handles)

    def stop(self) -> None:
        """End the VNFs; their ports stay."""
        for run, handle in self.each():
            run.stop(handle)

    def hops(self) -> list[tuple[Hop, ...]]:
        """Return the counters of each VNF."""
        return [run.hops(handle) for run, handle in self.each()]

    def threads(self) -> tuple[WorkThread, ...]:
        """Return the threads that do their packet work now."""
        return tuple(thread for run, handle in self.each() for thread in run.threads(handle))

    def readers(self) -> tuple[CounterReader, ...]:
        """Return the readers of the VNFs' own counters, of those that have any."""
        found = (run.reader(handle) for run, handle in self.each())
        return tuple(reader for reader in found if reader is not None)

    def leave_checksums_out(self, deployment: Deployment) -> bool:
        """Return whether frames leave them with checksums that are not filled in."""
        return leave_checksums_out(deployment, self.handles, self.choice)

    def end(self) -> None:
        """Take the VNFs down, unless they are to stay."""
        if self.stays:
            return
        for run, handle in zip(self.drivers, self.handles, strict=False):
            run.end(handle)

    def described(self) -> dict[str, Any]:
        """Return the VNFs' part of the rig."""
        choice, first = self.choice, self.handles[0]
        vnf = {
            "name": choice.vnf.name,
            "kind": choice.kind.value,
            "forwarding": choice.forwarding,
            "digest": choice.digest,
            "versions": first.versions,
            "cores": [list(handle.cores) for handle in self.handles],
            "shares_core": [handle.shares_core for handle in self.handles],
        }
        vnf |= _of_gateway(self.drivers[0].bearers(first), first)
        accelerator = None if first.accelerator is Accelerator.NONE else first.accelerator.value
        return {"vnf": vnf, "flavor": choice.flavor.name, "accelerator": accelerator}

    def ends(self, joined: Callable[[], None]) -> VnfEnds:
        """Return the VNFs that send and receive in the generator's place.

        Args:
            joined: waits until the switch is joined to a source that was restarted.
        """
        source_at = 0 if self.plan.ends[0] is EndKind.SOURCE else None
        sink_at = len(self.handles) - 1 if self.plan.ends[1] is EndKind.SINK else None

        def read(index: int) -> Hop:
            return self.drivers[index].hops(self.handles[index])[0]

        def restart(frame_size: int) -> None:
            place = replace(self.seats[0], frame_size=frame_size)
            self.drivers[0].stop(self.handles[0])
            handle = self.drivers[0].ready(place, self.drivers[0].start(place))
            self.handles = (handle, *self.handles[1:])
            joined()

        return VnfEnds(
            source=(lambda: read(0)) if source_at is not None else None,
            restart=restart,
            sink=(lambda: read(sink_at)) if sink_at is not None else None,
        )


def _of_gateway(table: BearerTable | None, handle: VnfHandle) -> dict[str, Any]:
    """Return what carries a mobile core's bearers, and their number; nothing for another VNF."""
    if table is None:
        return {}
    found = {"gateway": handle.facts["gateway"], "bearers": len(table.bearers), "synthetic": table.synthetic}
    # nextepc's is in no rig: those of before there was a choice are the same.
    pcrf = handle.facts.get("pcrf", NEXTEPC)
    return found | ({"pcrf": pcrf} if pcrf != NEXTEPC else {})


def _lives(run: VnfDriver, handle: VnfHandle) -> bool:
    try:
        run.verify(handle)
    except VnfDiedError:
        return False
    return True


def over_bearers(live: LabVnfs | None, generator: Generator) -> Generator:
    """Return a generator that sends over the VNFs' bearers; without bearers, the same generator."""
    found = [] if live is None else [run.bearers(handle) for run, handle in live.each()]
    return BearerGenerator(generator, BearerPath(found[0])) if found and found[0] else generator


def check(topology: str, choice: VnfChoice, root: Path) -> None:
    """Probe the VNFs of a topology, whatever data plane they will be on.

    Raises:
        UnsupportedError: this host cannot run them; with the probe's reason and fix.
        PrerequisiteError, OnboardError: as `prepare`.
    """
    for does in tasks(layout(topology), choice):
        support = support_of(choice.label, partial(driver(choice.kind, does).probe, choice))
        if support.readiness is Readiness.UNSUPPORTED:
            failure = UnsupportedError(
                f"{_VNF_CANNOT_RUN} {choice.vnf.name} ({choice.label})",
                observed=support.reason,
                fix=support.fix,
            )
            failure.of_vnf = True
            raise failure
    prepare(topology, choice, root)


def prepare(topology: str, choice: VnfChoice, root: Path) -> None:
    """Check that the files of a topology's VNFs are there; the host is not asked.

    Raises:
        PrerequisiteError: one is not there; with its place and how to get it.
        OnboardError: one is not what it should be.
    """
    for does in tasks(layout(topology), choice):
        driver(choice.kind, does).require_files(choice, root)


def missing(topology: str, choice: VnfChoice, root: Path) -> str:
    """Return which file of a path's VNFs is not there, where, and how to get it; empty: none."""
    try:
        prepare(topology, choice, root)
    except PrerequisiteError as failure:
        return f"{_VNF_CANNOT_RUN} {choice.vnf.name} ({choice.label}): {failure.what} ({failure.where}; {failure.fix})"
    except (OnboardError, UnsupportedError):
        return ""  # reported when it is deployed, before anything is deployed
    return ""
