"""Forwarding by testpmd: over DPDK's own drivers, or over AF_PACKET beside the kernel's."""

import json
import os
import socket
import subprocess
import time

from agent import cpus, ethtool, hugepages
from agent.ports import Port, wait_up
from agent.program import read, run
from agent.refusal import Refusal

ENGINE = "testpmd"
_PREFIX = "vloop"
_TELEMETRY = f"/var/run/dpdk/{_PREFIX}/dpdk_telemetry.v2"
_COMMANDS, _LOG = "/run/testpmd.commands", "/run/testpmd.log"
_MODES = {"source": "flowgen", "sink": "rxonly", "raw": "io"}
_START_S, _STOP_S = 60.0, 10.0
_MBUF_CACHE = 250
_MBUF_BYTES = 2560
_BASE_MIB = 32
"""What testpmd takes beside its buffers: rings, tables."""


class Testpmd:
    """One running testpmd."""

    def __init__(self, ports: list[Port], request: dict) -> None:
        self.ports = ports
        self.request = request
        self._process: subprocess.Popen | None = None
        self._telemetry: socket.socket | None = None
        self._zero: list[dict] = []
        mode = request["mode"]
        self.over_kernel = mode == "raw" or request["driver"] == "af_packet"
        if request["driver"] == "auto" and not all(port.polls for port in ports):
            self.over_kernel = True
        forwarding, control = cpus.split(cpus.online(), cpus.isolated())
        self.control = control[0]
        self.workers = forwarding[: len(ports) * request["queues"]]
        self.alone = self.control not in self.workers

    def start(self) -> dict:
        """Start it, wait until its ports have started, and say what runs."""
        if self.over_kernel and self.request["queues"] > 1:
            raise Refusal("testpmd over AF_PACKET has one queue", observed=f"queues {self.request['queues']}")
        hugepages.provide(_BASE_MIB + self._mbufs() * _MBUF_BYTES // 2**20)
        offloads = self._prepare()
        with open(_COMMANDS, "w") as file:
            file.write(self.commands())
        with open(_LOG, "wb") as log:
            self._process = subprocess.Popen(self.arguments(), stdin=subprocess.PIPE, stdout=log, stderr=log)
        self._wait_started()
        if not self.alone:
            self._give_way()
        self._zero = self._raw_stats()
        return {
            "engine": ENGINE,
            "mode": self.request["mode"],
            "driver": "af_packet" if self.over_kernel else "dpdk",
            "cpus": self.workers,
            "queues": self.request["queues"],
            "ports": [{"mac": port.mac, "driver": port.driver} for port in self.ports],
            "offloads": offloads,
            "pid": self._process.pid,
        }

    def arguments(self) -> list[str]:
        """Return the command line."""
        request = self.request
        lcores = [f"0@{self.control}"] + [f"{place}@{cpu}" for place, cpu in enumerate(self.workers, 1)]
        argv = [
            "dpdk-testpmd",
            "--in-memory",
            f"--file-prefix={_PREFIX}",
            f"--lcores={','.join(lcores)}",
            "--main-lcore=0",
        ]
        if self.over_kernel:
            argv += ["--no-pci"]
            for place, port in enumerate(self.ports):
                argv += [
                    f"--vdev=net_af_packet{place},iface={port.name},qpairs=1,framesz=2048,blocksz=4096,framecnt=512"
                ]
        else:
            for port in self.ports:
                argv += ["-a", port.pci]
        argv += ["--", "-i", f"--cmdline-file={_COMMANDS}", f"--nb-cores={len(self.workers)}", "--no-lsc-interrupt"]
        argv += [f"--burst={request['burst']}", f"--rxq={request['queues']}", f"--txq={request['queues']}"]
        argv += [f"--rxd={request['descriptors']}", f"--txd={request['descriptors']}", f"--mbcache={_MBUF_CACHE}"]
        argv += [f"--total-num-mbufs={self._mbufs()}", "--disable-link-check"]
        # What arrives between the start of the ports and that of forwarding waits in the rings and is not thrown away.
        argv += ["--no-flush-rx"]
        # Room for a VLAN tag. The driver over AF_PACKET takes the kernel's own size and no other. Where the host limits
        # a virtio port's MTU, testpmd takes what the driver's largest packet has more than that for the header and asks
        # for an MTU below zero ("MTU (58830) > device max MTU (1500)"); without a length it asks for 1500.
        if not self.over_kernel and not any(port.limited for port in self.ports):
            argv += ["--max-pkt-len=1522"]
        if request["mode"] == "source":
            # flowgen takes the FCS off the size by itself.
            argv += [f"--txpkts={request['frame_size_bytes']}", f"--flowgen-flows={request['flows']}"]
        if len(self.ports) == 1:
            argv += ["--port-topology=loop"]
        argv += [f"--eth-peer={place},{mac}" for place, mac in enumerate(request["peers"])]
        return argv

    def commands(self) -> str:
        """Return what testpmd reads at its start."""
        mode = _MODES.get(self.request["mode"], self.request["mode"])
        retry = self.request["retry"]
        lines = [f"set fwd {mode} retry", f"set burst tx delay 1 retry {retry}"] if retry else [f"set fwd {mode}"]
        return "\n".join([*lines, "start", ""])

    def stats(self) -> list[dict]:
        """Return the ports' counters since the start. What testpmd itself drops it does not count here: None."""
        self.check()
        found = []
        for port, now, zero in zip(self.ports, self._raw_stats(), self._zero, strict=True):
            since = {key: now[key] - zero[key] for key in now}
            found.append(
                {
                    "mac": port.mac,
                    "rx_packets": since["ipackets"],
                    "tx_packets": since["opackets"],
                    "rx_bytes": since["ibytes"],
                    "tx_bytes": since["obytes"],
                    "rx_dropped": since["imissed"] + since["rx_nombuf"],
                    "tx_dropped": None,
                    "rx_errors": since["ierrors"],
                    "tx_errors": since["oerrors"],
                }
            )
        return found

    def check(self) -> None:
        """Refuse when testpmd has ended."""
        if self._process is None or self._process.poll() is not None:
            status = None if self._process is None else self._process.returncode
            raise Refusal("testpmd ended", where=_LOG, observed=f"exit {status}: {read(_LOG)[-600:]}")

    def stop(self) -> None:
        """End it in order, and give the ports back to the kernel."""
        if self._telemetry is not None:
            self._telemetry.close()
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            try:
                process.communicate(b"\nstop\nquit\n", timeout=_STOP_S)
            except (subprocess.TimeoutExpired, OSError):
                process.kill()
                process.wait()
        for port in self.ports:
            port.to_kernel()

    def _prepare(self) -> list | None:
        """Give the ports their driver; offloads are the kernel's, and None where it does not drive them."""
        if not self.over_kernel:
            for port in self.ports:
                port.to_dpdk()
            return None
        states = []
        for port in self.ports:
            port.to_kernel()
            run("ip", "link", "set", port.name, "promisc", "on", "up")
            states.append(ethtool.switch_all(port.name, self.request["offloads"]))
        for port in self.ports:
            wait_up(port.name)
        return states

    def _mbufs(self) -> int:
        request = self.request
        needed = len(self.ports) * request["queues"] * 2 * request["descriptors"]
        return needed + (len(self.workers) + 1) * (_MBUF_CACHE + request["burst"]) + 1024

    def _wait_started(self) -> None:
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            self.check()
            if self._connect() and all(self._ask(f"/ethdev/info,{n}").get("dev_started") for n in self._identifiers()):
                return
            time.sleep(0.05)
        raise Refusal("testpmd's ports did not start", where=_LOG, observed=read(_LOG)[-600:])

    def _identifiers(self) -> list[int]:
        listed = self._ask("/ethdev/list")
        # Before the ports are made the list is empty; -1 then asks for a port that is not there.
        return list(listed) if len(listed) == len(self.ports) else [-1]

    def _connect(self) -> bool:
        if self._telemetry is None:
            link = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            link.settimeout(10)
            try:
                link.connect(_TELEMETRY)
                link.recv(4096)
            except OSError:
                link.close()
                return False
            self._telemetry = link
        return True

    def _ask(self, command: str) -> dict:
        assert self._telemetry is not None
        try:
            self._telemetry.send(command.encode())
            answer = json.loads(self._telemetry.recv(65536))
        except (OSError, ValueError) as error:
            self.check()
            raise Refusal("testpmd's telemetry does not answer", where=command, observed=str(error)) from error
        return next(iter(answer.values())) or {}

    def _raw_stats(self) -> list[dict]:
        wanted = ("ipackets", "opackets", "ibytes", "obytes", "imissed", "rx_nombuf", "ierrors", "oerrors")
        return [{key: found[key] for key in wanted} for found in map(self._port_stats, range(len(self.ports)))]

    def _port_stats(self, place: int) -> dict:
        return self._ask(f"/ethdev/stats,{place}")

    def _give_way(self) -> None:
        """Where forwarding has no CPU of its own, run it only while nothing else wants to run there."""
        assert self._process is not None
        folder = f"/proc/{self._process.pid}/task"
        for thread in os.listdir(folder):
            if "worker" in read(f"{folder}/{thread}/comm"):
                os.sched_setscheduler(int(thread), os.SCHED_IDLE, os.sched_param(0))
