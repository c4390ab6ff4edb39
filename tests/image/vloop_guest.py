"""A guest of images/vloop.qcow2, for the tests of the image, with two wires of datagrams instead of a switch.

Each of its network devices is joined to a Unix datagram socket of the test, which so sends and receives frames itself;
nothing of the host's network takes part.
"""

import json
import os
import socket
import subprocess
import time
from pathlib import Path

from nfvbed.host.qemu.binaries import locate
from nfvbed.vnfs.vm.agent import Agent, AgentLine, SerialPort

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "images"
MARKER = b"vloop: ready "
BOOT_S = 150
MACS = ("52:54:00:00:00:01", "52:54:00:00:00:02")
OUTSIDE = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")


class Guest:
    """One running guest; a context manager."""

    def __init__(self, folder, nics=("virtio-net-pci", "virtio-net-pci"), **choices):
        """Choices: `machine`, `cpus`, `direct` (the kernel beside the image, or its own loader), `parameters`, `cd`.

        `managed` is a TCP port of the guest's on one NIC more, behind QEMU's own network, which answers DHCP.
        `virtio_port` has the agent on the port that a cloud gives it, with nothing at its serial port.
        """
        direct, parameters = choices.get("direct", True), choices.get("parameters", "")
        self.folder = folder
        self.console = folder / "console.log"
        port = VirtioPort if choices.get("virtio_port") else SerialPort
        self.agent = Agent(port(folder / "agent"))
        self._managed = free_port()
        self._arguments = self._machine(nics, choices) + self._boot(direct, parameters)
        self._process = None
        self.wires = [self._wire(place) for place in range(len(nics))]

    def __enter__(self):
        binaries = locate(ROOT)
        argv = [str(binaries.program), *binaries.firmware, *self._arguments]
        with (self.folder / "qemu.log").open("wb") as log:
            self._process = subprocess.Popen(
                argv, env=os.environ | binaries.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        return self

    def __exit__(self, *_):
        for wire in self.wires:
            wire.close()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()

    def wait_ready(self):
        """Wait for the marker; give the version that it says and the seconds that it took."""
        started = time.monotonic()
        while time.monotonic() < started + BOOT_S:
            lines = self.console.read_bytes().splitlines(keepends=True) if self.console.exists() else []
            for line in lines:
                # A line that is not ended yet may lack the end of the version.
                if line.startswith(MARKER) and line.endswith(b"\n"):
                    return line.removeprefix(MARKER).strip().decode(), time.monotonic() - started
            status = self._process.poll()
            assert status is None, f"QEMU ended with {status}: {(self.folder / 'qemu.log').read_text()} {lines[-5:]}"
            time.sleep(0.05)
        raise AssertionError(f"no marker in {BOOT_S} s: {self.console.read_bytes()[-2000:]}")

    def wait_ended(self, timeout_s=60):
        """Wait for QEMU's end; give its exit status."""
        return self._process.wait(timeout_s)

    def ask(self, do, **keys):
        """Ask the agent."""
        return self.agent.ask(do, keys)

    def exchange(self, port, frames, wanted, timeout_s=20):
        """Send frames into a port and return those that come out of the other one, at most as many as wanted."""
        out = self.wires[1 - port]
        for frame in frames:
            self.wires[port].send(frame)
        found = []
        deadline = time.monotonic() + timeout_s
        while len(found) < wanted and time.monotonic() < deadline:
            out.settimeout(max(deadline - time.monotonic(), 0.01))
            try:
                found.append(out.recv(65536))
            except TimeoutError:
                break
        return found

    def managed(self):
        """Connect to the TCP port on the management NIC."""
        return socket.create_connection(("127.0.0.1", self._managed), 20)

    def settle(self):
        """Drop what has come out of the guest so far: a bridge's or a router's own frames."""
        for wire in self.wires:
            wire.setblocking(False)
            try:
                while True:
                    wire.recv(65536)
            except BlockingIOError:
                pass

    def _machine(self, nics, choices):
        folder = self.folder
        argv = ["-M", choices.get("machine", "q35"), "-accel", "tcg,thread=multi", "-cpu", "max"]
        argv += ["-smp", str(choices.get("cpus", 2)), "-m", "768", "-display", "none"]
        argv += ["-nodefaults", "-no-reboot", "-no-user-config"]
        argv += ["-drive", f"file={IMAGES / 'vloop.qcow2'},format=qcow2,if=none,id=root,readonly=on"]
        argv += ["-device", "virtio-blk-pci,drive=root"]
        if "cd" in choices:
            argv += ["-drive", f"file={choices['cd']},format=raw,if=none,id=cd,media=cdrom,readonly=on"]
            argv += ["-device", choices["cd_device"]]
        argv += ["-chardev", f"file,id=console,path={self.console}", "-serial", "chardev:console"]
        argv += ["-chardev", f"socket,id=agent,path={folder / 'agent'},server=on,wait=off"]
        if choices.get("virtio_port"):
            argv += ["-device", "virtio-serial-pci"]
            argv += ["-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0"]
        else:
            argv += ["-serial", "chardev:agent"]
        for place, nic in enumerate(nics):
            near, far = folder / f"q{place}", folder / f"t{place}"
            ends = f"local.type=unix,local.path={near},remote.type=unix,remote.path={far}"
            argv += ["-netdev", f"dgram,id=n{place},{ends}"]
            argv += ["-device", f"{nic},netdev=n{place},mac={MACS[place]}"]
        if "managed" in choices:
            forwarded = f"hostfwd=tcp:127.0.0.1:{self._managed}-:{choices['managed']}"
            argv += ["-netdev", f"user,id=managed,restrict=on,{forwarded}"]
            argv += ["-device", "virtio-net-pci,netdev=managed"]
        return argv

    def _boot(self, direct, parameters):
        if not direct:
            return []
        line = json.loads((IMAGES / "vloop.json").read_text())["cmdline"]
        return [
            "-kernel",
            str(IMAGES / "vloop.kernel"),
            "-initrd",
            str(IMAGES / "vloop.initrd"),
            "-append",
            f"{line} {parameters}".strip(),
        ]

    def _wire(self, place):
        wire = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        wire.bind(str(self.folder / f"t{place}"))
        return Wire(wire, self.folder / f"q{place}")


def free_port():
    """Return a TCP port of the loopback device that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


class VirtioPort(SerialPort):
    """The host's side of a virtio port, as libvirt uses it: each request is preceded by a synchronization."""

    def open(self, do, deadline):
        """Return a connection."""
        return _VirtioLine(super().open(do, deadline))


class _VirtioLine(AgentLine):
    def __init__(self, line):
        self._line = line

    def __enter__(self):
        self._line.__enter__()
        return self

    def __exit__(self, *how):
        self._line.__exit__(*how)

    def send(self, line):
        """Synchronize, and send a request as arguments of the agent's own command."""
        self._line.send(json.dumps({"execute": "guest-sync", "arguments": {"id": 7}}).encode())
        assert json.loads(self._line.read()) == {"return": 7}
        self._line.send(json.dumps({"execute": "vloop", "arguments": json.loads(line)}).encode())

    def read(self):
        """Return the answer within the command's."""
        return json.dumps(json.loads(self._line.read())["return"]).encode()


class Wire:
    """One end of a wire: datagrams to and from a network device of QEMU."""

    def __init__(self, link, peer):
        self._link = link
        self._peer = str(peer)

    def send(self, frame):
        """Send a frame; when QEMU's queue is full it waits."""
        self._link.settimeout(20)
        self._link.sendto(frame, self._peer)

    def recv(self, size):
        """Receive a frame."""
        return self._link.recv(size)

    def settimeout(self, seconds):
        """Bound the next receive."""
        self._link.settimeout(seconds)

    def setblocking(self, on):
        """Wait or not."""
        self._link.setblocking(on)

    def close(self):
        """Close this end."""
        self._link.close()
