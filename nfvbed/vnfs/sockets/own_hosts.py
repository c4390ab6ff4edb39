"""Hosts on ports of the switch's own.

Each takes a tap into its namespace, as a user's container does. Veth pairs stay where they are, and are received from
as the generator's are on data planes with veth ports (`kernel_hosts.py`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from pyroute2 import IPRoute

from nfvbed.dataplanes.dataplane import OwnEndsMaker
from nfvbed.dataplanes.ports import vhost_user
from nfvbed.dataplanes.ports.kernel_cores import place_generator
from nfvbed.host.generator import GENERATOR_ADDRESSES
from nfvbed.host.network.namespaces import inside
from nfvbed.records import Deployment, GeneratorPort, PortKind
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
from nfvbed.vnfs.sockets.kernel_hosts import kernel_hosts


@contextmanager
def tap_hosts(deployment: Deployment, around: HostResources, own_ends: OwnEndsMaker) -> Iterator[NamespaceEnds]:
    """Make two hosts on taps that the switch adds for them.

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
                kind=own.kind,
                told=own.told,
            )
    finally:
        remove_spaces(spaces)


@contextmanager
def veth_hosts(deployment: Deployment, around: HostResources, own_ends: OwnEndsMaker) -> Iterator[NamespaceEnds]:
    """Make two hosts on the far ends of veth pairs whose near ends are ports that the switch adds.

    Raises:
        DeployError: the switch does not add them.
        UnsupportedError: it has no such ports, or the kernel no macvlan or no receive threads.
    """
    with own_ends() as own:
        threads = place_generator(own.devices, own.netns, around.arrangement)
        ports = [GeneratorPort(engine="xdp", spec=name, kind=PortKind.VETH, netns=own.netns) for name in own.devices]
        with kernel_hosts(deployment.model_copy(update={"ports": tuple(ports)}), around) as ends:
            yield replace(ends, what=own.what, kind=own.kind, threads=(*threads, *own.threads), told=own.told)


def _address(device: str, mac: str) -> None:
    with IPRoute() as route:
        route.link("set", index=route.link_lookup(ifname=device)[0], address=mac)
