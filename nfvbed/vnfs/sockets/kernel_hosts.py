"""Hosts on kernel ports: a macvlan on each of the generator's ports, in a namespace of its own.

The ports stay where they are, with their receive threads on their cores as the arrangement has them: to move a port
into another namespace would end those. In mode passthru a macvlan has its port's address, and takes and sends all
of its frames; what the port's driver leaves to it (segmentation, checksums) the macvlan leaves to it too.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from nfvbed.errors import UnsupportedError
from nfvbed.host import fixes
from nfvbed.host.generator import GENERATOR_ADDRESSES
from nfvbed.host.network import links
from nfvbed.host.network.namespaces import inside
from nfvbed.records import Deployment, GeneratorPort
from nfvbed.vnfs.sockets.devices import LinkDevice
from nfvbed.vnfs.sockets.hosts import (
    DEVICES,
    Host,
    HostResources,
    NamespaceEnds,
    devices_of,
    make_spaces,
    pair_of,
    place,
    remove_spaces,
    set_up,
)

WHAT = "macvlan devices on the generator's kernel ports"


@contextmanager
def kernel_hosts(deployment: Deployment, around: HostResources) -> Iterator[NamespaceEnds]:
    """Make two hosts on a deployment's kernel ports; the generator must not be open on them.

    Raises:
        UnsupportedError: the kernel has no macvlan.
    """
    spaces = make_spaces(around.workspace)
    try:
        cores = place(around.arrangement, polls=False)
        first, second = (
            Host(target, device, _make(port, target, device), address)
            for port, target, device, address in zip(
                deployment.ports, spaces, DEVICES, GENERATOR_ADDRESSES, strict=True
            )
        )
        hosts = (first, second)
        set_up(deployment, hosts)
        yield NamespaceEnds(
            hosts=hosts,
            devices=devices_of(hosts),
            pair=pair_of(around, hosts, cores),
            cores=cores,
            what=WHAT,
            carriers=tuple(LinkDevice(port.netns or "/proc/1/ns/net", port.spec) for port in deployment.ports),
        )
    finally:
        # At once: a namespace is emptied by the kernel later, and the port is wanted before that.
        for space, device in zip(spaces, DEVICES, strict=True):
            inside(space, partial(links.remove, [device]))
        remove_spaces(spaces)


def _make(port: GeneratorPort, target: str, device: str) -> str:
    """Make a macvlan on a port, in another namespace, and return its address."""

    def work() -> str:
        handle = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
        try:
            with IPRoute() as route:
                lower = route.link_lookup(ifname=port.spec)[0]
                mac = str(next(iter(route.get_links(lower))).get_attr("IFLA_ADDRESS"))
                route.link("add", ifname=device, kind="macvlan", link=lower, macvlan_mode="passthru", net_ns_fd=handle)
                return mac
        finally:
            os.close(handle)

    try:
        return inside(port.netns or "/proc/1/ns/net", work)
    except NetlinkError as failure:
        raise UnsupportedError(
            "a host for socket traffic cannot be put on a kernel port",
            where=f"macvlan on {port.spec}",
            observed=str(failure),
            fix=fixes.load("macvlan"),
        ) from failure
