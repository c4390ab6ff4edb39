"""The guests of a deployment that can be asked to work, and the pause of their forwarding."""

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nfvbed.errors import InternalError, OnboardError, UnsupportedError
from nfvbed.patience import patient
from nfvbed.records import Deployment, VnfHandle, VnfKind
from nfvbed.records.readings import Unavailable
from nfvbed.spec.layout import layout
from nfvbed.vnfs.vm.agent import Agent, AgentRefused, SerialPort
from nfvbed.vnfs.vm.state import GuestState

RESUME_S = patient(120.0)
"""testpmd restarts, in a guest that may be emulated."""
AGAIN_S = 0.5
"""Between two tries."""


class PathGuest(ABC):
    """One guest of a path, with an agent."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The VNF's name: `vnf1`; of one of several machines with the machine's beside it."""

    @property
    @abstractmethod
    def agent(self) -> Agent:
        """A client of its agent."""

    @property
    def cores(self) -> tuple[int, ...]:
        """The host's cores that it was given; none: it runs on any, or they are not known."""
        return ()

    @abstractmethod
    def mac(self, port: int) -> str:
        """Return the address of one of its ports, by the port's number (0 towards outside end 0, 1 towards end 1).

        Raises:
            OnboardError: it has no such port.
        """


@dataclass(frozen=True)
class GuestPort:
    """A port of a guest."""

    guest: PathGuest
    port: int
    """Its number."""

    @property
    def mac(self) -> str:
        """Its address."""
        return self.guest.mac(self.port)


@dataclass(frozen=True)
class PathGuests:
    """The guests of a path, in its order."""

    guests: tuple[PathGuest, ...]
    joined: tuple[tuple[GuestPort, GuestPort], ...]
    """Pairs of ports that are joined with each other, and with nothing else, in the order of the path."""
    network: str = ""
    """What joins the first pair, and where its guests are, in words; empty: the data plane of one host."""


@dataclass(frozen=True)
class Machine(PathGuest):
    """A guest of this machine."""

    handle: VnfHandle

    @property
    def name(self) -> str:
        """The VNF's name: `vnf1`."""
        return self.handle.name

    @property
    def agent(self) -> Agent:
        """A client of its agent."""
        path = GuestState.of(self.handle).agent
        if path is None:
            raise InternalError("this guest has no agent", where=self.name)
        return Agent(SerialPort(Path(path)))

    @property
    def cores(self) -> tuple[int, ...]:
        """The cores of its virtual CPUs."""
        return self.handle.cores

    @property
    def monitor(self) -> Path:
        """The socket of QEMU's monitor."""
        return Path(GuestState.of(self.handle).monitor)

    def mac(self, port: int) -> str:
        """Find it in the VNF's record."""
        for own in self.handle.ports:
            if own.port == port:
                return own.mac
        raise OnboardError(f"{self.name} has no port {port}", observed=f"{len(self.handle.ports)} ports")


def path_guests(deployment: Deployment) -> PathGuests | Unavailable:
    """Return the guests of a path on this machine, joined as its cables say; or why nothing can be done in them."""
    reason = absence(deployment)
    if reason:
        return Unavailable(reason)
    found = machines(deployment)
    joined = tuple(
        (GuestPort(found[one.first.vnf], one.first.port), GuestPort(found[one.second.vnf], one.second.port))
        for one in layout(deployment.topology).cables
        if one.first.vnf is not None and one.second.vnf is not None
    )
    return PathGuests(found, joined)


def machines(deployment: Deployment) -> tuple[Machine, ...]:
    """Return the guests in the order of the path; none where a VNF is no guest, or has no agent."""
    return () if absence(deployment) else tuple(Machine(handle) for handle in deployment.vnfs)


def absence(deployment: Deployment) -> str:
    """Return why nothing can be measured inside guests of a deployment; empty where it can."""
    if not deployment.vnfs:
        return f"topology {deployment.topology} has no VNF here, so no guest"
    others = sorted({handle.kind.value for handle in deployment.vnfs if handle.kind is not VnfKind.VM})
    if others:
        return f"its VNFs are of kind {', '.join(others)}, not virtual machines"
    if any(GuestState.of(handle).agent is None for handle in deployment.vnfs):
        return "its image has no agent of nfvbed, which starts the work inside"
    return ""


@contextlib.contextmanager
def paused(guests: Sequence[PathGuest]) -> Iterator[None]:
    """Pause the forwarding of guests for a block; afterwards they go on as before, even if the work inside failed.

    After anything else (Ctrl-C, a guest that died) they are left as they are: their deployment is taken down.

    Raises:
        OnboardError: one cannot be paused, or does not go on.
    """
    for guest in guests:
        guest.agent.ask("pause")
    try:
        yield
    except (AgentRefused, UnsupportedError):
        _resume(guests)
        raise
    _resume(guests)


def _resume(guests: Sequence[PathGuest]) -> None:
    # The last one first: the receiver is there before the sender.
    for guest in reversed(guests):
        _resume_one(guest)


def _resume_one(guest: PathGuest) -> None:
    """Let a guest forward again; what it refuses is tried again: on a busy host its own limits are soon over.

    Raises:
        OnboardError: it does not in time, or its agent does not answer.
    """
    deadline = time.monotonic() + RESUME_S
    while True:
        try:
            guest.agent.ask("resume", timeout_s=RESUME_S)
            return
        except AgentRefused as refusal:
            if time.monotonic() > deadline:
                raise OnboardError(
                    f"{guest.name} does not forward again: {refusal.what}",
                    where=refusal.where,
                    observed=refusal.observed,
                    fix=refusal.fix or "see the guest's console in the run directory",
                ) from refusal
        time.sleep(AGAIN_S)
