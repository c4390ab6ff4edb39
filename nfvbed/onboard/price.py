"""What the remedy of the checksum trap costs: TCP through an ordinary VNF, offloads on and off, in turns.

Frames of a generator do not feel offloads; a stack does: without them every checksum is computed and every segment cut
before the VNF has it. What is turned off is what `offloads: false` turns off: the VNF's ports and the switch's that
lead to them. So the price is measured with iperf3 between the two ends of the path, each in a namespace of its own.
"""

import json
import os
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from pyroute2 import IPRoute

from nfvbed.deploy.lab import links
from nfvbed.deploy.lab.namespaces import inside
from nfvbed.deploy.lab.processes import ManagedProcess
from nfvbed.deploy.lab.workspace import Workspace
from nfvbed.errors import OnboardError
from nfvbed.records import Deployment, PortKind, Record

PROGRAM = "iperf3"
_ADDRESSES = ("198.18.0.1", "198.18.0.2")
_PREFIX = 30
_PATIENCE_S = 10.0

Ports = tuple[str, str]
"""A link's name and its namespace's path."""


class OffloadPrice(Record):
    """TCP goodput through the path, in bits/s, run by run in the order in which they were measured."""

    on_bits_per_s: tuple[int, ...]
    off_bits_per_s: tuple[int, ...]
    duration_s: float
    """Of one run."""

    @property
    def ratio(self) -> float:
        """Median without offloads over median with them."""
        return statistics.median(self.off_bits_per_s) / statistics.median(self.on_bits_per_s)


class OffloadPricer:
    """Measures on one deployment, whose second end it moves to a namespace of its own: destroy it afterwards.

    Args:
        deployment: with veth ports alone, frames going through it.
        workspace: what is made is made in it.
        cores: where iperf3's two sides run.
    """

    def __init__(self, deployment: Deployment, workspace: Workspace, cores: Sequence[int]) -> None:
        inner = [port.kind for ports in deployment.vnf_ports for port in ports]
        kinds = [*(port.kind for port in deployment.ports), *inner]
        if len(deployment.ports) != 2 or set(kinds) != {PortKind.VETH}:
            raise OnboardError(
                "the price of offloads is measured between kernel ports",
                where=f"{deployment.variant}, {deployment.topology}",
                observed=f"ports: {', '.join(kinds)}",
                fix="choose linux-bridge, and a VNF that is a process",
            )
        self._workspace = workspace
        self._cores = cores
        self._near = (deployment.ports[0].spec, deployment.ports[0].netns or "")
        self._far = (deployment.ports[1].spec, workspace.network_namespace("far"))
        inside(self._near[1], lambda: _move(self._far[0], self._far[1]))
        switch = deployment.control["switch_netns"]
        ports = [port for ports in deployment.vnf_ports for port in ports]
        # Those that `offloads: false` is about: the VNF's own, and the switch's that lead to it.
        self._of_vnfs: list[Ports] = [(port.address, port.netns or "") for port in ports]
        self._of_vnfs += [(port.name, switch) for port in ports]
        for (name, netns), address in zip((self._near, self._far), _ADDRESSES, strict=True):
            _prepare(name, netns, address)

    def measure(self, repeats: int, duration_s: float) -> OffloadPrice:
        """Measure in turns: on, off, on, off, ...

        Raises:
            OnboardError: iperf3 failed; the message holds its words.
        """
        found: dict[bool, list[int]] = {True: [], False: []}
        for number in range(repeats):
            for offloads in (True, False):
                for name, netns in self._of_vnfs:
                    _set(name, netns, offloads)
                found[offloads].append(self._run(f"{number}-{'on' if offloads else 'off'}", duration_s))
        return OffloadPrice(on_bits_per_s=tuple(found[True]), off_bits_per_s=tuple(found[False]), duration_s=duration_s)

    def _run(self, name: str, duration_s: float) -> int:
        server = self._start(f"iperf3-server-{name}", self._far[1], ["-s", "-1", "-B", _ADDRESSES[1]])
        _wait_for_listener(server)
        options = ["-c", _ADDRESSES[1], "-t", f"{duration_s:g}", "-J"]
        client = self._start(f"iperf3-client-{name}", self._near[1], options)
        status = client.wait(duration_s + _PATIENCE_S)
        server.stop()
        text = client.log.read_text(errors="replace")
        try:
            document = json.loads(text)
            return int(document["end"]["sum_received"]["bits_per_second"])
        except (ValueError, KeyError) as failure:
            raise OnboardError(
                "TCP does not get through the VNF",
                where=f"{PROGRAM} in {self._near[1]}",
                observed=f"exit status {status}: {text[-300:]}",
                fix="see whether the VNF forwards frames in both directions (nfvbed trace)",
            ) from failure

    def _start(self, name: str, netns: str, options: list[str]) -> ManagedProcess:
        return self._workspace.spawn(name, [PROGRAM, *options, "--forceflush"], cores=self._cores, netns=netns)


def _move(name: str, netns: str) -> None:
    handle = os.open(netns, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with IPRoute() as route:
            route.link("set", index=route.link_lookup(ifname=name)[0], net_ns_fd=handle)
    finally:
        os.close(handle)


def _prepare(name: str, netns: str, address: str) -> None:
    def work() -> None:
        links.silence_ipv6()
        links.set_up([name])
        with IPRoute() as route:
            route.addr("add", index=route.link_lookup(ifname=name)[0], address=address, prefixlen=_PREFIX)

    inside(netns, work)


def _set(name: str, netns: str, offloads: bool) -> None:
    inside(netns, lambda: links.set_features(name, dict.fromkeys(links.TRANSMIT_OFFLOADS, offloads)))


def _wait_for_listener(server: ManagedProcess) -> None:
    """Wait until it says so: a connection that comes too early is refused."""
    deadline = time.monotonic() + _PATIENCE_S
    while "Server listening" not in Path(server.log).read_text(errors="replace"):
        if not server.alive() or time.monotonic() > deadline:
            raise OnboardError(f"{PROGRAM} does not listen", where=str(server.log), observed=server.log_tail(3))
        time.sleep(0.01)
