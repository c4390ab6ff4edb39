"""The settings of virtual functions, made at their physical function over rtnetlink (IFLA_VFINFO_LIST).

The command for them is `ip link set ... vf`.
"""

from abc import ABC, abstractmethod
from typing import Any

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError

from nfvbed.dataplanes.sriov.options import VfSettings
from nfvbed.errors import DeployError, UnsupportedError
from nfvbed.host.ledger.entries import VfSettingsEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.records import Record

_WITH_VFS = 1
"""RTEXT_FILTER_VF: only with it the kernel tells about virtual functions."""
_UNKNOWN = 0xFFFFFFFF
"""What the kernel shows for a setting that the driver does not tell."""


class VfState(Record):
    """A function's settings as the driver shows them; None: it does not tell."""

    mac: str
    vlan: int = 0
    trust: bool | None = None
    spoof_check: bool | None = None
    min_rate_mbps: int = 0
    max_rate_mbps: int = 0


class VfLink(ABC):
    """The virtual functions of one network device."""

    @abstractmethod
    def read(self) -> dict[int, VfState]:
        """Return the settings of all functions, by index."""

    @abstractmethod
    def set(self, index: int, attributes: dict[str, Any]) -> None:
        """Set one setting of a function, with pyroute2's names.

        Raises:
            NetlinkError: the driver refuses.
        """


class NetlinkVfLink(VfLink):
    """The virtual functions of a network device in this network namespace."""

    def __init__(self, interface: str) -> None:
        self._interface = interface

    def read(self) -> dict[int, VfState]:
        """Ask for the link with its functions."""
        with IPRoute() as route:
            link = next(iter(route.link("get", index=self._index(route), ext_mask=_WITH_VFS)))
        listed = link.get_attr("IFLA_VFINFO_LIST")
        infos = listed.get_attrs("IFLA_VF_INFO") if listed is not None else []
        return dict(_state(info) for info in infos)

    def set(self, index: int, attributes: dict[str, Any]) -> None:
        """Set one setting in a request of its own, so that a refusal says which."""
        with IPRoute() as route:
            route.link("set", index=self._index(route), vf={"vf": index, **attributes})

    def _index(self, route: IPRoute) -> int:
        found = route.link_lookup(ifname=self._interface)
        if not found:
            raise FileNotFoundError(f"no link {self._interface} in this network namespace")
        return int(found[0])


def apply(link: VfLink, index: int, wanted: VfSettings, ledger: Ledger | None, interface: str) -> VfState:
    """Apply settings and read them back.

    Args:
        index: number of the virtual function.
        wanted: settings that are None are left alone.
        ledger: records the former settings; None for a function that was made just now, whose settings go with it.
        interface: the physical function's network device, for the ledger and messages.

    Raises:
        UnsupportedError: the driver refuses one, or does not have it.
    """
    before = link.read().get(index)
    where = f"{interface} vf {index}"
    if before is None:
        raise DeployError("the driver does not tell about this virtual function", where=where, fix="see dmesg")
    if ledger is not None:
        ledger.record(VfSettingsEntry(interface=interface, index=index, requests=tuple(requests_back(before))))
    for request in requests(wanted, before):
        try:
            link.set(index, request)
        except NetlinkError as failure:
            raise _refused(where, request, str(failure)) from failure
    now = link.read().get(index)
    for key, value in wanted.model_dump(exclude_none=True).items():
        if now is None or getattr(now, key) != value:
            raise _refused(where, {key: value}, f"afterwards it is {getattr(now, key, 'unknown')}")
    if now is None:
        raise DeployError("the virtual function is gone", where=where, fix="see dmesg")
    return now


def requests(wanted: VfSettings, now: VfState) -> list[dict[str, Any]]:
    """Return the requests that apply settings, one setting each."""
    found: list[dict[str, Any]] = []
    if wanted.mac is not None:
        found.append({"mac": wanted.mac})
    if wanted.vlan is not None:
        found.append({"vlan": wanted.vlan})
    if wanted.trust is not None:
        found.append({"trust": int(wanted.trust)})
    if wanted.spoof_check is not None:
        found.append({"spoofchk": int(wanted.spoof_check)})
    if wanted.min_rate_mbps is not None or wanted.max_rate_mbps is not None:
        low = now.min_rate_mbps if wanted.min_rate_mbps is None else wanted.min_rate_mbps
        high = now.max_rate_mbps if wanted.max_rate_mbps is None else wanted.max_rate_mbps
        found.append({"rate": {"min_tx_rate": low, "max_tx_rate": high}})
    return found


def requests_back(state: VfState) -> list[dict[str, Any]]:
    """Return the requests that restore a function's state; what the driver did not tell is left out."""
    found: list[dict[str, Any]] = [{"mac": state.mac}, {"vlan": state.vlan}]
    found += [{"trust": int(state.trust)}] if state.trust is not None else []
    found += [{"spoofchk": int(state.spoof_check)}] if state.spoof_check is not None else []
    return [*found, {"rate": {"min_tx_rate": state.min_rate_mbps, "max_tx_rate": state.max_rate_mbps}}]


def _state(info: Any) -> tuple[int, VfState]:
    def value(attribute: str, key: str) -> Any:
        found = info.get_attr(attribute)
        return None if found is None else found[key]

    def flag(attribute: str, key: str) -> bool | None:
        found = value(attribute, key)
        return None if found is None or found == _UNKNOWN else bool(found)

    state = VfState(
        mac=value("IFLA_VF_MAC", "mac"),
        vlan=value("IFLA_VF_VLAN", "vlan") or 0,
        trust=flag("IFLA_VF_TRUST", "trust"),
        spoof_check=flag("IFLA_VF_SPOOFCHK", "spoofchk"),
        min_rate_mbps=value("IFLA_VF_RATE", "min_tx_rate") or 0,
        max_rate_mbps=value("IFLA_VF_RATE", "max_tx_rate") or 0,
    )
    return int(value("IFLA_VF_MAC", "vf")), state


def _refused(where: str, request: dict[str, Any], observed: str) -> UnsupportedError:
    named = ", ".join(request)
    return UnsupportedError(
        f"the NIC's driver does not take {named} for a virtual function",
        where=where,
        observed=f"{request}: {observed}",
        fix=f"leave {named} out of the variant's settings, or another NIC",
    )
