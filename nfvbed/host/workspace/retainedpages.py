"""Hugepages that stay reserved from one deployment of a run to the next.

A virtual machine's kernel may give freed memory back to its host. The host then has to find it again, page by page,
when the next deployment clears it. DPDK's start then takes a second of the control core in place of a sixth.
"""

from nfvbed.host.ledger.entries import HugepagesEntry
from nfvbed.host.workspace.workspace import Workspace

MOST_PAGES = 1024
"""2 GiB: what a switch, its VNFs and the generator take; more is given back, as others may want it as plain memory."""


class RetainedPages:
    """The pages of ended deployments, in a workspace of their own that is undone with the others at the end."""

    def __init__(self) -> None:
        self._workspace: Workspace | None = None

    def take_over(self, ending: Workspace) -> None:
        """Take what an ending deployment has added to the pool, up to `MOST_PAGES`; until it ends it uses these pages.

        It takes only pages whose node the kernel chose, and whose number it reported.
        """
        held = 0 if self._workspace is None else sum(e.granted or 0 for e in _hugepages(self._workspace))
        for entry in _hugepages(ending):
            if entry.node is not None or not entry.granted or held + entry.granted > MOST_PAGES:
                continue
            if self._workspace is None:
                self._workspace = Workspace.create()
            ending.ledger.hand_over(entry, self._workspace.ledger)
            held += entry.granted


def _hugepages(workspace: Workspace) -> list[HugepagesEntry]:
    return [entry for entry in workspace.ledger.entries if isinstance(entry, HugepagesEntry)]
