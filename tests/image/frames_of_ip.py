"""Whole Ethernet frames with IPv4, ARP, UDP and TCP, checksums included, for tests that have no stack on their side."""

import socket
import struct

ETHERTYPE_ARP = b"\x08\x06"
ETHERTYPE_IPV4 = b"\x08\x00"
SYN, SYN_ACK = 0x02, 0x12


def checksum(data):
    """Internet checksum (RFC 1071)."""
    padded = data + b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ipv4(source, destination, protocol, payload, ttl=64):
    """An IPv4 packet; addresses as text."""
    addresses = socket.inet_aton(source) + socket.inet_aton(destination)
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 1, 0, ttl, protocol, 0) + addresses
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def udp(source, destination, payload):
    """A UDP packet between the ports 1000 and 2000."""
    head = struct.pack("!HHHH", 1000, 2000, 8 + len(payload), 0)
    pseudo = socket.inet_aton(source) + socket.inet_aton(destination) + struct.pack("!BBH", 0, 17, 8 + len(payload))
    return ipv4(source, destination, 17, head[:6] + struct.pack("!H", checksum(pseudo + head + payload)) + payload)


def syn(source, destination, port):
    """The packet that opens a TCP connection."""
    head = struct.pack("!HHIIBBHHH", 40000, port, 1, 0, 5 << 4, SYN, 8192, 0, 0)
    pseudo = socket.inet_aton(source) + socket.inet_aton(destination) + struct.pack("!BBH", 0, 6, len(head))
    return ipv4(source, destination, 6, head[:16] + struct.pack("!H", checksum(pseudo + head)) + head[18:])


def arp_request(mac, source, destination):
    """Who has the destination? Its owner then knows the sender, too."""
    head = struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + mac + socket.inet_aton(source)
    return b"\xff" * 6 + mac + ETHERTYPE_ARP + (head + b"\0" * 6 + socket.inet_aton(destination)).ljust(46, b"\0")


def tcp_flags(frame):
    """The flags of a frame's TCP header, or None."""
    if frame[12:14] != ETHERTYPE_IPV4 or frame[23] != 6:
        return None
    return frame[14 + 20 + 13]
