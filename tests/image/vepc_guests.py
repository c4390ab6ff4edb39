"""The mobile core as guests of images/vepc.qcow2, joined link by link in a network namespace.

Each boots by its own loader and has its user data on a config drive, as Nova makes it.
"""

import os
import select
import socket
import subprocess
import threading
import time
from contextlib import contextmanager, suppress
from functools import partial

from nfvbed.host.network import links, namespaces
from nfvbed.host.network.namespaces import inside
from nfvbed.host.qemu.binaries import locate
from nfvbed.patience import patient
from tests.image.iso9660 import config_drive
from tests.image.vloop_guest import IMAGES, ROOT

READY_S = patient(420)
_PAUSE_S = 0.5
_LONGEST = 65536
_EVERY = 0x0003
"""ETH_P_ALL."""


class Hub(threading.Thread):
    """A link: what one of its guests sends comes to all others, its bytes alone, as over AF_XDP sockets.

    What the sender's kernel notes beside them does not come: that a checksum is left out.

    Args:
        netns: path of the namespace with the taps.
        link: its name.
        taps: of its guests.
    """

    def __init__(self, netns, link, taps):
        super().__init__(name=f"link {link}", daemon=True)
        self._ends = [inside(netns, partial(_raw, tap)) for tap in taps]
        self._ender, self._ended = socket.socketpair()

    def run(self):
        """Carry frames until the hub is closed."""
        while self._ended not in (ready := select.select([*self._ends, self._ended], [], [])[0]):
            for end in ready:
                frame, address = end.recvfrom(_LONGEST)
                others = () if address[2] == socket.PACKET_OUTGOING else self._ends
                for other in others:
                    if other is not end:
                        with suppress(OSError):  # a guest that has not started, or is gone
                            other.send(frame)

    def close(self):
        """End it."""
        self._ender.close()
        self.join()
        for end in (*self._ends, self._ended):
            end.close()


def _raw(device):
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_EVERY))
    end.bind((device, _EVERY))
    return end


class Guest:
    """One running guest."""

    def __init__(self, folder, number, name, user_data):
        """Number: its place among all, from 0."""
        self.name, self.number, self.links = name, number, links_of(user_data)
        self.console = folder / f"{name}.console"
        self._log = folder / f"{name}.qemu.log"
        drive = folder / f"{name}.iso"
        drive.write_bytes(config_drive(user_data.encode()))
        self._drive, self.process = drive, None

    def tap(self, link):
        """Return the name of its device on a link."""
        return f"t{self.number}.{self.links.index(link)}"

    def start(self, netns):
        """Boot it in the namespace that has its taps."""
        binaries = locate(ROOT)
        argv = ["nsenter", f"--net={netns}", str(binaries.program), *binaries.firmware, *self._arguments()]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                argv, env=os.environ | binaries.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def end(self):
        """Kill it, if it was started."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def said(self):
        """Return whole lines of the console that are the agent's, without its name."""
        text = self.console.read_text(errors="replace") if self.console.exists() else ""
        whole = text.rpartition("\n")[0].splitlines()
        return [line.strip().removeprefix("vepc: ") for line in whole if line.startswith("vepc: ")]

    def wait(self, words):
        """Wait for a line that begins so, and return it; a failure that the agent tells ends the wait."""
        deadline = time.monotonic() + READY_S
        while time.monotonic() < deadline:
            said = self.said()
            for line in said:
                if line.startswith((words, "failed: ")):
                    return line
            status = self.process.poll()
            assert status is None, f"QEMU ended with {status}: {self._log.read_text()} {said}"
            time.sleep(_PAUSE_S)
        raise AssertionError(f"{self.name} does not say {words!r}: {self.console.read_text(errors='replace')[-1500:]}")

    def _arguments(self):
        argv = ["-M", "pc", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "768", "-display", "none"]
        argv += ["-nodefaults", "-no-reboot", "-no-user-config"]
        argv += ["-drive", f"file={IMAGES / 'vepc.qcow2'},format=qcow2,if=none,id=root,readonly=on"]
        argv += ["-device", "virtio-blk-pci,drive=root"]
        argv += [
            "-drive",
            f"file={self._drive},format=raw,if=none,id=cd,media=cdrom,readonly=on",
            "-device",
            "ide-cd,drive=cd",
        ]
        argv += ["-chardev", f"file,id=console,path={self.console}", "-serial", "chardev:console"]
        for place, link in enumerate(self.links):
            tap = f"tap,id=n{place},ifname={self.tap(link)},script=no,downscript=no"
            mac = f"52:54:00:00:{self.number:02x}:{place:02x}"
            argv += ["-netdev", tap, "-device", f"virtio-net-pci,netdev=n{place},mac={mac}"]
        return argv


def links_of(user_data):
    """Return the links that a guest has NICs on, in their order."""
    return [word.partition("=")[2] for word in user_data.split() if word.startswith("vnf.nic.")]


@contextmanager
def running(folder, user_data):
    """Run guests with this user data, by their names."""
    guests = {name: Guest(folder, number, name, words) for number, (name, words) in enumerate(user_data.items())}
    netns, hubs = str(folder / "network"), []
    namespaces.create(netns)
    try:
        taps = [(link, one.tap(link)) for one in guests.values() for link in one.links]
        inside(netns, lambda: [links.add_tap(tap) for _, tap in taps])
        inside(netns, lambda: links.set_up(tap for _, tap in taps))
        for link in dict.fromkeys(link for link, _ in taps):
            hubs.append(Hub(netns, link, [tap for of, tap in taps if of == link]))
            hubs[-1].start()
        for guest in guests.values():
            guest.start(netns)
        yield guests
    finally:
        for guest in guests.values():
            guest.end()
        for hub in hubs:
            hub.close()
        namespaces.remove(netns)
