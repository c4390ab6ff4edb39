"""A double of Lagopus with raw sockets: it reads its configuration, forwards by its rules, has a datastore.

Written after src/datastore and misc/examples/2x3raw.dsl; the forms of answers are those of its own tests
(test/datastore/long_run).
"""

import errno
import json
import selectors
import socket
import sys
from pathlib import Path

OUTGOING = 4
"""PACKET_OUTGOING: what a socket of the same interface sent."""


class Switch:
    """One bridge, its ports and its rules."""

    def __init__(self, path):
        self.devices, self.rules, self.sockets, self.counts = {}, {}, {}, {}
        for line in Path(path).read_text().splitlines():
            words = line.split()
            if words[0] == "interface":
                self.devices[words[1]] = words[words.index("-device") + 1]
            if words[0] == "flow":
                ways = dict(word.split("=") for word in words[3:])
                self.rules[int(ways["in_port"])] = int(ways["apply_actions"].removeprefix("output:"))

    def open(self):
        """Open all ports."""
        for name, device in self.devices.items():
            port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            port.bind((device, 3))
            port.setsockopt(263, 1, socket.if_nametoindex(device).to_bytes(4, "little") + bytes([1] + [0] * 11))
            number = int(name.removeprefix("interface"))
            self.sockets[number] = port
            self.counts[number] = {"rx-packets": 0, "tx-packets": 0}

    def move(self, number):
        """Forward one frame; what finds the port's queue full is dropped, as by a switch."""
        frame, address = self.sockets[number].recvfrom(9000)
        if address[2] == OUTGOING:
            return
        self.counts[number]["rx-packets"] += 1
        out = self.rules[number]
        try:
            self.sockets[out].send(frame)
        except OSError as full:
            if full.errno != errno.ENOBUFS:
                raise
        else:
            self.counts[out]["tx-packets"] += 1

    def answer(self, line):
        """Answer one line of the datastore."""
        words = line.split()
        if words[0] == "flow" and len(words) == 2:
            flows = [
                {"priority": 0, "in_port": one, "actions": [{"apply_actions": [{"output": two}]}]}
                for one, two in self.rules.items()
            ]
            return {"ret": "OK", "data": [{"name": ":bridge01", "tables": [{"table": 0, "flows": flows}]}]}
        if words[0] == "interface" and words[2:] == ["stats"]:
            rest = dict.fromkeys(("rx-dropped", "rx-errors", "tx-dropped", "tx-errors", "rx-bytes", "tx-bytes"), 0)
            counts = self.counts[int(words[1].removeprefix("interface"))]
            return {"ret": "OK", "data": [{"name": f":{words[1]}", **counts, **rest}]}
        return {"ret": "INVALID_ARGS", "data": f"Unknown command: {line}"}


def main(arguments):
    """Run until it is ended."""
    if "--version" in arguments:
        print("Lagopus version 0.2.11-double")
        return
    switch = Switch(arguments[arguments.index("-C") + 1])
    switch.open()
    listening = socket.create_server(("127.0.0.1", 12345))
    chosen = selectors.DefaultSelector()
    for number, port in switch.sockets.items():
        chosen.register(port, selectors.EVENT_READ, number)
    chosen.register(listening, selectors.EVENT_READ, "new")
    while True:
        for key, _ in chosen.select():
            if isinstance(key.data, int):
                switch.move(key.data)
            elif key.data == "new":
                client, _ = listening.accept()
                chosen.register(client, selectors.EVENT_READ, "line")
            elif line := key.fileobj.recv(1000).decode():
                key.fileobj.sendall(json.dumps(switch.answer(line)).encode())
            else:
                chosen.unregister(key.fileobj)
                key.fileobj.close()


if __name__ == "__main__":
    main(sys.argv[1:])
