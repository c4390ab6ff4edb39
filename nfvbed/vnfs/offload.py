"""The checksum trap: a frame whose checksum was left to hardware, through a VNF that never uses hardware.

A host's stack leaves the UDP or TCP checksum to the NIC; between virtio, veth and tap there is no NIC, and the frame
travels with a note that its checksum is incomplete. A kernel forwarder passes the note on. A raw-Ethernet VNF sees only
its bytes: what it sends has a wrong checksum and no note, and the receiver drops it in silence. Traffic of a generator,
whose checksums are complete, goes through unharmed; so the trap is only found by sending such a frame.
"""

import socket
import struct
import time
from collections.abc import Callable
from enum import StrEnum

from nfvbed.errors import OnboardError
from nfvbed.host.network.namespaces import inside
from nfvbed.records import Deployment, PortKind, Record

_ETHERTYPE_IPV4 = 0x0800
_PACKET_VNET_HDR = 15
_SOL_PACKET = 263
_ETH_P_ALL = 0x0003
_VNET_HEADER = struct.Struct("=BBHHHH")
_NEEDS_CHECKSUM = 1
_UDP_OFFSET = 34
_CHECKSUM_IN_UDP = 6
_WAIT_S = 0.5
_ATTEMPTS = 5
_MARK = b"nfvbed checksum probe"

REMEDY = (
    "turn checksum offload off on the VNF's ports (--no-offloads; in an experiment `offloads: false`), or let it "
    "complete checksums itself"
)


class ChecksumPath(StrEnum):
    """The fate of frames with an incomplete checksum."""

    KEPT = "kept"
    """They arrived incomplete, with the note: the receiver's kernel accepts them."""
    COMPLETED = "completed"
    """They arrived with a right checksum: it was completed on the way."""
    BROKEN = "broken"
    """They arrived with a wrong checksum and no note: every receiver drops them."""
    NOT_SEEN = "not-seen"
    """None arrived."""


class OffloadReport(Record):
    """The result of a probe frame with an incomplete checksum."""

    result: ChecksumPath
    observed: str
    remedy: str = ""

    @property
    def trap(self) -> bool:
        """Whether ordinary traffic would be lost in silence."""
        return self.result is ChecksumPath.BROKEN


def probe_checksums(deployment: Deployment, macs: tuple[str, str]) -> OffloadReport:
    """Send frames with incomplete checksums from the generator's port 0 and look at them on port 1.

    The kernel sends them: the generator must not be open on the ports.

    Args:
        deployment: a deployment with kernel ports (veth) on both ends.
        macs: source and destination address.

    Raises:
        OnboardError: the ports are no kernel links, so no stack could leave a checksum to them.
    """
    return probe_frame(deployment, (0, 1), incomplete_frame(*macs), lambda header, frame: (judge(header, frame), frame))


def probe_frame(
    deployment: Deployment,
    way: tuple[int, int],
    frame: bytes,
    read: Callable[[bytes, bytes], tuple[ChecksumPath, bytes]],
) -> OffloadReport:
    """Send a frame with an incomplete checksum until it arrives, and return its fate.

    Args:
        deployment: a deployment with kernel ports (veth) on both ends.
        way: the port that it is sent from, and the one where it arrives.
        frame: the frame, made by `incomplete_frame`.
        read: returns the fate of the checksum, and the frame that it belongs to, of the virtio_net_hdr and the frame
            that arrived.

    Raises:
        OnboardError: the ports are no kernel links, so no stack could leave a checksum to them.
    """
    if len(deployment.ports) != 2 or any(port.kind is not PortKind.VETH for port in deployment.ports):
        kinds = ", ".join(port.kind for port in deployment.ports)
        raise OnboardError(
            "frames with incomplete checksums can only be sent from kernel ports",
            where=f"{deployment.variant}, {deployment.topology}",
            observed=f"the generator's ports are {kinds or 'none'}",
            fix="probe on a variant with kernel ports: linux-bridge",
        )
    first, second = (deployment.ports[number] for number in way)
    if first.netns is None or first.netns != second.netns:
        raise OnboardError("the generator's ports are not in one namespace", observed=f"{first.netns}, {second.netns}")
    netns = first.netns
    return inside(netns, lambda: _probe((first.spec, second.spec), frame, read))


def incomplete_frame(source: str, destination: str, ends: tuple[str, str] = ("198.18.0.1", "198.19.0.1")) -> bytes:
    """Return a UDP frame as a stack leaves it to a NIC: the checksum field has only the pseudo header's sum.

    Args:
        source: a MAC address.
        destination: a MAC address.
        ends: IPv4 addresses of source and destination.
    """
    payload = _MARK
    addresses = b"".join(socket.inet_aton(end) for end in ends)
    length = 8 + len(payload)
    pseudo = _folded(addresses + struct.pack("!HH", socket.IPPROTO_UDP, length))
    udp = struct.pack("!HHHH", 49152, 9, length, pseudo) + payload
    bare = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 0, 0, 64, socket.IPPROTO_UDP, 0) + addresses
    ip = bare[:10] + struct.pack("!H", ~_folded(bare) & 0xFFFF) + bare[12:]
    return _mac(destination) + _mac(source) + struct.pack("!H", _ETHERTYPE_IPV4) + ip + udp


def judge(header: bytes, frame: bytes) -> ChecksumPath:
    """Return the state of a frame's checksum.

    Args:
        header: the kernel's virtio_net_hdr of the frame.
        frame: from its Ethernet header on.
    """
    flags, _, _, _, start, _ = _VNET_HEADER.unpack(header[: _VNET_HEADER.size])
    if flags & _NEEDS_CHECKSUM and start:
        return ChecksumPath.KEPT
    addresses = frame[26:34]
    udp = frame[_UDP_OFFSET : _UDP_OFFSET + struct.unpack("!H", frame[38:40])[0]]
    whole = _folded(addresses + struct.pack("!HH", socket.IPPROTO_UDP, len(udp)) + udp)
    return ChecksumPath.COMPLETED if whole == 0xFFFF else ChecksumPath.BROKEN


def _probe(
    ports: tuple[str, str], frame: bytes, read: Callable[[bytes, bytes], tuple[ChecksumPath, bytes]]
) -> OffloadReport:
    first, second = ports
    with _raw(first) as sender, _raw(second) as receiver:
        note = _VNET_HEADER.pack(_NEEDS_CHECKSUM, 0, 0, 0, _UDP_OFFSET, _CHECKSUM_IN_UDP)
        for attempt in range(1, _ATTEMPTS + 1):
            sender.send(note + frame)
            found = _await(receiver)
            if found is not None:
                result, seen = read(*found)
                checksum = seen[_UDP_OFFSET + 6 : _UDP_OFFSET + 8].hex()
                flags = "needs-checksum" if result is ChecksumPath.KEPT else "none"
                return OffloadReport(
                    result=result,
                    observed=f"UDP checksum 0x{checksum}, note: {flags} (attempt {attempt})",
                    remedy=REMEDY if result is ChecksumPath.BROKEN else "",
                )
    return OffloadReport(result=ChecksumPath.NOT_SEEN, observed=f"none of {_ATTEMPTS} frames arrived on {second}")


def _await(receiver: socket.socket) -> tuple[bytes, bytes] | None:
    deadline = time.monotonic() + _WAIT_S
    while (left := deadline - time.monotonic()) > 0:
        receiver.settimeout(left)
        try:
            data, address = receiver.recvfrom(65535)
        except TimeoutError:
            return None
        header, frame = data[: _VNET_HEADER.size], data[_VNET_HEADER.size :]
        if address[2] != socket.PACKET_OUTGOING and _MARK in frame:
            return header, frame
    return None


def _raw(name: str) -> socket.socket:
    opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
    try:
        opened.setsockopt(_SOL_PACKET, _PACKET_VNET_HDR, 1)
        opened.bind((name, _ETH_P_ALL))
    except OSError:
        opened.close()
        raise
    return opened


def _folded(data: bytes) -> int:
    """Return the one's complement sum of 16-bit words (RFC 1071), not inverted."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def _mac(text: str) -> bytes:
    return bytes.fromhex(text.replace(":", ""))
