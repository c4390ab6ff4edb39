"""The kernel's Open vSwitch datapath over generic netlink (linux/openvswitch.h), in the caller's namespace."""

from dataclasses import dataclass
from typing import Any

from pyroute2.netlink import NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, genlmsg, nla
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.generic import GenericNetlinkSocket

FAMILY = "ovs_datapath"
_VERSION = 2
_NEW, _DELETE, _GET = 1, 2, 3


_STATS = (("n_hit", "Q"), ("n_missed", "Q"), ("n_lost", "Q"), ("n_flows", "Q"))
"""`struct ovs_dp_stats`."""
_MEGAFLOW_STATS = (("n_mask_hit", "Q"), ("n_masks", "I"), ("pad", "I"), ("n_cache_hit", "Q"), ("pad1", "Q"))
"""`struct ovs_dp_megaflow_stats`."""
_ATTRIBUTES = (
    ("OVS_DP_ATTR_UNSPEC", "none"),
    ("OVS_DP_ATTR_NAME", "asciiz"),
    ("OVS_DP_ATTR_UPCALL_PID", "uint32"),
    ("OVS_DP_ATTR_STATS", "stats"),
    ("OVS_DP_ATTR_MEGAFLOW_STATS", "megaflow_stats"),
)
"""Attributes of a datapath, as far as they are read or written here; the place is the attribute's number."""

_Datapath = type(
    "_Datapath",
    (genlmsg,),
    {
        # struct ovs_header
        "fields": (*genlmsg.fields, ("dp_ifindex", "i")),
        "nla_map": _ATTRIBUTES,
        "stats": type("stats", (nla,), {"fields": _STATS}),
        "megaflow_stats": type("megaflow_stats", (nla,), {"fields": _MEGAFLOW_STATS}),
    },
)


@dataclass(frozen=True)
class DatapathCounters:
    """A datapath's counters, cumulative but for the last two."""

    hit: int
    """Frames that a cached flow matched."""
    missed: int
    """Frames that went up to ovs-vswitchd."""
    lost: int
    """Missed frames that were lost, as ovs-vswitchd did not take them in time."""
    mask_hit: int
    """Masks that were tried for all frames together."""
    cache_hit: int
    """Frames whose mask the mask cache knew."""
    flows: int
    """Flows that are cached at the time of the reading."""
    masks: int
    """Masks of the flows that are cached at the time of the reading."""


def read_datapath(name: str) -> DatapathCounters | None:
    """Read a datapath's counters; None when there is none of that name in this namespace.

    Raises:
        OSError: the kernel has no Open vSwitch.
    """
    with _Connection() as connection:
        for message in connection.ask(_GET, NLM_F_REQUEST | NLM_F_DUMP, {}):
            if message.get_attr("OVS_DP_ATTR_NAME") == name:
                return _counters(message)
    return None


def try_datapath(name: str) -> None:
    """Make a datapath and remove it. Asking for it makes the kernel load its module, where it has one.

    Raises:
        OSError: the kernel has no Open vSwitch, or refuses.
    """
    with _Connection() as connection:
        # The port that frames go up to: 0, none.
        connection.ask(_NEW, NLM_F_REQUEST | NLM_F_ACK, {"OVS_DP_ATTR_NAME": name, "OVS_DP_ATTR_UPCALL_PID": 0})
        connection.ask(_DELETE, NLM_F_REQUEST | NLM_F_ACK, {"OVS_DP_ATTR_NAME": name})


class _Connection:
    """One connection to the kernel's datapaths."""

    def __enter__(self) -> "_Connection":
        self._socket: Any = GenericNetlinkSocket()
        try:
            self._socket.bind(FAMILY, _Datapath)
        except BaseException as failure:
            self._socket.close()
            if isinstance(failure, NetlinkError):
                raise OSError(failure.code, f"the kernel has no {FAMILY}") from failure
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, command: int, flags: int, attributes: dict[str, str | int]) -> tuple[Any, ...]:
        """Send a request and return the answers."""
        message = _Datapath()
        message["cmd"], message["version"] = command, _VERSION
        message["dp_ifindex"] = 0
        message["attrs"] = list(attributes.items())
        try:
            return tuple(self._socket.nlm_request(message, msg_type=self._socket.prid, msg_flags=flags))
        except NetlinkError as failure:
            raise OSError(failure.code, str(failure)) from failure


def _counters(message: Any) -> DatapathCounters:
    stats, mega = message.get_attr("OVS_DP_ATTR_STATS"), message.get_attr("OVS_DP_ATTR_MEGAFLOW_STATS")
    return DatapathCounters(
        hit=stats["n_hit"],
        missed=stats["n_missed"],
        lost=stats["n_lost"],
        mask_hit=mega["n_mask_hit"],
        cache_hit=mega["n_cache_hit"],
        flows=stats["n_flows"],
        masks=mega["n_masks"],
    )
