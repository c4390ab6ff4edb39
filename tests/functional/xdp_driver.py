# SPDX-License-Identifier: Apache-2.0
"""A network namespace with veth pairs, nfvgen's XDP engine on them, and a peer that does harm."""

import itertools
import json
import os
import pathlib
import socket
import subprocess
import sys
import time

from nfvbed.host.network import namespaces
from nfvbed.host.network.namespaces import NETNS_DIRECTORY
from tests.functional.disturbed import PATIENCE_S, wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
NFVGEN = os.environ.get("NFVGEN", str(ROOT / "native/build/nfvgen/nfvgen"))
CORE = str(max(os.sched_getaffinity(0)))
_NUMBER = itertools.count()

# Forwards between two interfaces and does to every tenth frame of ours what it is asked; `flip` damages one byte of
# each, the first one's first, the second one's second.
RELAY = """
import contextlib, os, select, socket, sys
with contextlib.suppress(PermissionError):  # what others run on its core does not make frames late
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
names, harm = sys.argv[1:3], sys.argv[3]
ports = []
for name in names:
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    port.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
    port.bind((name, 0))
    port.setsockopt(263, 23, 1)
    ports.append(port)
print("ready", flush=True)
count, held = 0, None
while True:
    for port in select.select(ports, [], [])[0]:
        frame = bytearray(port.recv(9000))
        out = ports[1 - ports.index(port)]
        if b"NFVG" not in frame:
            continue
        if harm == "flip":
            frame[count % len(frame)] ^= 0x10
        count += 1
        hit = count % 10 == 0
        if hit and harm == "loss":
            continue
        if hit and harm == "hold":
            held = frame
            continue
        if hit and harm == "corruption":
            frame[-1] ^= 0x10
        if hit and harm == "tag":
            frame[12:12] = bytes.fromhex("81000005")
        if hit and harm == "addresses":
            frame[:12] = frame[6:12] + frame[:6]
        out.send(frame)
        if hit and harm == "duplication":
            out.send(frame)
        if held:
            out.send(held)
            held = None
"""


def ip(*arguments):
    """Run ip; returns its output. An error tells what ip said."""
    done = subprocess.run(["ip", *arguments], check=False, capture_output=True, text=True)
    if done.returncode:
        error = subprocess.CalledProcessError(done.returncode, done.args, done.stdout, done.stderr)
        error.add_note(done.stderr.strip())
        raise error
    return done.stdout


def make_namespace(name):
    """Make it as nfvbed does: the first `ip netns add` of a machine leaves a mount of its folder behind."""
    NETNS_DIRECTORY.mkdir(exist_ok=True)
    namespaces.create(str(NETNS_DIRECTORY / name))


class Namespace:
    """A network namespace with veth pairs, gone at the end."""

    def __init__(self):
        self.name = f"nfvtg{os.getpid()}n{next(_NUMBER)}"
        make_namespace(self.name)

    def pair(self, one, other, mtu=1500):
        """Two ends, up, no address of their own (so that the kernel says nothing)."""
        ip("-n", self.name, "link", "add", one, "type", "veth", "peer", "name", other)
        for end in (one, other):
            ip("-n", self.name, "link", "set", end, "mtu", str(mtu), "addrgenmode", "none", "up")

    def receive_offload(self, state, *interfaces):
        """Generic receive offload: with it a veth takes redirected frames without an XDP program."""
        for interface in interfaces:
            self.run("ethtool", "-K", interface, "gro", state)

    def run(self, *argv):
        """One program in the namespace; returns its standard output."""
        argv = ["ip", "netns", "exec", self.name, *argv]
        result = subprocess.run(argv, capture_output=True, text=True, timeout=2 * PATIENCE_S, check=False)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def start(self, *argv):
        """One program in the namespace, running; its process id is the program's own."""
        argv = ["ip", "netns", "exec", self.name, *argv]
        return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def attached(self):
        """The interfaces that have an XDP program."""
        links = json.loads(ip("-j", "-d", "-n", self.name, "link"))
        return {link["ifname"] for link in links if link.get("xdp")}

    def close(self):
        """Takes the pairs along."""
        ip("netns", "delete", self.name)


class Generator:
    """One nfvgen and its control connection."""

    def __init__(self, namespace, path, ports, *options):
        self.process = namespace.start(
            NFVGEN,
            "--engine",
            "xdp",
            "--socket",
            str(path),
            "--core",
            CORE,
            "--port",
            ports[0],
            "--port",
            ports[1],
            *options,
        )
        self.socket = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + PATIENCE_S
        while self.socket.connect_ex(str(path)):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.process.kill()
                raise RuntimeError(self.process.communicate()[1])
            time.sleep(0.01)
        self.file = self.socket.makefile("rw")

    def call(self, command, **keys):
        """The answer to one request."""
        self.file.write(json.dumps({"schema": "nfvgen/1", "id": 1, "command": command, **keys}) + "\n")
        self.file.flush()
        return json.loads(self.file.readline())

    def trial(self, **keys):
        """The result of one trial, which must not fail."""
        stats = self.attempt(**keys)
        assert stats["state"] == "done", stats["error"]
        return stats["trial"]

    def attempt(self, **keys):
        """As trial, but it may fail."""
        answer = self.call("start", **keys)
        assert answer["ok"], answer
        while True:
            stats = self.call("stats")["result"]
            if stats["state"] != "running":
                return stats
            time.sleep(0.01)

    def wait_until_sending(self):
        """Wait until the trial that runs has sent a frame."""
        assert wait_until(lambda: self.call("stats")["result"]["trial"]["directions"][0]["sent"]), "nothing was sent"

    def close(self):
        """Ends it, politely first; returns status, standard output and standard error."""
        self.file.close()
        self.socket.close()
        if self.process.poll() is None:
            self.process.terminate()
        output = self.process.communicate(timeout=20)
        return self.process.returncode, *output


def start_relay(namespace, harm):
    """Two pairs with the relay between their far ends; it is ready when this returns."""
    namespace.pair("nfvta", "nfvtc")
    namespace.pair("nfvtb", "nfvtd")
    namespace.receive_offload("on", "nfvtc", "nfvtd")
    relay = namespace.start(sys.executable, "-c", RELAY, "nfvtc", "nfvtd", harm)
    assert relay.stdout.readline() == "ready\n", relay.stderr.read()
    return relay


def assert_nothing_lost(trial):
    """What was sent arrived, once, in order and unharmed."""
    for direction in trial["directions"]:
        assert direction["sent"] > 0
        assert direction["received"] == direction["sent"]
        assert direction["received_bytes"] == direction["sent_bytes"]
        for kind in ("lost", "reordered", "duplicated", "corrupted"):
            assert direction[kind] == 0, (kind, direction)
        assert direction["intended"] == direction["sent"] + direction["unsent"]
