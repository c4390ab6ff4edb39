"""Waits until a switch has joined the other sides of its vhost-user ports, by the switch's own report.

The process at the other side has its link at once. The switch then sets the port up anew in its main thread. Meanwhile
no poll-mode thread has the port, and frames to it are dropped (`datapath_drop_invalid_port`). On a busy host this can
take a second. Only afterwards does the port have a link for OpenFlow.
"""

import time
from collections.abc import Callable, Mapping

from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.dataplanes.ovs.reading import BridgeView
from nfvbed.errors import DeployError
from nfvbed.patience import patient

PATIENCE_S = patient(10.0)
"""The switch, the client of these sockets, tries to connect once a second."""
_LOOK_AROUND_S = 0.01


def wait_for_links(view: BridgeView, ports: Mapping[str, int], check: Callable[[], None]) -> None:
    """Wait until the switch forwards to ports.

    Args:
        ports: OpenFlow numbers by port name.
        check: called while waiting; raises when waiting has become pointless.

    Raises:
        DeployError: some get no link in time.
    """
    if not ports:
        return
    deadline = time.monotonic() + PATIENCE_S
    with BridgeController(view.openflow) as bridge:
        while down := _without_link(bridge, ports):
            check()
            if time.monotonic() > deadline:
                raise DeployError(
                    f"{view.name} does not join its ports",
                    where=", ".join(down),
                    observed=f"without a link after {PATIENCE_S:g} s",
                    fix="see ovs-vswitchd.log in the run directory, and what is to open the other side",
                )
            time.sleep(_LOOK_AROUND_S)


def _without_link(bridge: BridgeController, ports: Mapping[str, int]) -> list[str]:
    links = bridge.links()
    return [name for name, number in ports.items() if not links.get(number)]
