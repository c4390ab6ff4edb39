"""A private Open vSwitch in a workspace: its own database, sockets, logs, hugepages and network namespace.

Nothing of it is in /run/openvswitch, /etc/openvswitch or /var/log/openvswitch: an Open vSwitch that is in use on the
machine is neither seen nor touched. Both daemons run in the foreground, so that their workspace ends them.
"""

import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nfvbed.dataplanes.ovs.binaries import OvsBinaries
from nfvbed.dataplanes.ovs.database import SwitchDatabase
from nfvbed.errors import DeployError
from nfvbed.host.ledger.processes import ManagedProcess, check_alive
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.patience import patient

SERVER = "ovsdb-server"
SWITCH = "ovs-vswitchd"
PATIENCE_S = patient(10.0)

_CONSOLE_ONLY = ("-vconsole:info", "-vsyslog:off", "-vfile:off")
"""The workspace keeps what they write on their console; the system's log is none of their business."""


@dataclass(frozen=True)
class DpdkSettings:
    """DPDK's settings inside the switch."""

    socket_memory_mib: int
    hugepages: Path
    pmd_cores: tuple[int, ...]
    main_core: int
    memory_nodes: tuple[int, ...] = ()
    """NUMA nodes that each have `socket_memory_mib`; none: as on a machine with one."""
    devices: tuple[str, ...] = ()
    """PCI addresses of the network ports that it may take; none: it does not look at the bus."""

    @property
    def memory_by_node(self) -> str:
        """`dpdk-socket-mem`: a figure in MiB for each NUMA node, from node 0 on."""
        if not self.memory_nodes:
            return str(self.socket_memory_mib)
        nodes = range(self.memory_nodes[-1] + 1)
        return ",".join(str(self.socket_memory_mib if node in self.memory_nodes else 0) for node in nodes)

    @property
    def bus(self) -> str:
        """DPDK's arguments for the devices that it may take."""
        return " ".join(f"--allow={address}" for address in self.devices) or "--no-pci --iova-mode=va"


class OvsInstance:
    """One ovsdb-server and one ovs-vswitchd, started step by step, in the order of the methods."""

    def __init__(
        self,
        workspace: Workspace,
        binaries: OvsBinaries,
        control_cores: Sequence[int],
        name: str = "",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Name the files and processes of the instance; nothing is started.

        Args:
            control_cores: where the threads may run that do not poll.
            name: distinguishes several instances in one workspace: it is part of the directory and the process names.
            environment: variables of ovs-vswitchd beside those that keep it private.
        """
        self._workspace = workspace
        self._binaries = binaries
        self._cores = control_cores
        self._suffix = f"-{name}" if name else ""
        self._directory = workspace.directory / name
        self._directory.mkdir(exist_ok=True)
        self._environment = dict(environment or {})
        self._processes: list[ManagedProcess] = []

    @property
    def switch_name(self) -> str:
        """The name of ovs-vswitchd's process in the workspace."""
        return SWITCH + self._suffix

    @property
    def binaries(self) -> OvsBinaries:
        """The programs of both."""
        return self._binaries

    @property
    def database_socket(self) -> Path:
        """The socket of ovsdb-server."""
        return self._directory / "db.sock"

    @property
    def control_socket(self) -> Path:
        """The socket on which ovs-vswitchd takes commands."""
        return self._directory / "vswitchd.ctl"

    def management_socket(self, bridge: str) -> Path:
        """Return the socket on which a bridge speaks OpenFlow."""
        return self._directory / f"{bridge}.mgmt"

    def start_database(self) -> None:
        """Make an empty database and serve it.

        Raises:
            DeployError: it cannot be made, or its server does not come up.
        """
        file = self._directory / "conf.db"
        binaries = self._binaries
        argv = [*binaries.command(binaries.ovsdb_tool), "create", str(file), binaries.seen(binaries.schema)]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        if done.returncode:
            raise DeployError("the switch's database cannot be made", where=str(file), observed=done.stderr.strip())
        server = [*binaries.command(binaries.ovsdb_server), str(file), f"--remote=punix:{self.database_socket}"]
        server += [f"--pidfile={self._directory / 'ovsdb-server.pid'}", f"--unixctl={self._directory / 'ovsdb.ctl'}"]
        self._spawn(SERVER + self._suffix, [*server, *_CONSOLE_ONLY], netns=None)
        deadline = time.monotonic() + PATIENCE_S
        while not self.database_socket.is_socket():
            self.check()
            if time.monotonic() > deadline:
                raise DeployError(f"{SERVER} does not listen", where=str(self.database_socket), observed="no socket")
            time.sleep(0.005)

    def connect(self) -> SwitchDatabase:
        """Connect to the database."""
        return SwitchDatabase(self.database_socket, self.check)

    def start_switch(self, netns: str) -> ManagedProcess:
        """Start ovs-vswitchd. It reads its settings from the database, so they must be there."""
        argv = [*self._binaries.command(self._binaries.vswitchd), f"unix:{self.database_socket}"]
        argv += [f"--pidfile={self._directory / 'ovs-vswitchd.pid'}", f"--unixctl={self.control_socket}"]
        return self._spawn(self.switch_name, [*argv, *_CONSOLE_ONLY], netns=netns, more=self._environment)

    def check(self) -> None:
        """Check that what was started still runs.

        Raises:
            SwitchDiedError: one has ended; with its exit status and the last lines of its log.
        """
        for process in self._processes:
            check_alive(process)

    def _spawn(
        self, name: str, argv: list[str], netns: str | None, more: Mapping[str, str] | None = None
    ) -> ManagedProcess:
        environment = {**private_environment(self._directory, self._binaries), **(more or {})}
        process = self._workspace.spawn(name, argv, cores=self._cores, netns=netns, environment=environment)
        self._processes.append(process)
        return process


def settings(dpdk: DpdkSettings, file_prefix: str) -> dict[str, str]:
    """Return the switch's settings (`other_config`) that DPDK and the threads are started with."""
    return {
        "dpdk-init": "true",
        "dpdk-socket-mem": dpdk.memory_by_node,
        # The shared pool is sized for the largest there could be: making it for the first port that connects takes
        # seconds of the control core, in the middle of the first trials.
        "per-port-memory": "true",
        "dpdk-hugepage-dir": str(dpdk.hugepages),
        "dpdk-extra": f"{dpdk.bus} --file-prefix={file_prefix}",
        "dpdk-lcore-mask": core_mask((dpdk.main_core,)),
        **thread_settings(dpdk.pmd_cores),
    }


def thread_settings(pmd_cores: tuple[int, ...]) -> dict[str, str]:
    """Return the settings of the switch's threads.

    One handler and one revalidator thread: they have one core, and see only the first frame of each flow.
    """
    return {"pmd-cpu-mask": core_mask(pmd_cores), "n-handler-threads": "1", "n-revalidator-threads": "1"}


def core_mask(cores: tuple[int, ...]) -> str:
    """Return cores as the hexadecimal mask that Open vSwitch reads."""
    return hex(sum(1 << core for core in cores))


def private_environment(directory: Path, binaries: OvsBinaries) -> Mapping[str, str]:
    """Return the environment that keeps Open vSwitch and DPDK inside a run directory."""
    inside = str(directory)
    return {
        "OVS_RUNDIR": inside,
        "OVS_LOGDIR": inside,
        "OVS_DBDIR": inside,
        "OVS_SYSCONFDIR": inside,
        "OVS_PKGDATADIR": str(Path(binaries.seen(binaries.schema)).parent),
        "RUNTIME_DIRECTORY": inside,
        "XDG_RUNTIME_DIR": inside,
    }
