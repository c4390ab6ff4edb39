"""The mobile core as guests of images/vepc.qcow2, joined link by link; nothing of the host's network takes part.

Each boots by its own loader and has its user data on a config drive, as Nova makes it.
"""

import os
import select
import socket
import subprocess
import threading
import time
from contextlib import contextmanager, suppress

from nfvbed.host.qemu.binaries import locate
from nfvbed.patience import patient
from tests.image.iso9660 import config_drive
from tests.image.vloop_guest import IMAGES, ROOT

READY_S = patient(420)
_PAUSE_S = 0.5
_LONGEST = 65536


class Hub(threading.Thread):
    """A link: what one of its guests sends comes to all others.

    Args:
        folder: with the sockets, `GUEST.LINK` of guests and `GUEST.LINK.hub` of their peers here.
        link: its name.
        guests: names of the guests on it.
    """

    def __init__(self, folder, link, guests):
        super().__init__(name=f"link {link}", daemon=True)
        self._ends = {}
        for name in guests:
            end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            end.bind(str(folder / f"{name}.{link}.hub"))
            self._ends[end] = str(folder / f"{name}.{link}")
        self._ender, self._ended = socket.socketpair()

    def run(self):
        """Carry frames until the hub is closed."""
        while self._ended not in (ready := select.select([*self._ends, self._ended], [], [])[0]):
            for end in ready:
                frame = end.recv(_LONGEST)
                for other, guest in self._ends.items():
                    if other is not end:
                        with suppress(OSError):  # a guest that has not started, or is gone
                            other.sendto(frame, guest)

    def close(self):
        """End it."""
        self._ender.close()
        self.join()
        for end in (*self._ends, self._ended):
            end.close()


class Guest:
    """One running guest."""

    def __init__(self, folder, number, name, user_data):
        """Number: its place among all, from 0."""
        self.name, self._number = name, number
        self.console = folder / f"{name}.console"
        self._log = folder / f"{name}.qemu.log"
        drive = folder / f"{name}.iso"
        drive.write_bytes(config_drive(user_data.encode()))
        binaries = locate(ROOT)
        argv = [str(binaries.program), *binaries.firmware, *self._arguments(folder, links_of(user_data), drive)]
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                argv, env=os.environ | binaries.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

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

    def _arguments(self, folder, links, drive):
        argv = ["-M", "pc", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "768", "-display", "none"]
        argv += ["-nodefaults", "-no-reboot", "-no-user-config"]
        argv += ["-drive", f"file={IMAGES / 'vepc.qcow2'},format=qcow2,if=none,id=root,readonly=on"]
        argv += ["-device", "virtio-blk-pci,drive=root"]
        argv += [
            "-drive",
            f"file={drive},format=raw,if=none,id=cd,media=cdrom,readonly=on",
            "-device",
            "ide-cd,drive=cd",
        ]
        argv += ["-chardev", f"file,id=console,path={self.console}", "-serial", "chardev:console"]
        for place, link in enumerate(links):
            near = folder / f"{self.name}.{link}"
            ends = f"local.type=unix,local.path={near},remote.type=unix,remote.path={near}.hub"
            mac = f"52:54:00:00:{self._number:02x}:{place:02x}"
            argv += ["-netdev", f"dgram,id=n{place},{ends}", "-device", f"virtio-net-pci,netdev=n{place},mac={mac}"]
        return argv


def links_of(user_data):
    """Return the links that a guest has NICs on, in their order."""
    return [word.partition("=")[2] for word in user_data.split() if word.startswith("vnf.nic.")]


@contextmanager
def running(folder, user_data):
    """Run guests with this user data, by their names; the sockets of their links are in the folder."""
    guests, hubs = {}, []
    try:
        for link in dict.fromkeys(link for words in user_data.values() for link in links_of(words)):
            hubs.append(Hub(folder, link, [name for name, words in user_data.items() if link in links_of(words)]))
            hubs[-1].start()
        for number, (name, words) in enumerate(user_data.items()):
            guests[name] = Guest(folder, number, name, words)
        yield guests
    finally:
        for guest in guests.values():
            guest.process.kill()
            guest.process.wait()
        for hub in hubs:
            hub.close()
