# SPDX-License-Identifier: Apache-2.0
"""A double of a mobile core's user plane with raw sockets: it takes GTP-U off and puts it on, by a table of bearers.

`python gateway_double.py S1-U SGi TABLE FAULT`: every tenth frame has the fault; but with `flip` one byte of each frame
is damaged, the first one's first, the second one's second. Addresses of Ethernet are its own, and
the inner time to live is lowered once, as by a gateway that routes.
"""

import ipaddress
import json
import os
import selectors
import socket
import struct
import sys
from pathlib import Path

GTPU_PORT = 2152
TUNNEL_BYTES = 36
OWN = bytes.fromhex("02000000aa01")
PEER = bytes.fromhex("02000000aa02")


def packed(address):
    """Four bytes of an IPv4 address."""
    return ipaddress.IPv4Address(address).packed


def checksum(data):
    """RFC 1071, over an even number of bytes or one more."""
    total = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def with_ip_checksum(packet):
    """The packet, its IPv4 header's checksum right."""
    packet[10:12] = b"\0\0"
    packet[10:12] = struct.pack("!H", checksum(packet[:20]))
    return packet


def with_udp_checksum(packet):
    """The packet, its UDP checksum right."""
    packet[26:28] = b"\0\0"
    pseudo = packet[12:20] + struct.pack("!HH", 17, len(packet) - 20)
    packet[26:28] = struct.pack("!H", checksum(bytes(pseudo + packet[20:])) or 0xFFFF)
    return packet


class Gateway:
    """One table, two ports and the fault of every tenth frame."""

    def __init__(self, table, fault):
        self.table, self.fault, self.count = table, fault, 0
        self.uplink = {teid: packed(ue) for ue, teid, _ in table["bearers"]}
        self.downlink = {packed(ue): teid for ue, _, teid in table["bearers"]}
        self.teids = [teid for _, _, teid in table["bearers"]]

    def hit(self):
        """Whether the fault is this frame's."""
        self.count += 1
        return self.fault if self.count % 10 == 0 else ""

    def decapsulated(self, frame):
        """What goes out on SGi; None: nothing."""
        teid = struct.unpack("!I", frame[46:50])[0]
        packet, fault = bytearray(frame[14 + TUNNEL_BYTES :]), self.hit()
        # The table decides whose packet it is: a sender that mixes bearers up is found here.
        if frame[36:38] != struct.pack("!H", GTPU_PORT) or packet[12:16] != self.uplink.get(teid):
            return None
        if fault == "as it came":
            return frame
        return b"".join((PEER, OWN, b"\x08\0", self.routed(packet, fault, 12)))

    def encapsulated(self, frame):
        """What goes out on S1-U; None: nothing."""
        teid, fault = self.downlink.get(bytes(frame[30:34])), self.hit()
        if teid is None:
            return None
        if fault == "as it came":
            return frame
        packet = self.routed(bytearray(frame[14:]), fault, 16)
        if fault == "another bearer's TEID":
            teid = self.teids[(self.teids.index(teid) + 1) % len(self.teids)]
        if fault == "unknown TEID":
            teid ^= 0x80000000
        gtpu = bytearray(struct.pack("!BBHI", 0x30, 0xFF, len(packet), teid))
        if fault == "optional fields":
            gtpu[0] = 0x32
            gtpu += bytes(4)
            gtpu[2:4] = struct.pack("!H", len(packet) + 4)
        udp = struct.pack("!HHHH", GTPU_PORT, GTPU_PORT, len(packet) + len(gtpu) + 8, 0)
        enb = packed(self.table["enb"]) if fault != "another eNB" else packed("192.0.2.99")
        header = struct.pack("!BBHHHBB2x", 0x45, 0, len(packet) + len(gtpu) + 28, self.count & 0xFFFF, 0, 64, 17)
        outer = with_ip_checksum(bytearray(header + packed(self.table["sgw"]) + enb + udp) + gtpu + packet)
        if fault != "no outer checksum":
            with_udp_checksum(outer)
        if fault == "wrong outer checksum":
            outer[26] ^= 0x10
        return b"".join((PEER, OWN, b"\x08\0", outer))

    def another_ue(self, ue):
        """The address of the UE that is next in the table."""
        ues = list(self.downlink)
        return ues[(ues.index(ue) + 1) % len(ues)]

    def routed(self, packet, fault, ue):
        """The packet one hop on."""
        packet[8] -= 1
        if fault == "another UE":
            packet[ue : ue + 4] = self.another_ue(bytes(packet[ue : ue + 4]))
            with_udp_checksum(packet)
        if fault == "altered payload":
            packet[-1] ^= 0x10
        if fault == "another stream":
            packet[33] ^= 0x01
            with_udp_checksum(packet)
        if fault == "wrong header checksum":
            with_ip_checksum(packet)
            packet[10] ^= 0x10
            return packet
        return with_ip_checksum(packet)


def opened(name):
    """A raw socket that hears nothing of what it sends."""
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    port.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
    port.bind((name, 0x0800))
    return port


def main(names, table, fault):
    """Forwards until it is ended."""
    gateway = Gateway(json.loads(Path(table).read_text()), fault)
    s1u, sgi = map(opened, names)
    ways = {s1u: (gateway.decapsulated, sgi), sgi: (gateway.encapsulated, s1u)}
    selector = selectors.DefaultSelector()
    for port in ways:
        selector.register(port, selectors.EVENT_READ)
    print("ready", flush=True)
    while True:
        for key, _ in selector.select():
            change, out = ways[key.fileobj]
            frame, sender = key.fileobj.recvfrom(9000)
            if sender[2] == socket.PACKET_OUTGOING or b"NFVG" not in frame:
                continue
            changed = change(frame)
            if changed is None:
                continue
            if fault == "flip":
                changed = bytearray(changed)
                changed[(gateway.count - 1) % len(changed)] ^= 0x10
            out.send(changed)


if __name__ == "__main__":
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        print("no real-time priority: frames may be late", file=sys.stderr)
    main(sys.argv[1:3], *sys.argv[3:])
