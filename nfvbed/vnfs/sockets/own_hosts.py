"""Hosts on ports of the switch's own: each takes the port's device into its namespace, as a user's container does."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial

from pyroute2 import IPRoute

from nfvbed.dataplanes.dataplane import OwnEnds
from nfvbed.dataplanes.ports import vhost_user
from nfvbed.host.generator import GENERATOR_ADDRESSES
from nfvbed.host.network.namespaces import inside
from nfvbed.records import Deployment
from nfvbed.vnfs.sockets.hosts import (
    Host,
    HostResources,
    NamespaceEnds,
    devices_of,
    make_spaces,
    move,
    pair_of,
    place,
    remove_spaces,
    set_up,
)

KIND = "own ports"


@contextmanager
def own_hosts(
    deployment: Deployment, around: HostResources, own_ends: Callable[[], AbstractContextManager[OwnEnds]]
) -> Iterator[NamespaceEnds]:
    """Make two hosts on ports that the switch adds for them.

    Raises:
        DeployError: the switch does not add them.
    """
    spaces = make_spaces(around.workspace)
    try:
        # The switch gives its ports up first: a namespace that goes takes their devices from beneath it.
        with own_ends() as own:
            cores = place(around.arrangement, polls=False)
            for space, device, mac in zip(spaces, own.devices, vhost_user.MACS, strict=True):
                move(device, own.netns, space)
                inside(space, partial(_address, device, mac))
            first, second = (
                Host(*of) for of in zip(spaces, own.devices, vhost_user.MACS, GENERATOR_ADDRESSES, strict=True)
            )
            hosts = (first, second)
            set_up(deployment, hosts)
            devices = devices_of(hosts)
            yield NamespaceEnds(
                hosts=hosts,
                devices=devices,
                pair=pair_of(around, hosts, cores),
                cores=cores,
                threads=own.threads,
                what=own.what,
                carriers=devices,
                kind=KIND,
                told=own.told,
            )
    finally:
        remove_spaces(spaces)


def _address(device: str, mac: str) -> None:
    with IPRoute() as route:
        route.link("set", index=route.link_lookup(ifname=device)[0], address=mac)
