"""Configures VPP as Neutron wants it: an interface for each port and physical network, joined for each network.

The present state is read from VPP itself each time, by the tags of its interfaces and domains. So after a restart of
agent or VPP, or after a failed call, nothing needs to be remembered.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nfvbed.dataplanes.vpp import calls
from nfvbed.dataplanes.vpp.calls import Api
from nfvbed.dataplanes.vpp.neutron_vpp.names import AgentSettings, Uplink, socket_name

_ALL = 0xFFFFFFFF
_POP_ONE = 3
"""L2_VTR_POP_1: a VLAN's tag is taken off on the way in and put on on the way out."""
PORT, UPLINK = "port:", "uplink:"
"""How tags of interfaces begin: a port's id follows, or the name of a physical network."""


@dataclass(frozen=True)
class Port:
    """A port that is bound to this host."""

    id: str
    network: str
    physical: str | None
    """Physical network of its segment; None: the network is within this host."""
    vlan: int | None = None


@dataclass(frozen=True)
class _JoinedInterfaces:
    """How interfaces are joined now."""

    pairs: frozenset[frozenset[int]]
    domains: Mapping[str, tuple[int, frozenset[int]]]
    """Number and members, by tag: the network's id."""


class Plumbing:
    """The interfaces and bridge domains of one VPP."""

    def __init__(self, api: Api, settings: AgentSettings) -> None:
        self._api = api
        self._settings = settings

    def sync(self, ports: Sequence[Port]) -> frozenset[str]:
        """Make and remove interfaces until VPP has what is wanted; return the ids of removed ports.

        Args:
            ports: all ports that are bound to this host.

        Raises:
            NfvbedError: VPP refuses something, or does not answer; the next call goes on from there.
        """
        found = interfaces(self._api)
        wanted = {one.id: one for one in ports}
        gone = {tag.removeprefix(PORT) for tag in found if tag.startswith(PORT)} - wanted.keys()
        for place, (physical, uplink) in enumerate(self._settings.uplinks.items(), 1):
            if UPLINK + physical not in found:
                found[UPLINK + physical] = self._make_uplink(physical, uplink, place)
        for port in ports:
            if PORT + port.id not in found:
                socket = f"{self._settings.folder}/{socket_name(port.id)}"
                found[PORT + port.id] = self._ready(calls.create_vhost_user(self._api, socket, PORT + port.id))
        self._join(self._networks(ports, found))
        # Last: what is cross-connected to an interface that is gone cannot be taken off it any more.
        for identifier in gone:
            self._api.call("delete_vhost_user_if", sw_if_index=found[PORT + identifier])
        return frozenset(gone)

    def _make_uplink(self, physical: str, uplink: Uplink, place: int) -> int:
        tag, socket = UPLINK + physical, f"{self._settings.folder}/{uplink.address}"
        if uplink.kind == "vhost-user":
            return self._ready(calls.create_vhost_user(self._api, socket, tag))
        if uplink.kind == "interface":
            number = calls.find_interface(self._api, uplink.address)
        elif uplink.kind == "memif":
            number = calls.create_memif(self._api, socket, place, uplink.ring_size)
        else:
            number = calls.open_device(self._api, uplink.address)
        return self._ready(self._tag(number, tag))

    def _tag(self, number: int, tag: str) -> int:
        self._api.call("sw_interface_tag_add_del", is_add=True, sw_if_index=number, tag=tag)
        return number

    def _ready(self, number: int) -> int:
        calls.bring_up(self._api, number)
        return number

    def _networks(self, ports: Iterable[Port], found: dict[str, int]) -> dict[str, frozenset[int]]:
        """Return the interfaces of each network, by its id; that of the physical network is one of them."""
        members: dict[str, set[int]] = {}
        for port in ports:
            own = members.setdefault(port.network, set())
            own.add(found[PORT + port.id])
            if port.physical is not None:
                own.add(self._segment(port, found))
        return {network: frozenset(own) for network, own in members.items()}

    def _segment(self, port: Port, found: dict[str, int]) -> int:
        """Return the interface of a port's segment: the physical network's own, or a VLAN's on it."""
        tag = f"{UPLINK}{port.physical}"
        if port.vlan is None:
            return found[tag]
        of_vlan = f"{tag}.{port.vlan}"
        if of_vlan not in found:
            made = self._api.call("create_vlan_subif", sw_if_index=found[tag], vlan_id=port.vlan)
            found[of_vlan] = number = self._tag(int(made.sw_if_index), of_vlan)
            self._api.call("l2_interface_vlan_tag_rewrite", sw_if_index=number, vtr_op=_POP_ONE)
            calls.bring_up(self._api, number)
        return found[of_vlan]

    def _join(self, networks: Mapping[str, frozenset[int]]) -> None:
        """Separate what is joined differently from what is wanted, and join what is not yet."""
        pairs = {
            members
            for members in networks.values()
            if self._settings.forwarding == "l2-cross-connect" and len(members) == 2
        }
        domains = {network: members for network, members in networks.items() if members not in pairs}
        now = self._joined()
        for pair in now.pairs - pairs:
            calls.cross_connect(self._api, *sorted(pair), enable=False)
        for network, (number, members) in now.domains.items():
            for member in members - domains.get(network, frozenset()):
                calls.join(self._api, number, member, enable=False)
            if network not in domains:
                self._remove_domain(number)
        for pair in pairs - now.pairs:
            calls.cross_connect(self._api, *sorted(pair))
        taken = {number for number, _ in now.domains.values()}
        for network, members in domains.items():
            number, there = now.domains.get(network, (0, frozenset[int]()))
            if not number:
                number = next(free for free in range(1, len(taken) + 2) if free not in taken)
                taken.add(number)
                self._make_domain(number, network)
            for member in members - there:
                calls.join(self._api, number, member)

    def _make_domain(self, number: int, network: str) -> None:
        calls.make_domain(self._api, number, (), network)
        limit = self._settings.mac_table_size
        if limit is not None:
            self._api.call("bridge_domain_set_learn_limit", bd_id=number, learn_limit=limit)

    def _remove_domain(self, number: int) -> None:
        self._api.call("bridge_domain_add_del_v2", bd_id=number, is_add=False)

    def _joined(self) -> _JoinedInterfaces:
        connects = {(int(one.rx_sw_if_index), int(one.tx_sw_if_index)) for one in self._dump("l2_xconnect_dump")}
        domains = {
            str(one.bd_tag): (int(one.bd_id), frozenset(int(member.sw_if_index) for member in one.sw_if_details))
            for one in self._dump("bridge_domain_dump", bd_id=_ALL)
            if str(one.bd_tag)
        }
        return _JoinedInterfaces(frozenset(frozenset(pair) for pair in connects), domains)

    def _dump(self, message: str, **arguments: Any) -> list[Any]:
        return list(self._api.call(message, **arguments))


def interfaces(api: Api, *, linked: bool = False) -> dict[str, int]:
    """Return VPP's interfaces by tag: `port:ID` for a port of Neutron's, `uplink:NAME` for a physical network.

    Args:
        linked: whether those without another side are left out.
    """
    wanted = calls.LINK_UP if linked else 0
    shown = [one for one in api.call("sw_interface_dump") if int(one.flags) & wanted == wanted]
    found = {str(one.tag): int(one.sw_if_index) for one in shown}
    return {tag: number for tag, number in found.items() if tag.startswith((PORT, UPLINK))}
