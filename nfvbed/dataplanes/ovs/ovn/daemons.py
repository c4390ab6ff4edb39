"""OVN's daemons in a workspace: both databases in one server, ovn-northd, and ovn-controller of one chassis."""

import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nfvbed import boundedcommand
from nfvbed.dataplanes.ovs.instance import private_environment
from nfvbed.dataplanes.ovs.ovn.binaries import OvnBinaries
from nfvbed.dataplanes.ovs.ovn.topology import Command, nbctl_arguments
from nfvbed.errors import DeployError
from nfvbed.host.ledger.processes import check_alive
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.patience import patient

DATABASES, NORTHD, CONTROLLER = "ovn-databases", "ovn-northd", "ovn-controller"
"""The processes, by their names in the workspace."""
CHASSIS = "nfvbed"
SYNC_S = 60
"""Time in which the rules of a chassis must follow the northbound database; many ACLs take tens of seconds."""
_QUIET = ("-vconsole:info", "-vsyslog:off", "-vfile:off")
_PATIENCE_S = patient(10.0)
_TOGETHER = 500
"""Commands of one transaction: a command line has a limit."""


@dataclass(frozen=True)
class OvnDaemons:
    """The daemons of one deployment."""

    workspace: Workspace
    binaries: OvnBinaries
    cores: Sequence[int]
    controllers: tuple[str, ...] = (CONTROLLER,)
    """Names of the processes of ovn-controller: one for each chassis."""

    @property
    def _directory(self) -> Path:
        return self.workspace.directory

    @property
    def socket(self) -> Path:
        """The socket of both databases."""
        return self._directory / "ovn.sock"

    def chassis_settings(self, bridge: str, chassis: str = CHASSIS, address: str = "127.0.0.1") -> dict[str, str]:
        """Return what ovn-controller reads of Open vSwitch (`external_ids`).

        Args:
            bridge: the integration bridge.
            chassis: its name.
            address: the end of tunnels to it; one that is alone has no tunnel.
        """
        return {
            "system-id": chassis,
            "ovn-bridge": bridge,
            "ovn-remote": f"unix:{self.socket}",
            "ovn-encap-type": "geneve",
            "ovn-encap-ip": address,
            "ovn-bridge-datapath-type": "netdev",
        }

    def start_databases(self) -> None:
        """Make both databases, serve them, and start ovn-northd.

        Raises:
            DeployError: they cannot be made, or the server does not listen.
        """
        switch, files = self.binaries.switch, []
        for name, schema in zip(("ovnnb", "ovnsb"), self.binaries.schemas, strict=True):
            file = self._directory / f"{name}.db"
            argv = [*switch.command(switch.ovsdb_tool), "create", str(file), switch.seen(schema)]
            done = subprocess.run(argv, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
            if done.returncode:
                raise DeployError("OVN's database cannot be made", where=str(file), observed=done.stderr.strip())
            files.append(str(file))
        server = [*switch.command(switch.ovsdb_server), *files, f"--remote=punix:{self.socket}"]
        self._spawn(DATABASES, [*server, f"--unixctl={self._directory / 'ovn-databases.ctl'}"])
        self._wait(self.socket.is_socket, "OVN's databases are not served")
        remote = f"unix:{self.socket}"
        northd = [*self.binaries.command(self.binaries.northd), f"--ovnnb-db={remote}", f"--ovnsb-db={remote}"]
        self._spawn(NORTHD, [*northd, f"--unixctl={self._directory / 'ovn-northd.ctl'}"])

    def start_controller(self, database: Path, netns: str, name: str = CONTROLLER) -> None:
        """Start ovn-controller.

        Args:
            database: socket of Open vSwitch's database, beside which its bridges have theirs.
            netns: path of the switch's network namespace.
            name: of the process.
        """
        argv = [*self.binaries.command(self.binaries.controller), f"unix:{database}"]
        self._spawn(name, argv, netns=netns, switch=database.parent)

    def write(self, found: Iterable[Command]) -> None:
        """Write a logical topology.

        Raises:
            DeployError: it is refused.
        """
        commands = list(found)
        for start in range(0, len(commands), _TOGETHER):
            self.change(nbctl_arguments(commands[start : start + _TOGETHER]))

    def change(self, arguments: Sequence[str]) -> None:
        """Write into the northbound database, and wait until the chassis has the rules.

        Args:
            arguments: of ovn-nbctl; several commands are one transaction.

        Raises:
            DeployError: it is refused, or the rules do not come in time.
        """
        words = [f"--db=unix:{self.socket}", "--no-leader-only", *arguments]
        argv = [*self.binaries.command(self.binaries.nbctl), *words]
        done = boundedcommand.run(argv, within_s=patient(float(SYNC_S)), environment=self._environment)
        if done.status:
            self.check()
            raise DeployError(
                "OVN's northbound database does not take the logical topology",
                where=" ".join(words[2:8]),
                observed=done.said,
                fix=f"see {NORTHD}.log and {CONTROLLER}.log in {self._directory}",
            )

    def synchronise(self, ports: Iterable[str]) -> None:
        """Wait until the chassis has the rules of what the northbound database holds.

        A database without a chassis is in step with all of them, so ports are waited for first.

        Args:
            ports: logical ports that the chassis must have.

        Raises:
            DeployError: it has not in time.
        """
        limit = f"--timeout={SYNC_S - 1}"
        waits = [["wait-until", "Logical_Switch_Port", port, "up=true"] for port in ports]
        self.change([limit, *nbctl_arguments(waits)])
        self.change(["--wait=hv", limit, "sync"])

    def check(self) -> None:
        """Check that all daemons live.

        Raises:
            SwitchDiedError: one has ended.
        """
        for name in (DATABASES, NORTHD, *self.controllers):
            check_alive(self.workspace.process(name))

    @property
    def _environment(self) -> Mapping[str, str]:
        inside = str(self._directory)
        own = {f"OVN_{name}": inside for name in ("RUNDIR", "LOGDIR", "DBDIR", "SYSCONFDIR")}
        return {**private_environment(self._directory, self.binaries.switch), **own, "LC_ALL": "C.UTF-8"}

    def _spawn(self, name: str, argv: Sequence[str], netns: str | None = None, switch: Path | None = None) -> None:
        # ovn-controller has its control socket in OVN_RUNDIR, and no option for it.
        words = [*argv, f"--pidfile={self._directory / f'{name}.pid'}", *_QUIET]
        environment = {**self._environment, "OVS_RUNDIR": str(switch or self._directory)}
        self.workspace.spawn(name, words, cores=self.cores, netns=netns, environment=environment)

    def _wait(self, holds: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + _PATIENCE_S
        while not holds():
            check_alive(self.workspace.process(DATABASES))
            if time.monotonic() > deadline:
                raise DeployError(what, where=str(self.socket), observed="no socket in time")
            time.sleep(0.005)
