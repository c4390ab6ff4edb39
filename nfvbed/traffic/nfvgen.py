"""The client of nfvgen, nfvbed's own generator: starts it, asks for trials, and turns its counts into results.

The data cores must not be disturbed: during a trial the client sleeps in one `select` that wakes when the
generator closes the connection, and asks for the counts only when all frames are due to have been sent.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import ValidationError

from nfvbed.errors import ConfigurationError, GeneratorError
from nfvbed.records import Engine, GeneratorPort, Sessions
from nfvbed.traffic.generator import Generator, GeneratorInfo, TrafficRequest, TrafficResult
from nfvbed.traffic.nfvgen_channel import unexpected_answer
from nfvbed.traffic.nfvgen_control import ControlPath, GeneratorProcess, NfvgenControl
from nfvbed.traffic.nfvgen_protocol import (
    Answer,
    ErrorBody,
    HelloResult,
    Message,
    StatsResult,
    TrialMessage,
    addressing_keys,
)
from nfvbed.traffic.nfvgen_words import refusal, result_of, start_message
from nfvbed.units import GTPU_BYTES, NS_PER_S, frame_mix

NOTHING_LATE_NS = 12_000_000
"""After the last frame was sent a trial that misses none may have ended, long before the drain's time is over: nfvgen
leaves its core for 2 ms before a trial, waits until learning frames have gone by, and ends after 2 ms of silence."""
CHECKS, STAMPS, SESSIONS = "checksum", "latency", "sessions"
"""Capabilities of looking at frames, of stamping them, and of mirroring the five-tuples of the directions."""
END_INTERVAL_S = 0.004
"""Between looks whether a trial that is due has ended: what it prepared before its first frame comes on top."""
MAX_SOCKET_PATH_BYTES = 107
"""sun_path of unix(7), without its terminating zero."""

M = TypeVar("M", bound=Message)


Spawn = Callable[[Sequence[str]], GeneratorProcess]
"""Starts an argument list; the caller decides namespace, cgroup and cores."""


@dataclass(frozen=True)
class NfvgenOptions:
    """The options of nfvgen's start."""

    program: ClassVar[str] = "nfvgen"
    """Its name, for messages."""
    binary: Path
    engine: Literal["dpdk", "xdp"]
    ports: tuple[GeneratorPort, GeneratorPort]
    core: int
    socket_path: Path
    sink_core: int | None = None
    """xdp only: where the receive work of the ports runs."""
    memory_mib: int = 256
    file_prefix: str = ""
    hugepage_dir: Path | None = None
    burst: int = 64
    queue_size: int = 1024
    mbufs: int = 16384
    queues: int = 1
    """dpdk only: that it sends on, of either port."""
    more_cores: tuple[int, ...] = ()
    """Beside `core`; fewer than queues, which are dealt out to all of them."""
    yield_when_idle: bool = False
    """dpdk only: give the core away regularly, as another program that polls shares it."""
    destination_macs: tuple[str, str] | None = None
    """Destinations of frames sent from port 0 and port 1; None: the address of the port that they are for."""
    destination_mac_count: int = 1
    """1, 2, 4 or 8: flows go in turn to so many addresses, which differ in their last byte."""
    drain_ns: int = 50_000_000
    start_timeout_s: float = 30.0
    """Opening virtio-user ports waits for the other side; hugepages have to be cleared."""
    grace_s: float = 10.0
    """How much longer than asked a trial may take before the generator counts as stuck."""

    def argv(self) -> list[str]:
        """Return the command line."""
        cores = ",".join(map(str, (self.core, *self.more_cores)))
        argv = [str(self.binary), "--engine", self.engine, "--socket", str(self.socket_path), "--core", cores]
        for port in self.ports:
            argv += ["--port", port.spec]
        argv += ["--burst", str(self.burst), "--queue-size", str(self.queue_size)]
        if self.engine == "xdp":
            return argv + (["--sink-core", str(self.sink_core)] if self.sink_core is not None else [])
        if self.queues > 1:
            argv += ["--queues", str(self.queues)]
        argv += ["--memory-mib", str(self.memory_mib), "--mbufs", str(self.mbufs)]
        if self.file_prefix:
            argv += ["--file-prefix", self.file_prefix]
        if self.hugepage_dir is not None:
            argv += ["--hugepage-dir", str(self.hugepage_dir)]
        return argv + (["--yield"] if self.yield_when_idle else [])


class NfvgenClient(Generator):
    """A client of nfvgen on two ports. The process starts with the constructor and ends with `close`.

    Args:
        wait: wait until it is ready; else `wait_until_ready` is called before anything is asked of it.
        way: way to its socket; None: it is on this machine.

    Raises:
        GeneratorError: it ended before it was ready, or was not ready in time; nothing is left running.
    """

    def __init__(
        self, options: NfvgenOptions, spawn: Spawn, *, wait: bool = True, way: ControlPath | None = None
    ) -> None:
        self.ports = options.ports
        self._options = options
        self._closed = False
        _check_socket_path(options.socket_path)
        where = str(options.socket_path)
        self._control = NfvgenControl(
            spawn(options.argv()), way or ControlPath.to_socket(options.socket_path), where, options.program
        )
        self._deadline = time.monotonic() + options.start_timeout_s
        if wait:
            self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Wait until nfvgen has opened its ports and answers; idempotent.

        Raises:
            GeneratorError: it ended before it was ready, or was not ready in time; nothing is left running.
        """
        if self._control.is_open or self._closed:
            return
        try:
            self._control.open(self._deadline, self._options.start_timeout_s)
            self._hello = self._ask_hello()
        except BaseException:
            self.close()
            raise

    def hello(self) -> GeneratorInfo:
        """Return the generator's description; links may have changed since it started."""
        self._hello = hello = self._ask_hello()
        return GeneratorInfo(
            engine=Engine(name=f"{hello.name}-{hello.engine}", version=_version(hello)),
            pid=hello.pid if self._control.way.is_here else 0,
            thread_id=hello.thread_id if self._control.way.is_here else 0,
            core=hello.core,
            more_threads=_further_threads(hello) if self._control.way.is_here else (),
            tsc_hz=hello.tsc_hz,
            min_frame_size_bytes=hello.min_frame_size_bytes,
            max_frame_size_bytes=hello.max_frame_size_bytes,
            max_flows=hello.max_flows,
            link_up=(hello.ports[0].link == "up", hello.ports[1].link == "up"),
            mirrors=SESSIONS in hello.capabilities,
            raw=hello.model_dump(),
        )

    def run(self, request: TrafficRequest) -> TrafficResult:
        """Run one trial to its end.

        Raises:
            ConfigurationError: the generator cannot send this (frame size, flows, stack); nothing was sent.
            GeneratorError: it ended, refused, a port failed, or the trial did not end in time.
        """
        self._check_limits(request)
        before = self._control.reconnections
        self._result(self._control.ask("start", **self._start_keys(request)), "start", request)
        result = result_of(self._wait_for_end(request))
        return replace(result, reconnections=self._control.reconnections - before, checked=self._checks)

    @property
    def _checks(self) -> bool:
        return CHECKS in self._hello.capabilities

    def _start_keys(self, request: TrafficRequest) -> dict[str, Any]:
        keys = start_message(request, self._drain_ns(request)).model_dump() | addressing_keys(request.addressing)
        # Another generator that speaks the protocol may look at no frame, and stamp none.
        keys["check"] = keys["check"] and self._checks
        keys["stamp"] = keys["stamp"] and STAMPS in self._hello.capabilities
        if request.sessions is Sessions.MIRRORED:
            keys["sessions"] = request.sessions.value
        gateways = request.bearers.gateway_macs if request.bearers else None
        macs = gateways or self._options.destination_macs
        if macs is not None:
            keys["destination_macs"] = list(macs)
        if self._options.destination_mac_count > 1:
            keys["destination_mac_count"] = self._options.destination_mac_count
        return keys

    def close(self) -> None:
        """Ask the generator to quit, then end it for certain. Idempotent; never raises for a dead generator."""
        if self._closed:
            return
        self._closed = True
        try:
            self._control.quit()
        finally:
            self._control.process.stop()

    def _result(self, answer: Answer, command: str, request: TrafficRequest | None = None) -> dict[str, Any]:
        if answer.ok and answer.result is not None and answer.error is None:
            return answer.result
        if answer.error is None or answer.ok:
            raise GeneratorError(
                f"{self._options.program}'s answer to {command} has neither a result nor an error, or both",
                where=str(self._options.socket_path),
                fix="build the generator of this version of nfvbed",
            )
        raise refusal(answer.error, command, request)

    def _ask_as(self, model: type[M], command: str) -> M:
        result = self._result(self._control.ask(command), command)
        try:
            return model.model_validate(result)
        except ValidationError as error:
            raise unexpected_answer(command, error, str(self._options.socket_path)) from error

    def _ask_hello(self) -> HelloResult:
        return self._ask_as(HelloResult, "hello")

    def _check_limits(self, request: TrafficRequest) -> None:
        low, high = self._hello.min_frame_size_bytes, self._hello.max_frame_size_bytes
        high -= GTPU_BYTES if request.bearers else 0
        for size, _ in frame_mix(request.frame_size):
            if not low <= size <= high:
                raise ConfigurationError(
                    f"frames of {size} bytes do not fit the generator",
                    where=f"{self._options.program}, engine {self._hello.engine}",
                    observed=f"it sends {low} to {high} bytes, FCS included",
                    fix=f"choose a frame size of {low} to {high} bytes, or a port kind of another engine",
                )
        if request.sessions is Sessions.MIRRORED and SESSIONS not in self._hello.capabilities:
            raise ConfigurationError(
                "the generator sends no mirrored sessions",
                where=f"{self._options.program}, engine {self._hello.engine}",
                observed=f"it can: {', '.join(self._hello.capabilities)}",
                fix="traffic: {sessions: unreplied}, or a generator that answers its own frames",
            )
        if not request.bearers and request.flows > self._hello.max_flows:
            raise ConfigurationError(
                f"{request.flows} flows are more than the generator has",
                where=f"{self._options.program}, engine {self._hello.engine}",
                observed=f"it sends 1 to {self._hello.max_flows} flows per direction",
            )

    def _drain_ns(self, request: TrafficRequest) -> int:
        return max(self._options.drain_ns, request.drain_ns or 0)

    def _wait_for_end(self, request: TrafficRequest) -> TrialMessage:
        longest_s = (request.total_ns + self._drain_ns(request)) / NS_PER_S
        deadline = time.monotonic() + longest_s + self._options.grace_s
        due = time.monotonic() + _expected_s(request, self._drain_ns(request))
        while True:
            # A connection that is lost and comes back ends the sleep before its time.
            self._control.sleep(max(due - time.monotonic(), 0))
            stats = self._ask_as(StatsResult, "stats")
            if stats.state == "failed":
                told = stats.error if isinstance(stats.error, ErrorBody) else None
                raise GeneratorError(
                    f"{self._options.program}'s trial failed",
                    where=self._control.where,
                    observed=(told.message if told else str(stats.error or "")) or "no reason given",
                    fix=told.fix if told else "",
                )
            if stats.state == "done" and stats.trial is not None:
                return stats.trial
            if stats.state != "running":
                observed = f"state {stats.state}"
                raise GeneratorError(
                    f"{self._options.program} lost its trial", where=self._control.where, observed=observed
                )
            if time.monotonic() > deadline:
                raise GeneratorError(
                    f"{self._options.program}'s trial of {longest_s:.3g} s did not end within"
                    f" {self._options.grace_s:g} s more",
                    where=self._control.where,
                    observed=f"still running after {stats.elapsed_ns / NS_PER_S:.3g} s",
                    fix="see whether its core is shared with another polling thread",
                )
            due = max(due, time.monotonic() + END_INTERVAL_S)


def _version(hello: HelloResult) -> str:
    """Return the program's and its engine's, and how its work is shared out where that was chosen."""
    version = f"{hello.version} ({hello.engine_version})"
    return f"{version}, a core for each port" if hello.engine == "xdp" and len(hello.cores) > 1 else version


def _further_threads(hello: HelloResult) -> tuple[tuple[int, int], ...]:
    return tuple(zip(hello.thread_ids, hello.cores, strict=False))[1:]


def _expected_s(request: TrafficRequest, drain_ns: int) -> float:
    sending_ns = request.total_ns
    if request.frames is not None and request.rate_pps:
        sending_ns = min(sending_ns, request.frames * NS_PER_S // request.rate_pps)
    elif request.frames is not None:
        sending_ns = 0
    return (sending_ns + min(drain_ns, NOTHING_LATE_NS)) / NS_PER_S


def _check_socket_path(path: Path) -> None:
    length = len(str(path).encode())
    if length > MAX_SOCKET_PATH_BYTES:
        raise GeneratorError(
            "the path of the generator's socket is too long for a Unix socket",
            where=str(path),
            observed=f"{length} bytes; {MAX_SOCKET_PATH_BYTES} fit",
            fix="choose a shorter run directory",
        )
