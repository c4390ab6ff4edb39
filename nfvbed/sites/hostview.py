"""What a site that is a host offers beside its interface: the processes and cores of a deployment."""

from collections.abc import Callable
from dataclasses import dataclass

from nfvbed.host.arrangement import Arrangement
from nfvbed.host.workspace import Workspace


@dataclass(frozen=True)
class HostView:
    """The host of one deployment, for tests that start processes beside it or ask for its cores."""

    workspace: Workspace
    """Processes that are started in it end with the deployment."""
    arrangement: Arrangement
    """Who sits on which core."""
    close_generators: Callable[[], None] = lambda: None
    """Closes a generator that waits to be used, where one does: whoever wants its ports for something else calls it."""
