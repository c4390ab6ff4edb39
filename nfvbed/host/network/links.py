"""Links in network namespaces, over netlink and ethtool's ioctl; every function runs in its caller's namespace."""

import fcntl
import os
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import Field
from pyroute2 import IPRoute
from pyroute2.ethtool.ioctl import IoctlEthtool, NotSupportedError
from pyroute2.netlink.rtnl import ndmsg
from pyroute2.netlink.rtnl.ifinfmsg import ifinfbase

from nfvbed.host.network.linkdump import read_links
from nfvbed.records import Record
from nfvbed.records.drops import with_remainder

PORT_MTU = 3400
"""About the largest frame that XDP takes in one page, FCS and Ethernet header aside."""

_TUN = "/dev/net/tun"
_TUNSETIFF, _TUNSETPERSIST = 0x400454CA, 0x400454CB
_IFF_TUN, _IFF_TAP, _IFF_MULTI_QUEUE, _IFF_NO_PI, _IFF_VNET_HDR = 0x0001, 0x0002, 0x0100, 0x1000, 0x4000

_FEW = 31
"""Above the indices of a generator's or a VNF's links, far below those that the XDP switch takes."""
_QUIET = {"learning": 0, "unicast_flood": 0, "mcast_flood": 0, "bcast_flood": 0}

GRO = "rx-gro"
CHECKSUM = "tx-checksum-ip-generic"
TRANSMIT_OFFLOADS = (
    "tx-scatter-gather",
    CHECKSUM,
    "tx-generic-segmentation",
    "tx-tcp-segmentation",
    "tx-tcp6-segmentation",
    "tx-udp-segmentation",
)


_INFO = ifinfbase.ifinfo


_ATTRIBUTES_OF_67 = (
    ("IFLA_BR_VLAN_STATS_PER_PORT", "uint8"),
    ("IFLA_BR_MULTI_BOOLOPT", "hex"),
    ("IFLA_BR_MCAST_QUERIER_STATE", "hex"),
    ("IFLA_BR_FDB_N_LEARNED", "uint32"),
    ("IFLA_BR_FDB_MAX_LEARNED", "uint32"),
)
"""Attributes of a bridge, after the 45 that pyroute2 0.9 knows, up to those of Linux 6.7 (if_link.h); the place is the
number.
"""
_BRIDGE_ATTRIBUTES = (*_INFO.bridge_data.nla_map[:45], *_ATTRIBUTES_OF_67)
_INFO.register_link_kind(module={"bridge": type("bridge_data", (_INFO.bridge_data,), {"nla_map": _BRIDGE_ATTRIBUTES})})


class LinkCounters(Record):
    """What the kernel counts for a link."""

    rx_packets: int
    tx_packets: int
    rx_dropped: int
    tx_dropped: int
    rx_errors: int
    tx_errors: int
    up: bool
    reasons: dict[str, int] = Field(default_factory=dict)
    """Errors of which it says why (`linkdump.ERRORS`); all but those of missed frames are among the errors above."""

    @property
    def drops(self) -> dict[str, int]:
        """Frames that did not go on, each counted once: by reason, and the part of the totals without a reason."""
        found = {"rx_dropped": self.rx_dropped, "tx_dropped": self.tx_dropped}
        for total, side in (("rx_errors", "rx_"), ("tx_errors", "tx_")):
            reasons = {name: count for name, count in self.reasons.items() if name.startswith(side)}
            missed = {name: reasons.pop(name) for name in ("rx_missed_errors",) if name in reasons}
            found |= with_remainder(total, {total: getattr(self, total)}, reasons) | missed
        return found


class LinkTraffic(Record):
    """The frames of a link, and their bytes."""

    rx_packets: int
    tx_packets: int
    rx_bytes: int
    tx_bytes: int


def silence_ipv6(names: Iterable[str] = ("all", "default")) -> None:
    """Turn IPv6 off, so that the kernel sends no neighbour or router solicitation among the frames under test."""
    for name in names:
        path = Path(f"/proc/sys/net/ipv6/conf/{name}/disable_ipv6")
        if path.exists():  # the kernel may be without IPv6
            path.write_text("1")


def add_veth(name: str, peer: str, macs: tuple[str, str], peer_netns: str | None = None, *, queues: int = 1) -> None:
    """Make a pair, both down, with this number of queues each; the other end may be in another namespace."""
    ends = {"mtu": PORT_MTU, "num_tx_queues": queues, "num_rx_queues": queues}
    other: dict[str, object] = {"ifname": peer, "address": macs[1], **ends}
    with IPRoute() as route:
        if peer_netns is None:
            route.link("add", ifname=name, kind="veth", address=macs[0], peer=other, **ends)
            return
        handle = os.open(peer_netns, os.O_RDONLY | os.O_CLOEXEC)
        try:
            other["net_ns_fd"] = handle
            route.link("add", index=_far_index(), ifname=name, kind="veth", address=macs[0], peer=other, **ends)
        finally:
            os.close(handle)


def _far_index() -> int:
    """Return an index that is free in the namespace of a pair's other end too.

    Where both ends have the same index, the kernel treats the device as one without another end. It then reports a
    new carrier only once a second; until then a bridge does not forward to the device, and it sends nothing.
    """
    return max(_FEW, *(link.index for link in read_links().values())) + 1


def add_tap(name: str, queues: int = 1) -> None:
    """Make a persistent tap device, down, with virtio's header, for a virtual machine that opens it by name.

    Args:
        queues: a device of several queues must be opened with several; a device of one queue, with one.

    Raises:
        OSError: the kernel has no tap devices, or the name is taken.
    """
    _add_tuntap(name, _IFF_TAP | _IFF_NO_PI | _IFF_VNET_HDR | (_IFF_MULTI_QUEUE if queues > 1 else 0))


def _add_tuntap(name: str, flags: int) -> None:
    handle = os.open(_TUN, os.O_RDWR | os.O_CLOEXEC)
    try:
        # A device of that name that is there would be opened, not made.
        if _exists(name):
            raise FileExistsError(f"there is a link {name} in this network namespace")
        fcntl.ioctl(handle, _TUNSETIFF, struct.pack("16sH22x", name.encode(), flags))
        fcntl.ioctl(handle, _TUNSETPERSIST, 1)
    finally:
        os.close(handle)
    with IPRoute() as route:
        route.link("set", index=_index(route, name), mtu=PORT_MTU)


def add_tun(name: str) -> None:
    """Make a persistent tun device, down: IP packets without a header before them, for a program that opens it by name.

    Raises:
        OSError: the kernel has no tun devices, or the name is taken.
    """
    _add_tuntap(name, _IFF_TUN | _IFF_NO_PI)


def set_up(names: Iterable[str]) -> None:
    """Set links up in the namespace of the calling thread."""
    with IPRoute() as route:
        for name in names:
            route.link("set", index=_index(route, name), state="up")


def set_down(names: Iterable[str]) -> None:
    """Set links down: their receive work ends, and with it its threads."""
    with IPRoute() as route:
        for name in names:
            route.link("set", index=_index(route, name), state="down")


def add_bridge(name: str, ports: Iterable[str], options: Mapping[str, int], learning: bool) -> None:
    """Make a bridge with these ports.

    Args:
        ports: links that are in this namespace.
        options: `br_*` attributes of rtnetlink.
        learning: whether the ports learn source addresses; without it every frame is flooded.
    """
    with IPRoute() as route:
        route.link("add", ifname=name, kind="bridge", mtu=PORT_MTU, **options)
        bridge = _index(route, name)
        for port in ports:
            index = _index(route, port)
            route.link("set", index=index, master=bridge)
            route.brport("set", index=index, learning=int(learning))
        route.link("set", index=bridge, state="up")


def add_bridge_port(bridge: str, name: str, address: str) -> None:
    """Make a link a port of a bridge, and bring it up; the bridge forwards frames to an address by it from now on."""
    with IPRoute() as route:
        index = _index(route, name)
        route.link("set", index=index, master=_index(route, bridge), state="up")
        route.fdb("add", ifindex=index, lladdr=address, state=ndmsg.NUD_NOARP, flags=ndmsg.NTF_MASTER)


def remove(names: Iterable[str]) -> None:
    """Remove those of the links that are in this namespace; a removed bridge's ports stay."""
    with IPRoute() as route:
        for name in names:
            for index in route.link_lookup(ifname=name):
                route.link("del", index=index)


def tune_bridge(name: str, options: Mapping[str, int], learning: bool) -> None:
    """Set options of an existing bridge, and whether its ports learn, as `add_bridge` does for a new one."""
    with IPRoute() as route:
        bridge = _index(route, name)
        if options:
            route.link("set", index=bridge, kind="bridge", **options)
        for port in route.get_links():
            if port.get_attr("IFLA_MASTER") == bridge:
                route.brport("set", index=port["index"], learning=int(learning))


def masters() -> dict[str, str]:
    """Return the links of this namespace that are ports of a bridge, each with the bridge's name."""
    with IPRoute() as route:
        found = {link["index"]: link for link in route.get_links()}
    names = {index: str(link.get_attr("IFLA_IFNAME")) for index, link in found.items()}
    return {
        names[index]: names[master]
        for index, link in found.items()
        if (master := link.get_attr("IFLA_MASTER")) in names
    }


def steer_by_address(isolated: Iterable[str], ports: Mapping[str, Iterable[str]]) -> None:
    """Let bridge ports forward only by static entries: they learn nothing, and flood nothing to each other.

    Args:
        isolated: ports that may not reach one another.
        ports: the addresses behind each port of the bridge.
    """
    apart = set(isolated)
    with IPRoute() as route:
        for port, addresses in ports.items():
            index = _index(route, port)
            route.brport("set", index=index, isolated=int(port in apart), **_QUIET)
            for address in addresses:
                route.fdb("add", ifindex=index, lladdr=address, state=ndmsg.NUD_NOARP, flags=ndmsg.NTF_MASTER)


def lead_addresses(ports: Mapping[str, Iterable[str]]) -> None:
    """Put addresses behind ports of bridges, also those that were behind another port; what else is learnt stays.

    Args:
        ports: the addresses behind each port.
    """
    with IPRoute() as route:
        for port, addresses in ports.items():
            index = _index(route, port)
            for address in addresses:
                route.fdb("replace", ifindex=index, lladdr=address, state=ndmsg.NUD_NOARP, flags=ndmsg.NTF_MASTER)


def learnt_addresses(bridge: str) -> tuple[int | None, int | None]:
    """Return how many addresses a bridge of this namespace has learnt, and how many it may (0: no limit).

    None where the kernel does not say: it does from 6.7 on.
    """
    with IPRoute() as route:
        link = next(iter(route.get_links(_index(route, bridge))))
    data = link.get_attr("IFLA_LINKINFO").get_attr("IFLA_INFO_DATA")
    return data.get_attr("IFLA_BR_FDB_N_LEARNED"), data.get_attr("IFLA_BR_FDB_MAX_LEARNED")


def forget_learnt(bridge: str) -> None:
    """Remove all learnt addresses of a bridge of this namespace."""
    with IPRoute() as route:
        route.link("set", index=_index(route, bridge), kind="bridge", br_fdb_flush=True)


def set_features(name: str, wanted: Mapping[str, bool]) -> None:
    """Turn offloads on or off; those that this kernel or device does not have are left out.

    So are offloads that the device cannot change: a macvlan always has its transmit offloads, as its lower link does
    their work.
    """
    device = IoctlEthtool(name)
    try:
        features = device.get_features()
        for feature, value in wanted.items():
            if feature in features and features.is_available(feature):
                features[feature] = value
        try:
            device.set_features(features)
        except NotSupportedError as failure:
            # Without words it is no error of the kernel's: the call says that not every wish came true.
            if failure.args:
                raise
    finally:
        device.close()


def traffic(name: str) -> LinkTraffic | None:
    """Return what a device has sent and received; a frame that is cut later on is one. None: there is no such link."""
    with IPRoute() as route:
        found = route.link_lookup(ifname=name)
        if not found:
            return None
        counted = route.link("get", index=found[0])[0].get_attr("IFLA_STATS64")
    return LinkTraffic(**{key: int(counted[key]) for key in LinkTraffic.model_fields})


def has_feature(name: str, feature: str) -> bool:
    """Return whether an offload is on; False where this kernel or device does not have it."""
    device = IoctlEthtool(name)
    try:
        features = device.get_features()
        return feature in features and bool(features[feature])
    finally:
        device.close()


def veth_pair(name: str) -> tuple[int, int] | None:
    """Return the indices of a veth and of its other end, in whatever namespace; None for another kind of link.

    Raises:
        FileNotFoundError: there is no such link.
    """
    with IPRoute() as route:
        return _pair(next(iter(route.get_links(_index(route, name)))))


def other_end(pair: tuple[int, int]) -> str | None:
    """Return the name of a veth's other end from what `veth_pair` gave; None: it is not in this namespace."""
    with IPRoute() as route:
        found = (link for link in route.get_links() if _pair(link) == (pair[1], pair[0]))
        return next((str(link.get_attr("IFLA_IFNAME")) for link in found), None)


def counters(name: str) -> LinkCounters | None:
    """Read a link's counters; None when there is no such link."""
    return all_counters().get(name)


def all_counters() -> dict[str, LinkCounters]:
    """Read the counters of all links of this namespace, by name."""
    return {
        name: LinkCounters(
            # Not the operational state: the kernel brings that up to date up to a second later.
            up=link.is_up and link.has_carrier,
            **{key: getattr(link, key) for key in LinkCounters.model_fields if key != "up"},
        )
        for name, link in read_links().items()
    }


def _pair(link: Any) -> tuple[int, int] | None:
    info = link.get_attr("IFLA_LINKINFO")
    if info is None or info.get_attr("IFLA_INFO_KIND") != "veth":
        return None
    return int(link["index"]), int(link.get_attr("IFLA_LINK"))


def _index(route: IPRoute, name: str) -> int:
    found = route.link_lookup(ifname=name)
    if not found:
        raise FileNotFoundError(f"no link {name} in this network namespace")
    return int(found[0])


def _exists(name: str) -> bool:
    with IPRoute() as route:
        return bool(route.link_lookup(ifname=name))


def add_queues(names: tuple[str, ...], frames: int = 1000) -> None:
    """Give links a queue (pfifo) of this many frames, for those that the other end has no room for.

    Raises:
        NetlinkError: the kernel has none.
    """
    with IPRoute() as route:
        for name in names:
            route.tc("add", "pfifo", route.link_lookup(ifname=name)[0], handle="1:", limit=frames)
