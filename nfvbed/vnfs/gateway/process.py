"""The gateway's process: started, waited for, asked, stopped. Its XDP programs leave the ports with it."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from nfvbed.errors import OnboardError, PrerequisiteError, SwitchDiedError, UnsupportedError, VnfDiedError
from nfvbed.host.ledger.processes import ManagedProcess, check_alive
from nfvbed.host.native import native_binary
from nfvbed.host.network.liveframes import try_xdp
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.patience import patient
from nfvbed.records import Record
from nfvbed.spec.bearers import BearerTable
from nfvbed.vnfs.gateway.client import GatewayClient
from nfvbed.vnfs.gateway.table import text_of

PROGRAMS = {"xdp": "nfvbed-xdp-gateway", "dpdk": "nfvbed-dpdk-gateway"}
"""By kind."""
NAME = "gateway"
"""Name of the process in its workspace."""
_PATIENCE_S = patient(10.0)
_LOOK_S = 0.005
_LOG_LINES = 12


class GatewaySpec(Record):
    """The arguments of a gateway's start."""

    kind: Literal["xdp", "dpdk"]
    s1u: str
    """Port to the eNB. xdp: a network device of the namespace. dpdk: a vdev with its arguments, or `pci:ADDRESS`, as
    nfvgen's ports are."""
    sgi: str
    """Port to the server."""
    sgi_address: str
    """The gateway's own on SGi; its address on S1-U is the table's `sgw`."""
    next_hop: str = ""
    """Whom frames to servers go to; empty: the table's server."""
    enb_mac: str = ""
    """Empty: asked for by ARP."""
    next_hop_mac: str = ""
    """Empty: asked for by ARP."""
    outer_checksum: bool = True
    """Whether UDP checksums of tunnel packets are written, as nextepc's are; without them they are 0."""
    netns: str | None = None
    """Path of the namespace that its ports are in; None: the host's."""
    core: int
    """Core of its process, which polls where it is DPDK's; XDP programs run where the ports receive."""
    macs: tuple[str, str] | None = None
    """dpdk only: its own at both ports; None: those that the drivers have."""
    memory_mib: int = 128
    """dpdk only."""
    hugepages: bool = True
    """dpdk only: without them the memory is ordinary, which vhost-user and memif cannot share."""
    mtu: int = Field(default=1964, ge=1280, le=1964)
    """dpdk only, in bytes: of packets that leave. More does not fit into one buffer."""
    yield_when_idle: bool = False
    """dpdk only: give the core away when nothing has come, as another program that polls shares it."""


@dataclass(frozen=True)
class RunningGateway:
    """One gateway in its workspace."""

    workspace: Workspace

    @property
    def client(self) -> GatewayClient:
        """The client that asks it, and changes its table."""
        return GatewayClient(_socket_of(self.workspace.directory))

    @property
    def process(self) -> ManagedProcess:
        """Its process, the one that was started last."""
        return self.workspace.process(NAME)

    def verify(self) -> None:
        """Check that the gateway lives.

        Raises:
            VnfDiedError: it has ended; with its exit status and the last lines of its log.
        """
        try:
            check_alive(self.process, "the gateway has ended, and its bearers with it")
        except SwitchDiedError as failure:
            raise VnfDiedError(
                failure.what, where=failure.where, observed=failure.observed, fix="start it again"
            ) from failure

    def stop(self) -> None:
        """End the gateway; idempotent."""
        self.process.stop()


@dataclass(frozen=True)
class Gateway(RunningGateway):
    """A gateway that is to be started."""

    spec: GatewaySpec

    def start(self, table: BearerTable) -> None:
        """Write the table's file, start the program and wait until its ports are open.

        Raises:
            VnfDiedError: it ended: the kernel refuses a program or a port; with its words.
            OnboardError: it does not answer in time.
            PrerequisiteError: it is not built, or there are too few hugepages.
        """
        directory = self.workspace.directory
        path = directory / f"{NAME}.table"
        path.write_text(text_of(table))
        argv = arguments(self.spec, table, directory)
        if self.spec.kind == "dpdk" and self.spec.hugepages:
            argv += ["--hugepage-dir", str(self.workspace.hugepages(self.spec.memory_mib)), "--file-prefix", NAME]
        process = self.workspace.spawn(NAME, argv, cores=(self.spec.core,), netns=self.spec.netns)
        deadline = time.monotonic() + _PATIENCE_S
        while not self.client.listens():
            self.verify()
            if time.monotonic() > deadline:
                raise OnboardError(
                    "the gateway does not come up",
                    where=str(process.log),
                    observed=process.log_tail(_LOG_LINES),
                    fix="see its log",
                )
            time.sleep(_LOOK_S)


def probe(kind: Literal["xdp", "dpdk"]) -> None:
    """Make sure that a kind of gateway can run here.

    Raises:
        PrerequisiteError: it is not built, or this is not root.
        UnsupportedError: the kernel has no XDP in native mode.
    """
    if os.geteuid() != 0:
        raise PrerequisiteError("XDP and hugepages need root", fix="run it with sudo")
    native_binary(PROGRAMS[kind])
    reason = try_xdp() if kind == "xdp" else ""
    if reason:
        raise UnsupportedError(f"gateway: {kind}", observed=reason, fix="a kernel that has it; or gateway: nextepc")


def arguments(spec: GatewaySpec, table: BearerTable, directory: Path) -> list[str]:
    """Return the program and its arguments."""
    next_hop = spec.next_hop or str(table.server)
    argv = [str(native_binary(PROGRAMS[spec.kind])), "--socket", str(_socket_of(directory))]
    argv += ["--table", str(directory / f"{NAME}.table"), "--s1u", spec.s1u, "--sgi", spec.sgi]
    argv += ["--s1u-address", str(table.sgw), "--sgi-address", spec.sgi_address]
    argv += ["--enb", ",".join(filter(None, (str(table.enb), spec.enb_mac)))]
    argv += ["--next-hop", ",".join(filter(None, (next_hop, spec.next_hop_mac)))]
    argv += [] if spec.outer_checksum else ["--no-outer-checksum"]
    return argv if spec.kind == "xdp" else [*argv, *_polling(spec)]


def _polling(spec: GatewaySpec) -> list[str]:
    argv = ["--core", str(spec.core), "--memory-mib", str(spec.memory_mib), "--mtu", str(spec.mtu)]
    argv += ["--s1u-mac", spec.macs[0], "--sgi-mac", spec.macs[1]] if spec.macs else []
    argv += [] if spec.hugepages else ["--no-huge"]
    return [*argv, "--yield"] if spec.yield_when_idle else argv


def _socket_of(directory: Path) -> Path:
    return directory / f"{NAME}.sock"
