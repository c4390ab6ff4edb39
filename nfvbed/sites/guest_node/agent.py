"""Process 1 of a guest node: makes the rest of the system, and does what the host asks over a virtio port.

`agent.py MODULES-FOLDER MODULE...`. It is run as a script by the system's Python, and so imports nothing of nfvbed. The
protocol is `nfvbed-node/1`: JSON lines, described in `channel.py`.
"""

import base64
import contextlib
import json
import os
import platform
import selectors
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

SCHEMA = "nfvbed-node/1"
PORT = "nfvbed.node"
_CHUNK_BYTES = 24 * 1024
_MOUNTS = (
    ("tmpfs", "/run", "mode=0755"),
    ("devpts", "/dev/pts", ""),
    ("tmpfs", "/dev/shm", ""),
    ("cgroup2", "/sys/fs/cgroup", ""),
    ("bpf", "/sys/fs/bpf", ""),
    ("tracefs", "/sys/kernel/tracing", ""),
    ("debugfs", "/sys/kernel/debug", ""),
)


def main(folder: str, *modules: str) -> None:
    """Set the system up, say so, and serve until the host goes away."""
    if os.getpid() != 1 or "nfvbed.node=" not in Path("/proc/cmdline").read_text():
        raise RuntimeError("this is no guest node: nothing was touched")
    mount_all()
    link = Path("/lib/modules") / Path(folder).name
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.exists():
        link.symlink_to(folder)
    refused = [name for name in modules if subprocess.run(["modprobe", name], check=False).returncode]
    subprocess.run(["ip", "link", "set", "lo", "up"], check=False)
    port = os.open(find_port(), os.O_RDWR)
    agent = Agent(port)
    agent.say(event="ready", schema=SCHEMA, kernel=platform.release(), refused=refused)
    agent.serve()


def mount_all() -> None:
    """Mount what a system has; what the kernel lacks is left out, and found missing where it is needed."""
    for kind, target, options in _MOUNTS:
        with contextlib.suppress(OSError):
            Path(target).mkdir(parents=True, exist_ok=True)
        words = ["mount", "-t", kind, kind, target] + (["-o", options] if options else [])
        subprocess.run(words, check=False)


def find_port() -> str:
    """Return the device of the port with our name."""
    for entry in Path("/sys/class/virtio-ports").iterdir():
        if (entry / "name").read_text().strip() == PORT:
            return f"/dev/{entry.name}"
    raise RuntimeError(f"no virtio port {PORT}")


class Agent:
    """Serves the port: one thread, which also waits for all processes, its own and orphans."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.selector = selectors.DefaultSelector()
        self.running: dict[int, Any] = {}
        """By the process's id: the request's id, and its open pipes."""
        self.ended: dict[int, int] = {}
        wake, self.alarm = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.alarm, warn_on_full_buffer=False)
        self.selector.register(wake, selectors.EVENT_READ, lambda: self.reap(wake))
        self.selector.register(port, selectors.EVENT_READ, self.hear)
        self.heard = bytearray()

    def serve(self) -> None:
        """Serve until the host closes the port."""
        while True:
            for key, _ in self.selector.select():
                key.data()

    def say(self, **message: Any) -> None:
        """Send one line to the host."""
        line = json.dumps(message).encode() + b"\n"
        while line:
            line = line[os.write(self.port, line) :]

    def hear(self) -> None:
        """Read requests and execute them."""
        chunk = os.read(self.port, 65536)
        if not chunk:
            power_off()
        self.heard += chunk
        while b"\n" in self.heard:
            line, _, rest = bytes(self.heard).partition(b"\n")
            self.heard = bytearray(rest)
            request = json.loads(line)
            try:
                getattr(self, f"do_{request['do']}")(request)
            except OSError as failure:
                self.say(event="refused", id=request["id"], observed=str(failure))

    def do_run(self, request: dict[str, Any]) -> None:
        """Start a program in a session of its own."""
        process = subprocess.Popen(
            request["argv"],
            cwd=request["directory"],
            env=request["environment"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        pipes = {name: pipe for name in ("stdout", "stderr") if (pipe := getattr(process, name)) is not None}
        self.running[process.pid] = {"id": request["id"], "pipes": pipes, "process": process}
        for name, pipe in pipes.items():
            self.selector.register(pipe, selectors.EVENT_READ, lambda n=name: self.forward(process.pid, n))

    def do_signal(self, request: dict[str, Any]) -> None:
        """Send a signal to a program's process group."""
        for pid, running in self.running.items():
            if running["id"] == request["to"]:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(pid, request["number"])

    def do_read(self, request: dict[str, Any]) -> None:
        """Send a file, in pieces."""
        with Path(request["path"]).open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                self.say(event="output", id=request["id"], stream="file", data=encoded(chunk))
        self.say(event="ended", id=request["id"], status=0)

    def do_write(self, request: dict[str, Any]) -> None:
        """Append to a file, or create it."""
        path = Path(request["path"])
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb" if request["begin"] else "ab") as file:
            file.write(base64.b64decode(request["data"]))
        self.say(event="ended", id=request["id"], status=0)

    def forward(self, pid: int, name: str) -> None:
        """Send on what a program wrote."""
        running = self.running[pid]
        pipe = running["pipes"][name]
        chunk = os.read(pipe.fileno(), _CHUNK_BYTES)
        if chunk:
            self.say(event="output", id=running["id"], stream=name, data=encoded(chunk))
            return
        self.selector.unregister(pipe)
        running["pipes"].pop(name).close()
        self.finish(pid)

    def reap(self, wake: int) -> None:
        """Wait for all that ended."""
        with contextlib.suppress(BlockingIOError):
            os.read(wake, 4096)
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                if pid in self.running:
                    self.ended[pid] = os.waitstatus_to_exitcode(status)
                    self.running[pid]["process"].returncode = self.ended[pid]
                    self.finish(pid)

    def finish(self, pid: int) -> None:
        """Report that a program has ended, once its last output is through as well."""
        if pid in self.ended and not self.running[pid]["pipes"]:
            self.say(event="ended", id=self.running.pop(pid)["id"], status=self.ended.pop(pid))


def encoded(data: bytes) -> str:
    """Return bytes as text for the channel."""
    return base64.b64encode(data).decode("ascii")


def give_up(kind: type[BaseException], failure: BaseException, _: object) -> None:
    """Print the reason on the console, and end the machine."""
    sys.stdout.write(f"nfvbed: guest node failed: {kind.__name__}: {failure}\n")
    sys.stdout.flush()
    power_off()


def power_off() -> None:
    """End the machine at once; it has no disk to write to. Where this is not its first process, only that ends."""
    if os.getpid() != 1:
        sys.exit()
    Path("/proc/sysrq-trigger").write_text("o")
    signal.pause()


if __name__ == "__main__":
    # Process 1 must not end: the kernel would panic before the console has the reason.
    sys.excepthook = give_up
    main(*sys.argv[1:])
