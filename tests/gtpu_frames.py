"""Frames of a mobile core's user plane, built of their definitions: RFC 791, 768, 826, 1071 and 3GPP TS 29.281.

They share nothing with the programs under test.
"""

import socket
import struct
from dataclasses import dataclass, replace

IPV4, ARP, IPV6 = 0x0800, 0x0806, 0x86DD
UDP = 17
GTPU_PORT = 2152


def mac(text: str) -> bytes:
    """An address' six bytes."""
    return bytes.fromhex(text.replace(":", ""))


def checksum(data: bytes) -> int:
    """The Internet checksum of some bytes, as a number."""
    total = sum(struct.unpack(f"!{(len(data) + 1) // 2}H", data + b"\0" * (len(data) % 2)))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def ethernet(destination: str, source: str, kind: int, payload: bytes) -> bytes:
    """A frame without FCS and padding."""
    return mac(destination) + mac(source) + struct.pack("!H", kind) + payload


@dataclass(frozen=True)
class Ip:
    """An IPv4 header's fields."""

    source: str
    destination: str
    protocol: int = UDP
    ttl: int = 64
    identification: int = 0
    flags: int = 0
    """With the fragment's offset: 16 bits."""
    service: int = 0
    options: bytes = b""

    def packet(self, payload: bytes) -> bytes:
        """The packet with this payload."""
        words = 5 + len(self.options) // 4
        ends = socket.inet_aton(self.source) + socket.inet_aton(self.destination)
        length = 4 * words + len(payload)
        middle = (self.identification, self.flags, self.ttl, self.protocol)
        head = struct.pack("!BBHHHBBH", 0x40 | words, self.service, length, *middle, 0) + ends + self.options
        return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload

    def hop(self) -> "Ip":
        """One router further."""
        return replace(self, ttl=max(self.ttl - 1, 0))


def udp(ip: Ip, ports: tuple[int, int], payload: bytes, *, summed: bool = True) -> bytes:
    """An IPv4 packet with a datagram, with its checksum or with none."""
    head = struct.pack("!HHHH", *ports, 8 + len(payload), 0)
    pseudo = socket.inet_aton(ip.source) + socket.inet_aton(ip.destination) + struct.pack("!HH", UDP, 8 + len(payload))
    found = (checksum(pseudo + head + payload) or 0xFFFF) if summed else 0
    return ip.packet(head[:6] + struct.pack("!H", found) + payload)


def gtpu(teid: int, inner: bytes, *, kind: int = 0xFF, flags: int = 0x30, optional: bytes = b"") -> bytes:
    """A GTP-U message; `optional` is what is between its eight bytes and the packet."""
    return struct.pack("!BBHI", flags, kind, len(optional) + len(inner), teid) + optional + inner


def arp(operation: int, sender: tuple[str, str], target: tuple[str, str]) -> bytes:
    """An ARP packet of MAC and IPv4 addresses."""
    pairs = b"".join(mac(pair[0]) + socket.inet_aton(pair[1]) for pair in (sender, target))
    return struct.pack("!HHBBH", 1, IPV4, 6, 4, operation) + pairs
