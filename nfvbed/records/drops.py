"""The meanings of drop counters: one sentence for each, by the names that its source gives them.

A counter says why frames were dropped only where its source counts that one reason with it. One that counts several is
said to do so, and one that is not in the tables is named as it is, its cause unknown: neither is taken for a full ring.

Sources of the names, with their versions: `tests/unit/drops_recorded/`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Literal

Side = Literal["rx", "tx", ""]


class Cause(StrEnum):
    """Why frames were dropped."""

    MTU = "mtu"
    """They are longer than a port takes."""
    QOS = "qos"
    """A policy, a meter or a rate limit."""
    OFFLOAD = "offload"
    """They leave work to hardware that the port cannot do."""
    RING = "ring"
    """A ring or queue was full: what empties it is too slow."""
    BUFFERS = "buffers"
    """There was no memory for them."""
    LINK = "link"
    """A port was down, or its other side is not open."""
    INVALID = "invalid"
    """They are damaged, too short, or not what the port reads."""
    RULE = "rule"
    """A rule, or the want of one, says so."""
    LOOKUP = "lookup"
    """The slow path did not answer for them."""
    TUNNEL = "tunnel"
    """They could not be put into a tunnel, or taken out of it."""
    SEVERAL = "several"
    """The counter counts several causes, and does not say which."""
    UNKNOWN = "unknown"
    """The counter is not known here."""


class CounterSource(StrEnum):
    """The source of a counter: the same name has other meanings elsewhere. A data plane's sources are in its room."""

    OVS = "open-vswitch"
    LINUX = "linux"
    DPDK = "dpdk"
    AF_XDP = "dpdk-af-xdp"
    """DPDK's driver over AF_XDP sockets: it counts what the kernel's socket dropped."""
    FORWARDER = "nfvbed-forwarder"
    GATEWAY = "nfvbed-gateway"
    GENERATOR = "nfvgen"


@dataclass(frozen=True)
class DropCounter:
    """The meaning of one counter."""

    cause: Cause
    says: str
    """A sentence's middle: "the port dropped frames ..."."""
    side: Side = ""
    """Direction in which the frames passed the port; empty: both, or inside the switch."""


def rx(cause: Cause, says: str) -> DropCounter:
    """Return the counter of frames that came to a port."""
    return DropCounter(cause, says, "rx")


def tx(cause: Cause, says: str) -> DropCounter:
    """Return the counter of frames that were to leave by a port."""
    return DropCounter(cause, says, "tx")


_TOO_LONG_OUT: Final = "they are longer than the MTU of the port that they were to leave by"
RING_OUT: Final = "the ring or queue that they were to leave by was full: the reader at its other side is too slow"
RING_IN: Final = "the queue that they came into was full: the thread that polls it is too slow"
DAMAGED: Final = "they were damaged, or cut off"
SEVERAL: Final = "the counter does not say why"
_LENGTH: Final = "their length is not what the NIC takes: longer than its MTU, or another than their header says"

_OVS_PORTS: Final = {
    "ovs_tx_failure_drops": tx(Cause.RING, RING_OUT),
    "ovs_tx_mtu_exceeded_drops": tx(Cause.MTU, _TOO_LONG_OUT),
    "ovs_tx_qos_drops": tx(Cause.QOS, "the port's egress policy (its QoS) did not let them pass"),
    "ovs_rx_qos_drops": rx(Cause.QOS, "the port's ingress policy (ingress_policing_rate) did not let them pass"),
    "ovs_tx_invalid_hwol_drops": tx(
        Cause.OFFLOAD, "they leave a checksum or segmentation to hardware in a way that the port cannot do"
    ),
    "rx_dropped": rx(Cause.SEVERAL, f"the port dropped what came to it, and {SEVERAL} (no buffer, or its policy)"),
    "tx_dropped": tx(
        Cause.SEVERAL, f"{SEVERAL}; a port of DPDK that gives no reason is down, or its other side is not open"
    ),
    "rx_errors": rx(Cause.SEVERAL, f"they came with errors (length, checksum), and {SEVERAL}"),
    "tx_errors": tx(Cause.SEVERAL, f"they left with errors, and {SEVERAL}"),
}
"""Counters of a port (`lib/netdev-dpdk.c`: SW_CSTATS; OpenFlow's port counters). A policy's drops are in rx_dropped
too.
"""

_OVS_DATAPATH: Final = {
    "drop_action_of_pipeline": DropCounter(Cause.RULE, "a rule drops them, or no rule matches them"),
    "drop_action_bridge_not_found": DropCounter(Cause.RULE, "a rule names a bridge that is not there"),
    "drop_action_recursion_too_deep": DropCounter(
        Cause.RULE, "their rules lead through too many tables or patch ports"
    ),
    "drop_action_too_many_resubmit": DropCounter(Cause.RULE, "their rules resubmit too often"),
    "drop_action_stack_too_deep": DropCounter(Cause.RULE, "their rules push too much onto the stack"),
    "drop_action_no_recirculation_context": DropCounter(Cause.RULE, "what they were recirculated for is gone"),
    "drop_action_recirculation_conflict": DropCounter(Cause.RULE, "their rules recirculate in a way that conflicts"),
    "drop_action_too_many_mpls_labels": DropCounter(Cause.RULE, "their rules push too many MPLS labels"),
    "drop_action_invalid_tunnel_metadata": DropCounter(Cause.TUNNEL, "their tunnel's options are not valid"),
    "drop_action_unsupported_packet_type": DropCounter(Cause.RULE, "a rule is not for packets of their type"),
    "drop_action_congestion": DropCounter(Cause.TUNNEL, "a tunnel marks congestion that the packet cannot carry (ECN)"),
    "drop_action_forwarding_disabled": DropCounter(
        Cause.RULE, "a port of their way does not forward (its OpenFlow or spanning-tree state)"
    ),
    "drop_action_tunnel_routing_failed": DropCounter(Cause.TUNNEL, "there is no route to the tunnel's other end"),
    "drop_action_tunnel_output_no_ethernet": DropCounter(Cause.TUNNEL, "the tunnel's device has no Ethernet address"),
    "drop_action_tunnel_neigh_cache_miss": DropCounter(
        Cause.TUNNEL, "the tunnel's next hop has not answered ARP or ND"
    ),
    "drop_action_tunnel_header_build_failed": DropCounter(Cause.TUNNEL, "the tunnel's header could not be built"),
    "datapath_drop_meter": DropCounter(Cause.QOS, "a meter's rate was exceeded"),
    "datapath_drop_upcall_error": DropCounter(Cause.LOOKUP, "the slow path did not answer for their flow"),
    "datapath_drop_lock_error": DropCounter(Cause.LOOKUP, "the slow path was locked: its rules were being changed"),
    "datapath_drop_rx_invalid_packet": DropCounter(
        Cause.INVALID, "the datapath cannot read them: too short or damaged"
    ),
    "datapath_drop_invalid_port": DropCounter(Cause.RULE, "they were sent to a port that is not there"),
    "datapath_drop_invalid_bond": DropCounter(Cause.RULE, "they were sent to a bond that is not there"),
    "datapath_drop_invalid_tnl_port": DropCounter(Cause.TUNNEL, "they came for a tunnel port that is not there"),
    "datapath_drop_tunnel_push_error": DropCounter(Cause.TUNNEL, "they could not be put into a tunnel"),
    "datapath_drop_tunnel_pop_error": DropCounter(Cause.TUNNEL, "they could not be taken out of a tunnel"),
    "datapath_drop_nsh_decap_error": DropCounter(Cause.INVALID, "their NSH header could not be taken off"),
    "datapath_drop_recirc_error": DropCounter(Cause.RULE, "they were recirculated too often"),
    "datapath_drop_sample_error": DropCounter(Cause.RULE, "a rule samples, and these were not to go on"),
    "datapath_drop_userspace_action_error": DropCounter(
        Cause.LOOKUP, "the controller's or the slow path's action failed"
    ),
    "datapath_drop_hw_miss_recover": DropCounter(Cause.OFFLOAD, "what the NIC had done to them could not be recovered"),
    "datapath_drop_hw_post_process": DropCounter(Cause.OFFLOAD, "what the NIC had done to them could not be recovered"),
    "datapath_drop_hw_post_process_consumed": DropCounter(Cause.OFFLOAD, "the NIC's offload has taken them"),
    "netdev_push_header_drops": DropCounter(
        Cause.OFFLOAD, "they leave work to hardware that a tunnel's port cannot do"
    ),
    "netdev_send_prepare_drops": tx(Cause.OFFLOAD, "they leave work to hardware that the port cannot do"),
    "netdev_soft_seg_drops": tx(Cause.OFFLOAD, "their segmentation in software failed"),
    "failed_upcalls": DropCounter(Cause.LOOKUP, "the slow path did not answer for their flow (upcalls that failed)"),
    "lost_upcalls": DropCounter(Cause.LOOKUP, "the slow path's queue was full (upcalls that the kernel lost)"),
}
"""Coverage counters of a datapath of Open vSwitch; the last two are a thread's and the kernel's own."""

_NICS: Final = {
    "rx_missed_errors": rx(Cause.RING, RING_IN),
    "rx_mbuf_allocation_errors": rx(Cause.BUFFERS, "there was no free buffer for them"),
    "rx_oversize_errors": rx(Cause.MTU, "they are longer than the NIC takes"),
    "rx_jabber_errors": rx(Cause.MTU, "they are longer than the NIC takes, and damaged"),
    "rx_length_errors": rx(Cause.SEVERAL, _LENGTH),
    "rx_len_errors": rx(Cause.SEVERAL, _LENGTH),
    "rx_management_dropped": rx(Cause.SEVERAL, f"they are management frames, and {SEVERAL}"),
    "rx_fcoe_dropped": rx(Cause.SEVERAL, f"they are of FCoE, and {SEVERAL}"),
    "rx_fcoe_crc_errors": rx(Cause.INVALID, "they are of FCoE, and their checksum is wrong"),
    "rx_fcoe_mbuf_allocation_errors": rx(Cause.BUFFERS, "there was no free buffer for them"),
    "rx_undersized_errors": rx(Cause.INVALID, "they are shorter than a frame"),
    "rx_undersize_errors": rx(Cause.INVALID, "they are shorter than a frame"),
    "rx_fragmented_errors": rx(Cause.INVALID, DAMAGED),
    "rx_fragment_errors": rx(Cause.INVALID, DAMAGED),
    "rx_crc_errors": rx(Cause.INVALID, "their checksum (FCS) is wrong: cable or transceiver"),
    "rx_frame_errors": rx(Cause.INVALID, DAMAGED),
    "rx_align_errors": rx(Cause.INVALID, DAMAGED),
    "rx_symbol_errors": rx(Cause.INVALID, DAMAGED),
    "rx_illegal_byte_errors": rx(Cause.INVALID, DAMAGED),
    "rx_carrier_ext_errors": rx(Cause.INVALID, DAMAGED),
    "rx_mac_short_dropped": rx(Cause.INVALID, "they are shorter than a frame"),
    "rx_mac_short_pkt_dropped": rx(Cause.INVALID, "they are shorter than a frame"),
    "rx_mac_short_packet_dropped": rx(Cause.INVALID, "they are shorter than a frame"),
    "rx_over_errors": rx(Cause.RING, RING_IN),
    "rx_fifo_errors": rx(Cause.RING, RING_IN),
    "tx_fifo_errors": tx(Cause.RING, RING_OUT),
    "tx_aborted_errors": tx(Cause.LINK, "the NIC gave them up"),
    "tx_carrier_errors": tx(Cause.LINK, "the port had no carrier"),
    "tx_heartbeat_errors": tx(Cause.LINK, "the transceiver did not answer"),
    "tx_window_errors": tx(Cause.LINK, "they collided too late"),
    "tx_link_down_dropped": tx(Cause.LINK, "the port had no link"),
    "tx_tso_errors": tx(Cause.OFFLOAD, "the NIC could not segment them"),
}
"""Counters of NICs, by the names of DPDK's xstats, of Open vSwitch's interfaces and of rtnl_link_stats64 alike."""

LINUX: Final = {
    "rx_dropped": rx(
        Cause.SEVERAL,
        f"the kernel dropped what came to the link, and {SEVERAL} (its backlog was full, they are longer"
        " than its MTU, or nothing takes them)",
    ),
    "tx_dropped": tx(
        Cause.SEVERAL,
        f"the link did not pass them on, and {SEVERAL} (its other side had no room or is down, or they"
        " are longer than its MTU)",
    ),
    "rx_errors": rx(Cause.SEVERAL, f"they came with errors, and {SEVERAL}"),
    "tx_errors": tx(Cause.SEVERAL, f"they left with errors, and {SEVERAL}"),
    "rx_otherhost_dropped": rx(Cause.RULE, "they are to another station"),
    "rx_nohandler": rx(Cause.RULE, "the link is not active: its bond or team does not use it"),
}

_DPDK: Final = {
    "imissed": rx(Cause.RING, RING_IN),
    "ierrors": rx(Cause.SEVERAL, f"they came with errors, and {SEVERAL}"),
    "oerrors": tx(Cause.SEVERAL, f"the driver did not send them, and {SEVERAL}"),
    "rx_nombuf": rx(Cause.BUFFERS, "there was no free buffer for them"),
    # Of an image's agent, which adds imissed and rx_nombuf up; its kernel's are the kernel's.
    "rx_dropped": rx(Cause.SEVERAL, f"the queue was full or there was no free buffer, and {SEVERAL}"),
    "tx_dropped": tx(Cause.RING, RING_OUT),
    "rx_errors": rx(Cause.SEVERAL, f"they came with errors, and {SEVERAL}"),
    "tx_errors": tx(Cause.SEVERAL, f"the driver did not send them, and {SEVERAL}"),
}
"""rte_eth_stats, as DPDK's telemetry gives them."""

_SOCKET_DROPPED: Final = (
    f"the kernel's AF_XDP socket dropped them, and {SEVERAL} (no free buffer, or they are longer than its buffers)"
)
_AF_XDP: Final = _DPDK | {
    "imissed": rx(Cause.SEVERAL, _SOCKET_DROPPED),
}

_FORWARDER: Final = {
    "rx_dropped": rx(Cause.RING, "the ring of its packet socket was full: it was too slow"),
    "tx_dropped": tx(
        Cause.SEVERAL,
        f"the other port did not take them, and {SEVERAL} (its queue was full, or they are longer than its MTU)",
    ),
}

_GATEWAY: Final = {
    "foreign": rx(Cause.RULE, "they are to another station"),
    "not_ipv4": rx(Cause.INVALID, "they are neither IPv4 nor ARP"),
    "not_gtpu": rx(Cause.INVALID, "they are no user packets of GTP-U to the gateway"),
    "extension": rx(Cause.INVALID, "they have extension headers of GTP-U, which the gateway does not read"),
    "unknown_teid": rx(Cause.RULE, "no bearer has their tunnel's number"),
    "unknown_ue": rx(Cause.RULE, "no bearer has their destination"),
    "wrong_source": rx(Cause.RULE, "their source is not their bearer's UE"),
    "ttl_expired": rx(Cause.RULE, "their TTL has expired"),
    "malformed": rx(Cause.INVALID, "their lengths or checksums cannot be"),
    "fragments": rx(Cause.INVALID, "they are fragments of tunnel packets, which are not put together"),
    "too_big": rx(Cause.MTU, "they are longer than the other port's MTU, the tunnel's headers counted"),
    "no_neighbour": rx(Cause.LINK, "the next hop's address was not known yet"),
    "not_sent": rx(Cause.RING, "the other port did not take them: its ring was full"),
}
"""`native/gateway/gateway_shared.h`, by the reason why a frame that came in did not go on."""

_GENERATOR: Final = {
    "corrupted": rx(Cause.INVALID, "they arrived with other contents than they were sent with"),
    "refused": tx(Cause.RING, "the port did not take them at their time: the reader at its other side is too slow"),
    "late": tx(Cause.SEVERAL, "the generator was kept from its core and did not send them"),
}

TABLES: Final[Mapping[str, Mapping[str, DropCounter]]] = {
    CounterSource.OVS: _OVS_PORTS | _OVS_DATAPATH | {k: v for k, v in _NICS.items() if k not in _OVS_PORTS},
    CounterSource.LINUX: LINUX | {k: v for k, v in _NICS.items() if k not in LINUX},
    CounterSource.DPDK: _DPDK | _NICS,
    CounterSource.AF_XDP: _AF_XDP,
    CounterSource.FORWARDER: _FORWARDER,
    CounterSource.GATEWAY: _GATEWAY,
    CounterSource.GENERATOR: _GENERATOR,
}
"""By who counts; without what data planes count by names of their own."""

_OF_A_QUEUE: Final = re.compile(r"xsk_queue_\d+_(rx_dropped|rx_invalid_descs|tx_invalid_descs)")
"""Counters of each queue of an AF_XDP port of Open vSwitch (`lib/netdev-afxdp.c`: XDP_CSTATS)."""
_OF_A_SOCKET: Final = {
    "rx_dropped": rx(Cause.SEVERAL, _SOCKET_DROPPED),
    "rx_invalid_descs": rx(Cause.INVALID, "the kernel refused the descriptors of the socket's receive ring"),
    "tx_invalid_descs": tx(Cause.INVALID, "the kernel refused the descriptors of the socket's transmit ring"),
}
_NAMED_LIKE_DROPS: Final = re.compile(r"(^|_)drop(s|ped)?(_|$)|_errors?$|_invalid_descs$|_missed$")


@dataclass(frozen=True)
class CounterTable:
    """The counters to which a data plane gives names of its own."""

    source: str
    counters: Mapping[str, DropCounter]
    mark: str = ""
    """One that a port of it alone has: by that it is told who counted."""


class CounterMeanings:
    """The meanings of the counters of all sources.

    Args:
        more: tables of data planes, beside those that are here.
    """

    def __init__(self, more: Iterable[CounterTable] = ()) -> None:
        tables = tuple(more)
        self.tables: Mapping[str, Mapping[str, DropCounter]] = {
            **TABLES,
            **{one.source: one.counters for one in tables},
        }
        self._marks = {"imissed": str(CounterSource.DPDK), **{one.mark: one.source for one in tables if one.mark}}

    def of(self, name: str, source: str | None = None) -> DropCounter:
        """Return what a counter means; its cause is unknown where the tables do not have it.

        Args:
            name: as its source calls it.
            source: who counts; None: not known. Then a name that sources use for different things says nothing certain.
        """
        of_queue = _OF_A_QUEUE.fullmatch(name)
        if of_queue and source in (CounterSource.OVS, None):
            return _OF_A_SOCKET[of_queue[1]]
        found = [table[name] for of, table in self.tables.items() if name in table and source in (of, None)]
        if not found:
            says = f"the cause is unknown: nfvbed does not know the counter {name}"
            return DropCounter(Cause.UNKNOWN, says, _side(name))
        if len({counter.cause for counter in found}) == 1:
            return found[0]
        return DropCounter(Cause.SEVERAL, SEVERAL, found[0].side)

    def is_drop(self, name: str) -> bool:
        """Return whether a counter is of frames that were dropped: it is in the tables, or named like those."""
        return any(name in table for table in self.tables.values()) or bool(_NAMED_LIKE_DROPS.search(name))

    def source_of(self, counts: Mapping[str, object]) -> str:
        """Tell which source counted, from the names of a port's counters: those stored with trials do not say it."""
        if any(name.startswith(("ovs_", "xsk_queue_")) for name in counts):
            return CounterSource.OVS
        return next((source for name, source in self._marks.items() if name in counts), CounterSource.LINUX)


DEFAULT_MEANINGS: Final = CounterMeanings()
"""Without those of data planes."""


def with_remainder(total: str, counted: Mapping[str, int], reasons: Mapping[str, int]) -> dict[str, int]:
    """Return reasons, and of the total what none of them explains: each frame is counted once.

    Args:
        total: name of the counter of all of them, `tx_dropped`.
        counted: has it.
        reasons: those that are in it.
    """
    return {total: max(0, counted.get(total, 0) - sum(reasons.values())), **reasons}


def _side(name: str) -> Side:
    return "rx" if re.search(r"(^|_)rx_", name) else "tx" if re.search(r"(^|_)tx_", name) else ""
