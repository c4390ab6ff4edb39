"""Veth ports that an Open vSwitch on the userspace datapath adds: its polling threads serve them by AF_XDP sockets.

Frames are whole there: an AF_XDP socket passes on neither a checksum nor a segmentation that was left to a device.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from nfvbed.dataplanes.dataplane import OwnEnds
from nfvbed.dataplanes.ovs.database import SwitchDatabase
from nfvbed.dataplanes.ovs.inplace import NAMES, LedPath, in_place
from nfvbed.dataplanes.ports import vhost_user
from nfvbed.errors import UnsupportedError
from nfvbed.host.network import links, veth
from nfvbed.host.network.namespaces import inside
from nfvbed.host.network.veth import MACS, SWITCH_LINKS

PEERS: Final = ("user0", "user1")
"""The hosts' ends of the pairs."""
KIND: Final = "own veth ports"
_TYPE: Final = "afxdp"
_MACS: Final = tuple(MACS[name] for name in SWITCH_LINKS)
"""Of the switch's ends; the hosts' have the addresses of the ports whose place they take."""


@contextmanager
def own_veths(path: LedPath, prepare: Callable[[], None]) -> Iterator[OwnEnds]:
    """Put two AF_XDP ports on veth pairs in the place of the generator's ports.

    Args:
        prepare: called before the switch opens them: libxdp leaves something behind.

    Raises:
        UnsupportedError: this Open vSwitch has no such ports.
        DeployError: it does not open them.
    """
    netns = path.bridge.netns
    with SwitchDatabase(path.bridge.database) as database:
        types = database.switch().interface_types
        if _TYPE not in types:
            raise UnsupportedError(
                "this Open vSwitch has no veth ports that its threads poll",
                where="ends: veth",
                observed=f"no port type {_TYPE}; it has {', '.join(sorted(types))}",
                fix="one that was built with --enable-afxdp, as Debian has it from 3.1 on; or ends: own",
            )
        prepare()
        inside(netns, _add)
        try:
            veth.prepare(netns, (*PEERS, *NAMES), offloads=False)
            veth.wait_until_up(netns, (*PEERS, *NAMES))
            with in_place(path, database, _TYPE):
                yield OwnEnds(
                    netns=netns,
                    devices=PEERS,
                    what=f"veth pairs, on each an AF_XDP port of Open vSwitch ({_TYPE}) that its threads poll",
                    kind=KIND,
                )
        finally:
            inside(netns, partial(links.remove, NAMES))


def _add() -> None:
    for name, peer, own, mac in zip(NAMES, PEERS, _MACS, vhost_user.MACS, strict=True):
        links.add_veth(name, peer, (own, mac))
