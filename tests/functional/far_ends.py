"""The far ends of a bridge's ports, at which a test is the generator and the VNFs: frames go in and come out there."""

import selectors
import socket
import struct

from nfvbed.dataplanes.ovs.controller import BridgeController
from nfvbed.host.network.namespaces import inside
from tests.functional.disturbed import PATIENCE_S

PORTS = {"p0": 1, "p1": 2, "v0p0": 3, "v0p1": 4, "v1p0": 5, "v1p1": 6}
PACKET_IGNORE_OUTGOING = 23
ARRIVAL_S = PATIENCE_S


class Outside:
    """The other ends of the ports."""

    def __init__(self, bridge):
        self.bridge = bridge
        netns = bridge.netns.replace("-switch", "-outside")
        self.sockets = inside(netns, lambda: {name: self._open(f"x-{name}") for name in PORTS})

    @staticmethod
    def _open(link):
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
        opened.setsockopt(263, PACKET_IGNORE_OUTGOING, 1)
        opened.bind((link, 0))
        return opened

    def send(self, port, frame):
        """Put a frame into a port, and return the port that it comes out of: exactly one."""
        before = self._sent()
        self.sockets[port].send(frame)
        with selectors.DefaultSelector() as waiting:
            for name, opened in self.sockets.items():
                waiting.register(opened, selectors.EVENT_READ, name)
            arrived = [key.data for key, _ in waiting.select(ARRIVAL_S)]
        assert len(arrived) == 1, f"a frame from {port} came out of {arrived}"
        assert self.sockets[arrived[0]].recv(4096) == frame
        assert self._sent() == before + 1, "copies of it"
        return arrived[0]

    def _sent(self):
        with BridgeController(self.bridge.management) as connection:
            counted = connection.ports()
        return sum(counted[number].tx_packets for number in PORTS.values())

    def close(self):
        for opened in self.sockets.values():
            opened.close()


def udp_frame(flow, version=4):
    udp = struct.pack("!HHHH", 0xC000 + flow, 9, 26, 0) + bytes(18)
    if version == 4:
        addresses = socket.inet_aton("198.18.0.1") + socket.inet_aton("198.19.0.1")
        network = struct.pack("!BBHHHBBH", 0x45, 0, 46, 0, 0, 64, 17, 0) + addresses
        return bytes(12) + b"\x08\x00" + network + udp
    addresses = bytes.fromhex("20010200" + "00" * 11 + "01" + "20010200" + "00" * 11 + "02")
    return bytes(12) + b"\x86\xdd" + struct.pack("!IHBB", 6 << 28, 26, 17, 64) + addresses + udp


ARP = b"\xff" * 6 + bytes.fromhex("024e465600000806") + bytes(46)


def travel(outside, start, frame):
    """Return the ports that a frame comes out of until it is outside, the VNFs passing it on."""
    visited = []
    port = start
    while True:
        visited.append(outside.send(port, frame))
        if visited[-1] in ("p0", "p1"):
            return visited
        vnf, _, number = visited[-1].rpartition("p")
        port = f"{vnf}p{1 - int(number)}"
