"""The part of a site that is a host: the processes and cores of a deployment."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nfvbed.dataplanes.dataplane import OwnEndsMaker, OwnKind
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import WorkThread
from nfvbed.records.readings import Distances, Unavailable


@dataclass(frozen=True)
class HostView:
    """The host of one deployment, for tests that start processes beside it or ask for its cores."""

    workspace: Workspace
    """Executes what is run beside the deployment: processes that are started in it end with it."""
    arrangement: Arrangement
    """Who sits on which core."""
    work_threads: Callable[[], tuple[WorkThread, ...]] = lambda: ()
    """Returns the threads that do the packet work now, kernel threads included."""
    core_distances_ns: Callable[[], Distances | Unavailable] = lambda: Unavailable("it is not measured here")
    """Measures the one-way cache-line time between each switch core and each other core that shares the work."""
    own_ends: Mapping[OwnKind, OwnEndsMaker] = field(default_factory=dict)
    """Put ports of the switch's own in the place of the generator's, for a block, by their kind; empty: it has none."""
    close_generators: Callable[[], None] = lambda: None
    """Closes a generator that waits to be used, where one does: what wants its ports for something else calls it."""
