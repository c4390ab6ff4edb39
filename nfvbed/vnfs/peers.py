"""The peers of a data plane's ports, from their start until they can be used."""

import contextlib
import time
from pathlib import Path
from typing import Self

from nfvbed.errors import InternalError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.generator import GeneratorStarter
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment, VnfHandle, VnfKind
from nfvbed.spec.gateway import GATEWAYS
from nfvbed.spec.layout import Layout
from nfvbed.spec.vnf import VnfChoice
from nfvbed.traffic.generator import Generator
from nfvbed.vnfs.catalogue import driver
from nfvbed.vnfs.seats import seats
from nfvbed.vnfs.vnf import VnfDriver, VnfHost, VnfSeat


class OnboardedPeers:
    """The VNFs of one deployment, and its generator.

    All of them start at once and are then waited for: programs come up, and guests boot, side by side.

    Args:
        choice: None: there are no VNFs.
    """

    def __init__(self, plan: Layout, choice: VnfChoice | None, root: Path) -> None:
        self._plan = plan
        self._choice = choice
        self._root = root
        self._host: VnfHost | None = None
        self._starter: GeneratorStarter | None = None
        self.began_ns: int | None = None
        """When they were started; None: not yet."""
        self.ready_ns = 0
        """When all of them ran."""
        self.seats: tuple[VnfSeat, ...] = ()
        self.drivers: tuple[VnfDriver, ...] = ()
        self.handles: tuple[VnfHandle, ...] = ()
        self.generator: Generator | None = None

    def at(self, starter: GeneratorStarter) -> Self:
        """Set the place of the peers, with a generator that starts beside them."""
        self._starter = starter
        return self.inside(starter.workspace, starter.arrangement)

    def inside(self, workspace: Workspace, arrangement: Arrangement) -> Self:
        """Set the place of the VNFs; a generator is opened when it is needed."""
        self._host = VnfHost(workspace, arrangement, self._root)
        return self

    def start(self, foreseen: Deployment) -> None:
        """Start the peers on the deployment's ports."""
        self.began_ns = time.monotonic_ns()
        if self._choice is not None and self._host is not None:
            choice = self._choice
            self.seats = seats(foreseen, self._plan, choice, self._host)
            self.drivers = tuple(driver(choice.kind, place.does) for place in self.seats)
            # One after the other, so that those before one that fails are known when they are ended.
            for run, place in zip(self.drivers, self.seats, strict=True):
                self.handles = (*self.handles, run.start(place))
        if self._starter is not None:
            self.generator = self._starter.launch(foreseen.model_copy(update={"vnfs": self.handles}))

    def wait(self) -> None:
        """Wait until all peers run; idempotent.

        Raises:
            OnboardError, VnfDiedError, GeneratorError: one does not come up.
        """
        if self.ready_ns:
            return
        places = zip(self.drivers, self.seats, self.handles, strict=True)
        self.handles = tuple(run.ready(place, handle) for run, place, handle in places)
        if self.generator is not None:
            self.generator.wait_until_ready()
        self.ready_ns = time.monotonic_ns()

    def give_up(self) -> None:
        """Close a generator that will not be used; all else ends with its workspace."""
        if self.generator is not None:
            with contextlib.suppress(InternalError):
                self.generator.close()


def _starts_quickly(choice: VnfChoice) -> bool:
    return choice.kind is VnfKind.PROCESS and choice.forwarding not in GATEWAYS


def is_quick(plan: Layout, choice: VnfChoice | None) -> bool:
    """Return whether the peers start about as fast as a switch, and pass on what a generator sends.

    Guests boot for seconds on the cores that a switch starts on; a VNF at an end of the path sends when it is started.
    """
    return (choice is None or _starts_quickly(choice)) and not plan.one_way
