"""The mobile core as two guests of images/vepc.qcow2, joined link by link; nothing of the host's network takes part.

Each boots by its own loader and has its user data on a config drive, as Nova makes it.
"""

import os
import subprocess
import time
from contextlib import contextmanager

from nfvbed.host.qemu.binaries import locate
from nfvbed.patience import patient
from tests.image.iso9660 import config_drive
from tests.image.vloop_guest import IMAGES, ROOT

READY_S = patient(420)
_PAUSE_S = 0.5
_OTHER = {"core": "edge", "edge": "core"}


class Guest:
    """One running guest."""

    def __init__(self, folder, name, user_data, links):
        """Links: names of those that it has NICs on, in their order."""
        self.name = name
        self.console = folder / f"{name}.console"
        self._log = folder / f"{name}.qemu.log"
        drive = folder / f"{name}.iso"
        drive.write_bytes(config_drive(user_data.encode()))
        binaries = locate(ROOT)
        argv = [str(binaries.program), *binaries.firmware, *self._arguments(folder, links, drive)]
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
            near, far = folder / f"{self.name}.{link}", folder / f"{_OTHER[self.name]}.{link}"
            ends = f"local.type=unix,local.path={near},remote.type=unix,remote.path={far}"
            mac = f"52:54:00:00:{list(_OTHER).index(self.name):02x}:{place:02x}"
            argv += ["-netdev", f"dgram,id=n{place},{ends}", "-device", f"virtio-net-pci,netdev=n{place},mac={mac}"]
        return argv


@contextmanager
def running(folder, user_data):
    """Run guests with this user data, by their names; the sockets of their links are in the folder."""
    guests = {}
    try:
        for name, words in user_data.items():
            links = [word.partition("=")[2] for word in words.split() if word.startswith("vnf.nic.")]
            guests[name] = Guest(folder, name, words, links)
        yield guests
    finally:
        for guest in guests.values():
            guest.process.kill()
            guest.process.wait()
