"""Sends numbered UDP datagrams out of one device of the controller; prints how many came to another one.

Arguments: device, device, number of datagrams, source address, target address. The devices' own addresses are theirs in
Ethernet, too.
"""

import os
import pathlib
import socket
import struct
import sys
import time

ETHERTYPE_IP = 0x0800
SOURCE_PORTS, TARGET_PORT = range(1000, 1064), 2000
GAP_S = 0.001
LAST_S = 2.0
OUTGOING = 4
"""PACKET_OUTGOING: what this machine itself sends is seen by the socket too."""
LEARNT = 3
"""Frames from the target's address, so that no switch floods what is for it."""


def checksum(header):
    """Return the checksum of an IP header whose own is zero (RFC 1071)."""
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def datagram(ethernet, ends, number, mark):
    """Return one frame."""
    payload = mark + struct.pack("!I", number)
    port = SOURCE_PORTS[number % len(SOURCE_PORTS)]
    udp = struct.pack("!HHHH", port, TARGET_PORT, 8 + len(payload), 0) + payload
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), number & 0xFFFF, 0, 64, socket.IPPROTO_UDP, 0) + ends
    header = header[:10] + struct.pack("!H", checksum(header)) + header[12:]
    return (ethernet + header + udp).ljust(60, b"\0")


source, target, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
ends = b"".join(map(socket.inet_aton, sys.argv[4:6]))
macs = {}
for device in (source, target):
    words = pathlib.Path(f"/sys/class/net/{device}/address").read_text().strip()
    macs[device] = bytes.fromhex(words.replace(":", ""))
sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
sender.bind((source, 0))
receiver = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE_IP))
receiver.bind((target, ETHERTYPE_IP))
for _ in range(LEARNT):
    receiver.send(b"\xff" * 6 + macs[target] + b"\x88\xb5" + bytes(46))
    time.sleep(0.1)
ethernet = macs[target] + macs[source] + struct.pack("!H", ETHERTYPE_IP)
mark = os.urandom(8)
seen = set()


def receive(until):
    """Receive until a time."""
    while (left := until - time.monotonic()) > 0 and len(seen) < count:
        receiver.settimeout(left)
        try:
            frame, address = receiver.recvfrom(2048)
        except TimeoutError:
            return
        if address[2] != OUTGOING and frame[42:50] == mark:
            seen.add(frame[50:54])


for number in range(count):
    sender.send(datagram(ethernet, ends, number, mark))
    receive(time.monotonic() + GAP_S)
receive(time.monotonic() + LAST_S)
print(len(seen))
