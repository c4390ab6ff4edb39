"""The VPP of a compute node: the user's own program, with this machine's files, in the node's network namespace.

A node does not have the machine's packages, and VPP's libraries are among these. VPP's sockets and those of guests are
in the folder that both see; VPP finds it through `/proc`, as socket names must be short.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from nfvbed.cloud.devcloud.links import generator_space, space
from nfvbed.cloud.devcloud.nodes.inside import file_in
from nfvbed.cloud.devcloud.nodes.node import Node
from nfvbed.cloud.devcloud.places import write_private
from nfvbed.cloud.devcloud.services.computes import DATA, MGMT, OutsideSwitch
from nfvbed.dataplanes.vpp import binaries
from nfvbed.dataplanes.vpp.adapter import buffer_mib
from nfvbed.dataplanes.vpp.api import VppApi
from nfvbed.dataplanes.vpp.neutron_vpp.names import API, FOLDER, SETTINGS, AgentSettings, Uplink
from nfvbed.dataplanes.vpp.options import VppOptions
from nfvbed.dataplanes.vpp.startup import API_SOCKET, CLI_SOCKET, FILE_NAME, STATISTICS_SOCKET, StartupSettings, render
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.ledger.entries import ProcessEntry, SharedMemoryEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.processes import ManagedProcess, check_alive
from nfvbed.host.ledger.spawn import spawn
from nfvbed.host.memory.hugepages import PAGE_KIB, HugepagePool

NAME = "vpp"
"""Name of its log, and in what the cloud says of its processes."""
UPLINK_SOCKETS = dict(zip(DATA, ("gen0.sock", "gen1.sock"), strict=True))
"""Sockets of the generator's ports, by physical network, in the folder that node and machine share."""
_ENTRY = "switch-vpp"
_SETUP = "vpp-setup.json"


@dataclass(frozen=True)
class VppSetup:
    """How VPP is started, and the settings of its agent."""

    main_core: int
    worker_cores: tuple[int, ...]
    main_heap_mib: int
    buffers: int
    hugepages_mib: int
    uplinks: Mapping[str, Uplink]
    forwarding: str
    mac_table_size: int | None

    @classmethod
    def of(cls, options: VppOptions, cores: tuple[int, tuple[int, ...]]) -> "VppSetup":
        """Return the setup of a variant.

        Args:
            cores: cores of the main thread, and of the workers.
        """
        main_core, worker_cores = cores
        kind = "memif" if options.port_type == "memif" else "vhost-user"
        data = {name: Uplink(kind, socket, options.rx_queue_size) for name, socket in UPLINK_SOCKETS.items()}
        return cls(
            main_core=main_core,
            worker_cores=worker_cores,
            main_heap_mib=options.main_heap_mib,
            buffers=options.buffers,
            hugepages_mib=buffer_mib(options),
            uplinks={MGMT: Uplink("device", MGMT), **data},
            forwarding=options.forwarding,
            mac_table_size=options.mac_table_size,
        )

    @classmethod
    def last(cls, node: Node) -> "VppSetup":
        """Return how a node's VPP was last started; for a first start, what a variant without options has."""
        path = node.places.exchange / _SETUP
        if not path.exists():
            allowed = read_topology().allowed
            return cls.of(VppOptions(dataplane="vpp"), (allowed[-1], allowed[:1]))
        found = json.loads(path.read_text())
        uplinks = {name: Uplink(**one) for name, one in found.pop("uplinks").items()}
        return cls(uplinks=uplinks, worker_cores=tuple(found.pop("worker_cores")), **found)

    def text(self) -> str:
        """Return the setup as text that `last` reads."""
        return json.dumps(asdict(self))

    def agent(self, folder: Path) -> AgentSettings:
        """Return the agent's settings, with the folder of sockets as VPP sees it."""
        return AgentSettings(str(folder), self.uplinks, self.forwarding, self.mac_table_size)


class NodeVpp(OutsideSwitch):
    """VPP, as a node that starts needs it."""

    name = NAME
    title = "VPP"

    def find(self, node: Node, entries: Sequence[object]) -> ManagedProcess | None:
        """Return the node's VPP."""
        return find(node, entries)

    def start_again(self, node: Node, ledger: Ledger) -> None:
        """Start VPP as it was last started."""
        start(node, ledger, VppSetup.last(node))


def find(node: Node, entries: Sequence[object]) -> ManagedProcess | None:
    """Return a node's VPP, if it runs. A VPP in another node's namespace is left out."""
    for entry in reversed(entries):
        if isinstance(entry, ProcessEntry) and entry.name == _ENTRY:
            process = ManagedProcess(entry.name, entry.pid, entry.start_time, Path(entry.log))
            return process if process.alive() and _is_in(entry.pid, node) else None
    return None


def start(node: Node, ledger: Ledger, setup: VppSetup) -> bool:
    """Start VPP, after ending one with another setup; return whether it had to be started.

    Raises:
        PrerequisiteError: it is not there, or there are too few hugepages.
        SwitchDiedError: it ended at once.
    """
    program = binaries.locate()
    inside, exchange = file_in(node, str(FOLDER)), node.places.exchange
    settings = _startup(inside / "vpp", setup, _prefix(node))
    files = {
        exchange / "vpp" / FILE_NAME: render(settings),
        exchange / SETTINGS.name: setup.agent(inside).text(),
        exchange / _SETUP: setup.text(),
    }
    if find(node, ledger.entries) is not None and all(
        path.exists() and path.read_text() == files[path] for path in files
    ):
        return False
    stop(ledger)
    (exchange / "vpp").mkdir(exist_ok=True)
    for name in (API_SOCKET, CLI_SOCKET, STATISTICS_SOCKET):
        (exchange / "vpp" / name).unlink(missing_ok=True)
    for path, text in files.items():
        write_private(path, text)
    HugepagePool().ensure_free(setup.hugepages_mib * 1024 // PAGE_KIB, ledger)
    ledger.record(SharedMemoryEntry(prefix=f"{settings.prefix}-"))
    cores = ",".join(str(core) for core in sorted({setup.main_core, *setup.worker_cores}))
    argv = ["taskset", "--cpu-list", cores, "nsenter", f"--net={space(node)}", str(program)]
    argv += ["-c", str(inside / "vpp" / FILE_NAME)]
    process = spawn(_ENTRY, argv, node.places.logs / f"{NAME}.log", ledger)
    with VppApi(file_in(node, str(API)), lambda: check_alive(process, "VPP has ended")) as api:
        api.version()
    return True


def stop(ledger: Ledger) -> None:
    """End every VPP of the cloud."""
    for entry in ledger.entries:
        if isinstance(entry, ProcessEntry) and entry.name == _ENTRY:
            ManagedProcess(entry.name, entry.pid, entry.start_time, Path(entry.log)).stop()


def _startup(inside: Path, setup: VppSetup, prefix: str) -> StartupSettings:
    return StartupSettings(
        directory=inside,
        prefix=prefix,
        main_core=setup.main_core,
        worker_cores=setup.worker_cores,
        main_heap_mib=setup.main_heap_mib,
        buffers=setup.buffers,
    )


def _prefix(node: Node) -> str:
    """Return the prefix of its shared memory; each cloud of a machine has another one."""
    return Path(generator_space(node.places)).name


def _is_in(pid: int, node: Node) -> bool:
    """Return whether a process is in a node's network namespace."""
    try:
        return Path(f"/proc/{pid}/ns/net").readlink() == Path(space(node)).readlink()
    except OSError:
        return False
