"""Sends numbered frames out of one device, prints how many came to another one: in the controller, or at a compute's.

Arguments: device, device, number of frames, and a destination address where one is needed. Else the addresses are
nobody's: what forwards the frames looks at no address.
"""

import pathlib
import socket
import subprocess
import sys
import time

ETHERTYPE = 0x88B5
"""For local experiments (IEEE 802)."""
TARGET, SOURCE = "02fe000000b1", "02fe000000a1"
SIZE = 60
GAP_S = 0.002
LAST_S = 1.0
OUTGOING = 4
"""PACKET_OUTGOING: what this machine itself sends is seen by the socket too."""

source, target, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
destination = sys.argv[4].replace(":", "") if len(sys.argv) > 4 else TARGET
header = bytes.fromhex(destination + SOURCE) + ETHERTYPE.to_bytes(2, "big")
for device in (source, target):
    # Neighbour discovery would count as frames of ours, were it of our type; it is noise all the same.
    pathlib.Path(f"/proc/sys/net/ipv6/conf/{device}/disable_ipv6").write_text("1")
    subprocess.run(["/usr/sbin/ip", "link", "set", device, "up", "promisc", "on"], check=True)
sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
sender.bind((source, 0))
receiver = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE))
receiver.bind((target, ETHERTYPE))
receiver.settimeout(LAST_S)
mark = int(time.time()).to_bytes(8, "big")
for number in range(count):
    sender.send((header + mark + number.to_bytes(4, "big")).ljust(SIZE, b"\0"))
    time.sleep(GAP_S)
seen = set()
try:
    while len(seen) < count:
        frame, address = receiver.recvfrom(2048)
        if address[2] != OUTGOING and frame[14:22] == mark:
            seen.add(frame[22:26])
except TimeoutError:
    pass
print(len(seen))
