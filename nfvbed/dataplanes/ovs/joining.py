"""When what is at the other sides of a switch's vhost-user ports is joined to them, by the switch's own words.

Whoever opens the other side has its link at once. The switch then sets the port up anew, in its main thread, which
takes its poll-mode threads off the port meanwhile: frames to it are dropped (`datapath_drop_invalid_port`) until that
is done. On a busy host it can take a second. The port has a link for OpenFlow only afterwards.
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
        view: of their bridge.
        ports: names and OpenFlow numbers.
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
