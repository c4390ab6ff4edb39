"""What drop counters mean: one sentence for each, by the names that its source gives them.

A counter says why frames were dropped only where its source counts that one reason with it. One that counts several is
said to do so, and one that is not in the tables is named as it is, its cause unknown: neither is taken for a full ring.

Sources of the names, with their versions: `tests/unit/drops_recorded/`.
"""

import re
from collections.abc import Mapping
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
    """A ring or queue was full: whoever empties it is too slow."""
    BUFFERS = "buffers"
    """There was no memory for them."""
    LINK = "link"
    """A port was down, or nobody has opened its other side."""
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
    """Who counts: the same name means different things elsewhere."""

    OVS = "open-vswitch"
    LINUX = "linux"
    DPDK = "dpdk"
    AF_XDP = "dpdk-af-xdp"
    """DPDK's driver over AF_XDP sockets: it counts what the kernel's socket dropped."""
    VPP = "vpp"
    LAGOPUS = "lagopus"
    XDP_SWITCH = "nfvbed-xdp-switch"
    FORWARDER = "nfvbed-forwarder"
    GATEWAY = "nfvbed-gateway"
    GENERATOR = "nfvgen"


@dataclass(frozen=True)
class DropCounter:
    """What one counter means."""

    cause: Cause
    says: str
    """A sentence's middle: "the port dropped frames ..."."""
    side: Side = ""
    """Direction in which the frames passed the port; empty: both, or inside the switch."""


def _rx(cause: Cause, says: str) -> DropCounter:
    return DropCounter(cause, says, "rx")


def _tx(cause: Cause, says: str) -> DropCounter:
    return DropCounter(cause, says, "tx")


_TOO_LONG_OUT: Final = "they are longer than the MTU of the port that they were to leave by"
_RING_OUT: Final = "the ring or queue that they were to leave by was full: whoever is at its other side is too slow"
_RING_IN: Final = "the queue that they came into was full: whoever polls it is too slow"
_DAMAGED: Final = "they were damaged, or cut off"
_SEVERAL: Final = "the counter does not say why"
_LENGTH: Final = "their length is not what the NIC takes: longer than its MTU, or another than their header says"

_OVS_PORTS: Final = {
    "ovs_tx_failure_drops": _tx(Cause.RING, _RING_OUT),
    "ovs_tx_mtu_exceeded_drops": _tx(Cause.MTU, _TOO_LONG_OUT),
    "ovs_tx_qos_drops": _tx(Cause.QOS, "the port's egress policy (its QoS) did not let them pass"),
    "ovs_rx_qos_drops": _rx(Cause.QOS, "the port's ingress policy (ingress_policing_rate) did not let them pass"),
    "ovs_tx_invalid_hwol_drops": _tx(
        Cause.OFFLOAD, "they leave a checksum or segmentation to hardware in a way that the port cannot do"
    ),
    "rx_dropped": _rx(Cause.SEVERAL, f"the port dropped what came to it, and {_SEVERAL} (no buffer, or its policy)"),
    "tx_dropped": _tx(
        Cause.SEVERAL, f"{_SEVERAL}; a port of DPDK that gives no reason is down, or nobody has opened its other side"
    ),
    "rx_errors": _rx(Cause.SEVERAL, f"they came with errors (length, checksum), and {_SEVERAL}"),
    "tx_errors": _tx(Cause.SEVERAL, f"they left with errors, and {_SEVERAL}"),
}
"""Of a port (`lib/netdev-dpdk.c`: SW_CSTATS; OpenFlow's port counters). A policy's drops are in rx_dropped too."""

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
    "netdev_send_prepare_drops": _tx(Cause.OFFLOAD, "they leave work to hardware that the port cannot do"),
    "netdev_soft_seg_drops": _tx(Cause.OFFLOAD, "their segmentation in software failed"),
    "failed_upcalls": DropCounter(Cause.LOOKUP, "the slow path did not answer for their flow (upcalls that failed)"),
    "lost_upcalls": DropCounter(Cause.LOOKUP, "the slow path's queue was full (upcalls that the kernel lost)"),
}
"""Of a datapath: coverage counters of Open vSwitch; the last two are a thread's and the kernel's own."""

_NICS: Final = {
    "rx_missed_errors": _rx(Cause.RING, _RING_IN),
    "rx_mbuf_allocation_errors": _rx(Cause.BUFFERS, "there was no free buffer for them"),
    "rx_oversize_errors": _rx(Cause.MTU, "they are longer than the NIC takes"),
    "rx_jabber_errors": _rx(Cause.MTU, "they are longer than the NIC takes, and damaged"),
    "rx_length_errors": _rx(Cause.SEVERAL, _LENGTH),
    "rx_len_errors": _rx(Cause.SEVERAL, _LENGTH),
    "rx_management_dropped": _rx(Cause.SEVERAL, f"they are management frames, and {_SEVERAL}"),
    "rx_fcoe_dropped": _rx(Cause.SEVERAL, f"they are of FCoE, and {_SEVERAL}"),
    "rx_fcoe_crc_errors": _rx(Cause.INVALID, "they are of FCoE, and their checksum is wrong"),
    "rx_fcoe_mbuf_allocation_errors": _rx(Cause.BUFFERS, "there was no free buffer for them"),
    "rx_undersized_errors": _rx(Cause.INVALID, "they are shorter than a frame"),
    "rx_undersize_errors": _rx(Cause.INVALID, "they are shorter than a frame"),
    "rx_fragmented_errors": _rx(Cause.INVALID, _DAMAGED),
    "rx_fragment_errors": _rx(Cause.INVALID, _DAMAGED),
    "rx_crc_errors": _rx(Cause.INVALID, "their checksum (FCS) is wrong: cable or transceiver"),
    "rx_frame_errors": _rx(Cause.INVALID, _DAMAGED),
    "rx_align_errors": _rx(Cause.INVALID, _DAMAGED),
    "rx_symbol_errors": _rx(Cause.INVALID, _DAMAGED),
    "rx_illegal_byte_errors": _rx(Cause.INVALID, _DAMAGED),
    "rx_carrier_ext_errors": _rx(Cause.INVALID, _DAMAGED),
    "rx_mac_short_dropped": _rx(Cause.INVALID, "they are shorter than a frame"),
    "rx_mac_short_pkt_dropped": _rx(Cause.INVALID, "they are shorter than a frame"),
    "rx_mac_short_packet_dropped": _rx(Cause.INVALID, "they are shorter than a frame"),
    "rx_over_errors": _rx(Cause.RING, _RING_IN),
    "rx_fifo_errors": _rx(Cause.RING, _RING_IN),
    "tx_fifo_errors": _tx(Cause.RING, _RING_OUT),
    "tx_aborted_errors": _tx(Cause.LINK, "the NIC gave them up"),
    "tx_carrier_errors": _tx(Cause.LINK, "the port had no carrier"),
    "tx_heartbeat_errors": _tx(Cause.LINK, "the transceiver did not answer"),
    "tx_window_errors": _tx(Cause.LINK, "they collided too late"),
    "tx_link_down_dropped": _tx(Cause.LINK, "the port had no link"),
    "tx_tso_errors": _tx(Cause.OFFLOAD, "the NIC could not segment them"),
}
"""Of NICs, by the names of DPDK's xstats, of Open vSwitch's interfaces and of rtnl_link_stats64 alike."""

_LINUX: Final = {
    "rx_dropped": _rx(
        Cause.SEVERAL,
        f"the kernel dropped what came to the link, and {_SEVERAL} (its backlog was full, they are longer"
        " than its MTU, or nobody takes them)",
    ),
    "tx_dropped": _tx(
        Cause.SEVERAL,
        f"the link did not pass them on, and {_SEVERAL} (its other side had no room or is down, or they"
        " are longer than its MTU)",
    ),
    "rx_errors": _rx(Cause.SEVERAL, f"they came with errors, and {_SEVERAL}"),
    "tx_errors": _tx(Cause.SEVERAL, f"they left with errors, and {_SEVERAL}"),
    "rx_otherhost_dropped": _rx(Cause.RULE, "they are to another station"),
    "rx_nohandler": _rx(Cause.RULE, "the link is not active: its bond or team does not use it"),
}

_DPDK: Final = {
    "imissed": _rx(Cause.RING, _RING_IN),
    "ierrors": _rx(Cause.SEVERAL, f"they came with errors, and {_SEVERAL}"),
    "oerrors": _tx(Cause.SEVERAL, f"the driver did not send them, and {_SEVERAL}"),
    "rx_nombuf": _rx(Cause.BUFFERS, "there was no free buffer for them"),
    # Of an image's agent, which adds imissed and rx_nombuf up; its kernel's are the kernel's.
    "rx_dropped": _rx(Cause.SEVERAL, f"the queue was full or there was no free buffer, and {_SEVERAL}"),
    "tx_dropped": _tx(Cause.RING, _RING_OUT),
    "rx_errors": _rx(Cause.SEVERAL, f"they came with errors, and {_SEVERAL}"),
    "tx_errors": _tx(Cause.SEVERAL, f"the driver did not send them, and {_SEVERAL}"),
}
"""rte_eth_stats, as DPDK's telemetry gives them."""

_SOCKET_DROPPED: Final = (
    f"the kernel's AF_XDP socket dropped them, and {_SEVERAL} (no free buffer, or they are longer than its buffers)"
)
_AF_XDP: Final = _DPDK | {
    "imissed": _rx(Cause.SEVERAL, _SOCKET_DROPPED),
}

_VPP: Final = {
    "drops": DropCounter(Cause.SEVERAL, f"VPP's graph dropped them, and {_SEVERAL}"),
    "error-drop": DropCounter(Cause.SEVERAL, f"VPP's graph dropped them, and {_SEVERAL}"),
    "punt": DropCounter(Cause.RULE, "they were handed to the host"),
    "rx_miss": _rx(Cause.RING, _RING_IN),
    "rx_error": _rx(Cause.SEVERAL, f"they came with errors, and {_SEVERAL}"),
    "rx_no_buf": _rx(Cause.BUFFERS, "there was no free buffer for them"),
    "tx_error": _tx(Cause.SEVERAL, f"the interface did not send them, and {_SEVERAL}"),
}
"""Of interfaces (`/if/...` of the statistics segment), and of the node where the graph's drops end."""

VPP_ERRORS: Final = {
    "interface is down": _tx(Cause.LINK, "the interface that they were to leave by was down"),
    "interface is deleted": _tx(Cause.LINK, "the interface that they were to leave by is gone"),
    "no tx queue available": _tx(Cause.LINK, "the interface that they were to leave by has no transmit queue"),
    "vhost vring not ready": _tx(Cause.LINK, "nobody has opened the other side of the vhost-user port"),
    "vhost interface is down": _tx(Cause.LINK, "the vhost-user port was down"),
    "vhost interface not ready or down": _rx(Cause.LINK, "the vhost-user port was down, or its other side not there"),
    "tx packet drops (no available descriptors)": _tx(Cause.RING, _RING_OUT),
    "tx packet drops (cannot merge descriptors)": _tx(
        Cause.MTU, "they are longer than the other side's buffers, and it does not take a frame in several of them"
    ),
    "indirect descriptor table overflow": _tx(Cause.INVALID, "the other side's descriptors are not valid"),
    "indirect descriptor overflows table": _rx(Cause.INVALID, "the other side's descriptors are not valid"),
    "undersized ethernet frame received (< 14 bytes)": _rx(Cause.INVALID, "they are shorter than an Ethernet header"),
    "no available buffer": _rx(Cause.BUFFERS, "there was no free buffer for them"),
    "no free tx slots": _tx(Cause.RING, _RING_OUT),
    "no enough space in tx buffers": _tx(Cause.RING, _RING_OUT),
    "mmap failure": DropCounter(Cause.LINK, "the other side's memory is not mapped"),
    "buffer allocation failed": _rx(Cause.BUFFERS, "there was no free buffer for them"),
    "bad descriptor": _rx(Cause.INVALID, "the other side's descriptors are not valid"),
    "tx frame not ready": _tx(Cause.RING, _RING_OUT),
    "tx ring overrun": _tx(Cause.RING, _RING_OUT),
    "tx sendto temporary failure": _tx(Cause.RING, "the kernel's device did not take them for the moment"),
    "tx sendto fatal failure": _tx(Cause.SEVERAL, f"the kernel's device did not take them, and {_SEVERAL}"),
    "Tx packet drops (dpdk tx failure)": _tx(Cause.RING, _RING_OUT),
    "L2 output drops": _tx(Cause.RULE, "the bridge domain's features drop them"),
    "L2 EFP filter pre-rewrite drops": _tx(Cause.RULE, "their VLAN tag is not that of the port that they leave by"),
    "L2 output tag rewrite drops": _tx(Cause.RULE, "their VLAN tag could not be rewritten"),
    "L2 split horizon drops": _tx(Cause.RULE, "they came from a port of the same split-horizon group"),
    "L2 Output interface not valid": _tx(Cause.RULE, "the bridge domain sent them to an interface that is not there"),
    "Filter Mac Drop": DropCounter(Cause.RULE, "an entry of the bridge domain says that their address is dropped"),
    "Reflection Drop": DropCounter(Cause.RULE, "they would leave by the port that they came by"),
    "Stale entry Drop": DropCounter(Cause.RULE, "the bridge domain's entry for their address is stale"),
    "L2 replication failures": DropCounter(Cause.BUFFERS, "there was no free buffer for their copies"),
    "l3 mac mismatch": _rx(Cause.RULE, "their destination address is not the interface's"),
    "unknown vlan": _rx(Cause.RULE, "no sub-interface has their VLAN"),
    "unknown ethernet type": _rx(Cause.RULE, "nobody takes their Ethernet type"),
    "subinterface down": _rx(Cause.LINK, "the sub-interface was down"),
    "llc length > packet length": _rx(Cause.INVALID, _DAMAGED),
}
"""Error counters of graph nodes (`show errors`, `/err/NODE/TEXT`) that are drops, by their texts."""

_LAGOPUS: Final = {
    "rx_dropped": _rx(Cause.SEVERAL, f"the port dropped what came to it, and {_SEVERAL}"),
    "tx_dropped": _tx(Cause.SEVERAL, f"the port did not send them, and {_SEVERAL}"),
    "rx_errors": _rx(Cause.SEVERAL, f"they came with errors, and {_SEVERAL}"),
    "tx_errors": _tx(Cause.SEVERAL, f"they left with errors, and {_SEVERAL}"),
}

_XDP_SWITCH: Final = {"no_way": _rx(Cause.RULE, "the program has no port for them: no cable, or no share's address")}

_FORWARDER: Final = {
    "rx_dropped": _rx(Cause.RING, "the ring of its packet socket was full: it was too slow"),
    "tx_dropped": _tx(
        Cause.SEVERAL,
        f"the other port did not take them, and {_SEVERAL} (its queue was full, or they are longer than its MTU)",
    ),
}

_GATEWAY: Final = {
    "foreign": _rx(Cause.RULE, "they are to another station"),
    "not_ipv4": _rx(Cause.INVALID, "they are neither IPv4 nor ARP"),
    "not_gtpu": _rx(Cause.INVALID, "they are no user packets of GTP-U to the gateway"),
    "extension": _rx(Cause.INVALID, "they have extension headers of GTP-U, which the gateway does not read"),
    "unknown_teid": _rx(Cause.RULE, "no bearer has their tunnel's number"),
    "unknown_ue": _rx(Cause.RULE, "no bearer has their destination"),
    "wrong_source": _rx(Cause.RULE, "their source is not their bearer's UE"),
    "ttl_expired": _rx(Cause.RULE, "their TTL has expired"),
    "malformed": _rx(Cause.INVALID, "their lengths or checksums cannot be"),
    "fragments": _rx(Cause.INVALID, "they are fragments of tunnel packets, which are not put together"),
    "too_big": _rx(Cause.MTU, "they are longer than the other port's MTU, the tunnel's headers counted"),
    "no_neighbour": _rx(Cause.LINK, "the next hop's address was not known yet"),
    "not_sent": _rx(Cause.RING, "the other port did not take them: its ring was full"),
}
"""`native/gateway/gateway_shared.h`, by the reason why a frame that came in did not go on."""

_GENERATOR: Final = {
    "corrupted": _rx(Cause.INVALID, "they arrived with other contents than they were sent with"),
    "refused": _tx(Cause.RING, "the port did not take them at their time: whoever is at its other side is too slow"),
    "late": _tx(Cause.SEVERAL, "the generator was kept from its core and did not send them"),
}

TABLES: Final[Mapping[CounterSource, Mapping[str, DropCounter]]] = {
    CounterSource.OVS: _OVS_PORTS | _OVS_DATAPATH | {k: v for k, v in _NICS.items() if k not in _OVS_PORTS},
    CounterSource.LINUX: _LINUX | {k: v for k, v in _NICS.items() if k not in _LINUX},
    CounterSource.DPDK: _DPDK | _NICS,
    CounterSource.AF_XDP: _AF_XDP,
    CounterSource.VPP: _VPP | VPP_ERRORS,
    CounterSource.LAGOPUS: _LAGOPUS,
    CounterSource.XDP_SWITCH: _LINUX | _XDP_SWITCH,
    CounterSource.FORWARDER: _FORWARDER,
    CounterSource.GATEWAY: _GATEWAY,
    CounterSource.GENERATOR: _GENERATOR,
}
"""By who counts."""

_OF_A_QUEUE: Final = re.compile(r"xsk_queue_\d+_(rx_dropped|rx_invalid_descs|tx_invalid_descs)")
"""Of an AF_XDP port of Open vSwitch, for each of its queues (`lib/netdev-afxdp.c`: XDP_CSTATS)."""
_OF_A_SOCKET: Final = {
    "rx_dropped": _rx(Cause.SEVERAL, _SOCKET_DROPPED),
    "rx_invalid_descs": _rx(Cause.INVALID, "the kernel refused the descriptors of the socket's receive ring"),
    "tx_invalid_descs": _tx(Cause.INVALID, "the kernel refused the descriptors of the socket's transmit ring"),
}
_NAMED_LIKE_DROPS: Final = re.compile(r"(^|_)drop(s|ped)?(_|$)|_errors?$|_invalid_descs$|_missed$")


def meaning(name: str, source: CounterSource | None = None) -> DropCounter:
    """Return what a counter means; its cause is unknown where the tables do not have it.

    Args:
        name: as its source calls it.
        source: who counts; None: not known. Then a name that sources use for different things says nothing certain.
    """
    of_queue = _OF_A_QUEUE.fullmatch(name)
    if of_queue and source in (CounterSource.OVS, None):
        return _OF_A_SOCKET[of_queue[1]]
    found = [table[name] for of, table in TABLES.items() if name in table and source in (of, None)]
    if not found:
        return DropCounter(Cause.UNKNOWN, f"the cause is unknown: nfvbed does not know the counter {name}", _side(name))
    if len({counter.cause for counter in found}) == 1:
        return found[0]
    return DropCounter(Cause.SEVERAL, _SEVERAL, found[0].side)


def is_drop(name: str) -> bool:
    """Whether a counter among many others is of frames that were dropped: it is in the tables, or named like them."""
    return any(name in table for table in TABLES.values()) or bool(_NAMED_LIKE_DROPS.search(name))


def source_of(counts: Mapping[str, object]) -> CounterSource:
    """Tell from the names of a port's counters who counted: those that are kept with trials do not say it."""
    if any(name.startswith(("ovs_", "xsk_queue_")) for name in counts):
        return CounterSource.OVS
    marks = {"imissed": CounterSource.DPDK, "rx_no_buf": CounterSource.VPP, "no_way": CounterSource.XDP_SWITCH}
    return next((source for name, source in marks.items() if name in counts), CounterSource.LINUX)


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
