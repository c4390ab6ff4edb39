"""dpdk-testpmd as a peer (io on the other core) and as the generator that nfvgen is compared with."""

import contextlib
import json
import os
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pressure import Pressure

from nfvbed.errors import GeneratorError, PrerequisiteError
from nfvbed.host.native import native_binary
from nfvbed.patience import patient

READY_S = patient(60.0)
"""A machine that others load takes its time; nothing waits for longer than it has to."""
ANSWER_S = patient(15.0)
SETTLE_S = 0.3


@dataclass(frozen=True)
class TestpmdOptions:
    """How one testpmd is started."""

    __test__ = False
    name: str
    core: int
    vdevs: tuple[str, ...]
    mode: str
    """Forwarding engine: io, flowgen, txonly, rxonly."""
    netns: str | None = None
    frame_size_bytes: int = 64
    queue_size: int = 1024
    burst: int = 32
    """testpmd's own default."""
    sockets: tuple[Path, ...] = ()
    """Those that it listens on; removed first, because one that crashed leaves them and they cannot be bound again."""


class Testpmd:
    """One testpmd, its two lcores on one CPU: the main one waits for commands, the other polls.

    Statistics are read over the DPDK telemetry socket; `start` and `stop` go to its prompt, for which there is no API.
    """

    __test__ = False

    def __init__(self, options: TestpmdOptions, directory: Path) -> None:
        self.options = options
        self._runtime = directory
        self._log = directory / f"{options.name}.log"
        argv = [str(native_binary("nfvbed-exec")), "--cores", str(options.core), "--die-with-parent"]
        argv += ["--netns", options.netns] if options.netns else []
        # The priority that nfvgen has for its own thread.
        argv += ["--", "nice", "-n", "-15", "dpdk-testpmd"]
        argv += ["--lcores", f"(0-1)@{options.core}", "--no-pci", "--in-memory"]
        argv += ["--single-file-segments", "--socket-mem", "256", "--file-prefix", options.name]
        for vdev in options.vdevs:
            argv += ["--vdev", vdev]
        argv += ["--", "-i", "--nb-cores=1", f"--forward-mode={options.mode}", f"--burst={options.burst}"]
        argv += [f"--txd={options.queue_size}", f"--rxd={options.queue_size}", "--total-num-mbufs=16384"]
        # txpkts counts bytes in memory: without the FCS. Ports come up when the other side connects.
        argv += [f"--txpkts={options.frame_size_bytes - 4}", "--flowgen-flows=1024", "--disable-link-check"]
        for path in options.sockets:
            path.unlink(missing_ok=True)
        with self._log.open("w") as log:
            try:
                self._process = subprocess.Popen(
                    argv,
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    env={**os.environ, "RUNTIME_DIRECTORY": str(directory)},
                )
            except FileNotFoundError as error:
                raise PrerequisiteError("testpmd cannot be started", observed=str(error), fix="make setup") from error
        try:
            self._telemetry = self._connect()
        except BaseException:
            self.close()
            raise

    def start(self) -> None:
        """Start forwarding; links must be up by now."""
        self._command("start")
        time.sleep(SETTLE_S)

    def wait_for_links(self) -> None:
        """Wait until both ports have a link.

        Raises:
            GeneratorError: they do not.
        """
        deadline = time.monotonic() + READY_S
        while any(self._ask(f"/ethdev/link_status,{port}")["status"] != "UP" for port in (0, 1)):
            if time.monotonic() > deadline:
                raise GeneratorError(f"testpmd {self.options.name} has no links", observed=self._tail())
            time.sleep(0.02)

    def rates_pps(self, duration_s: float) -> tuple[float, float]:
        """Measure (received, sent) frames/s over both ports while it forwards."""
        first, started = self._packets(), time.monotonic()
        time.sleep(duration_s)
        last, ended = self._packets(), time.monotonic()
        return (last[0] - first[0]) / (ended - started), (last[1] - first[1]) / (ended - started)

    def close(self) -> None:
        """Quit; kill it when it does not. Idempotent."""
        if self._process.poll() is None:
            try:
                self._command("stop\nquit")
                self._process.wait(5)
            except (OSError, GeneratorError, subprocess.TimeoutExpired):
                self._process.kill()
        self._process.wait()
        if self._process.stdin:
            # What it was told last may still be in the buffer of a process that has ended by itself.
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        if hasattr(self, "_telemetry"):
            self._telemetry.close()

    def _connect(self) -> socket.socket:
        path = self._runtime / "dpdk" / self.options.name / "dpdk_telemetry.v2"
        deadline = time.monotonic() + READY_S
        while True:
            if self._process.poll() is not None:
                raise GeneratorError(f"testpmd {self.options.name} ended", observed=self._tail())
            # The prompt comes when the ports are set up; the socket is there before.
            if "testpmd>" in self._log.read_text(errors="replace") and path.exists():
                telemetry = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                telemetry.settimeout(ANSWER_S)
                telemetry.connect(str(path))
                telemetry.recv(16384)  # its greeting
                return telemetry
            if time.monotonic() > deadline:
                raise GeneratorError(f"testpmd {self.options.name} does not come up", observed=self._tail())
            time.sleep(0.02)

    def _ask(self, question: str) -> dict[str, object]:
        self._telemetry.send(question.encode())
        answer = json.loads(self._telemetry.recv(16384))
        result: dict[str, object] = answer[question.split(",")[0]]
        return result

    def _packets(self) -> tuple[int, int]:
        stats = [self._ask(f"/ethdev/stats,{port}") for port in (0, 1)]
        return sum(int(str(s["ipackets"])) for s in stats), sum(int(str(s["opackets"])) for s in stats)

    def _command(self, text: str) -> None:
        if self._process.stdin is None or self._process.poll() is not None:
            raise GeneratorError(f"testpmd {self.options.name} ended", observed=self._tail())
        self._process.stdin.write(text.encode() + b"\n")
        self._process.stdin.flush()

    def _tail(self) -> str:
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-12:])


def both(pattern: str) -> tuple[str, str]:
    """Return a pattern with `{i}` for port 0 and port 1."""
    return pattern.format(i=0), pattern.format(i=1)


def received_by(options: Sequence[TestpmdOptions], directory: Path, duration_s: float) -> tuple[float, float]:
    """Start testpmds one after the other and return what the last of them receives.

    Returns:
        Frames/s, and the share of the time in which others wanted a CPU.
    """
    running: list[Testpmd] = []
    try:
        running += [Testpmd(one, directory) for one in options]
        running[-1].wait_for_links()
        for one in running[::-1]:
            one.start()
        pressure = Pressure()
        return running[-1].rates_pps(duration_s)[0], pressure.share()
    finally:
        for one in running[::-1]:
            one.close()
