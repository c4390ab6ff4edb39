"""What VPP's counters of frames that did not go on mean."""

from typing import Final

from nfvbed.records.drops import DAMAGED, RING_IN, RING_OUT, SEVERAL, Cause, CounterTable, DropCounter, rx, tx

SOURCE: Final = "vpp"
_COUNTERS: Final = {
    "drops": DropCounter(Cause.SEVERAL, f"VPP's graph dropped them, and {SEVERAL}"),
    "error-drop": DropCounter(Cause.SEVERAL, f"VPP's graph dropped them, and {SEVERAL}"),
    "punt": DropCounter(Cause.RULE, "they were handed to the host"),
    "rx_miss": rx(Cause.RING, RING_IN),
    "rx_error": rx(Cause.SEVERAL, f"they came with errors, and {SEVERAL}"),
    "rx_no_buf": rx(Cause.BUFFERS, "there was no free buffer for them"),
    "tx_error": tx(Cause.SEVERAL, f"the interface did not send them, and {SEVERAL}"),
}
"""Counters of interfaces (`/if/...` of the statistics segment), and of the node where the graph's drops end."""

ERRORS: Final = {
    "interface is down": tx(Cause.LINK, "the interface that they were to leave by was down"),
    "interface is deleted": tx(Cause.LINK, "the interface that they were to leave by is gone"),
    "no tx queue available": tx(Cause.LINK, "the interface that they were to leave by has no transmit queue"),
    "vhost vring not ready": tx(Cause.LINK, "the other side of the vhost-user port is not open"),
    "vhost interface is down": tx(Cause.LINK, "the vhost-user port was down"),
    "vhost interface not ready or down": rx(Cause.LINK, "the vhost-user port was down, or its other side not there"),
    "tx packet drops (no available descriptors)": tx(Cause.RING, RING_OUT),
    "tx packet drops (cannot merge descriptors)": tx(
        Cause.MTU, "they are longer than the other side's buffers, and it does not take a frame in several of them"
    ),
    "indirect descriptor table overflow": tx(Cause.INVALID, "the other side's descriptors are not valid"),
    "indirect descriptor overflows table": rx(Cause.INVALID, "the other side's descriptors are not valid"),
    "undersized ethernet frame received (< 14 bytes)": rx(Cause.INVALID, "they are shorter than an Ethernet header"),
    "no available buffer": rx(Cause.BUFFERS, "there was no free buffer for them"),
    "no free tx slots": tx(Cause.RING, RING_OUT),
    "no enough space in tx buffers": tx(Cause.RING, RING_OUT),
    "mmap failure": DropCounter(Cause.LINK, "the other side's memory is not mapped"),
    "buffer allocation failed": rx(Cause.BUFFERS, "there was no free buffer for them"),
    "bad descriptor": rx(Cause.INVALID, "the other side's descriptors are not valid"),
    "tx frame not ready": tx(Cause.RING, RING_OUT),
    "tx ring overrun": tx(Cause.RING, RING_OUT),
    "tx sendto temporary failure": tx(Cause.RING, "the kernel's device did not take them for the moment"),
    "tx sendto fatal failure": tx(Cause.SEVERAL, f"the kernel's device did not take them, and {SEVERAL}"),
    "Tx packet drops (dpdk tx failure)": tx(Cause.RING, RING_OUT),
    "L2 output drops": tx(Cause.RULE, "the bridge domain's features drop them"),
    "L2 EFP filter pre-rewrite drops": tx(Cause.RULE, "their VLAN tag is not that of the port that they leave by"),
    "L2 output tag rewrite drops": tx(Cause.RULE, "their VLAN tag could not be rewritten"),
    "L2 split horizon drops": tx(Cause.RULE, "they came from a port of the same split-horizon group"),
    "L2 Output interface not valid": tx(Cause.RULE, "the bridge domain sent them to an interface that is not there"),
    "Filter Mac Drop": DropCounter(Cause.RULE, "an entry of the bridge domain says that their address is dropped"),
    "Reflection Drop": DropCounter(Cause.RULE, "they would leave by the port that they came by"),
    "Stale entry Drop": DropCounter(Cause.RULE, "the bridge domain's entry for their address is stale"),
    "L2 replication failures": DropCounter(Cause.BUFFERS, "there was no free buffer for their copies"),
    "l3 mac mismatch": rx(Cause.RULE, "their destination address is not the interface's"),
    "unknown vlan": rx(Cause.RULE, "no sub-interface has their VLAN"),
    "unknown ethernet type": rx(Cause.RULE, "no node takes their Ethernet type"),
    "subinterface down": rx(Cause.LINK, "the sub-interface was down"),
    "llc length > packet length": rx(Cause.INVALID, DAMAGED),
}
"""Error counters of graph nodes (`show errors`, `/err/NODE/TEXT`) that are drops, by their texts."""

TABLE: Final = CounterTable(SOURCE, _COUNTERS | ERRORS, mark="rx_no_buf")
