"""OVN's daemons in a workspace: both databases in one server, ovn-northd, and ovn-controller of one chassis."""

import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nfvbed import boundedcommand
from nfvbed.dataplanes.ovs import databasecall
from nfvbed.dataplanes.ovs.instance import private_environment
from nfvbed.dataplanes.ovs.ovn.binaries import OvnBinaries
from nfvbed.dataplanes.ovs.ovn.topology import Acl, Command, insertions, nbctl_arguments
from nfvbed.errors import DeployError
from nfvbed.host.ledger.processes import check_alive
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.patience import patient

DATABASES, NORTHD, CONTROLLER = "ovn-databases", "ovn-northd", "ovn-controller"
"""The processes, by their names in the workspace."""
CHASSIS = "nfvbed"
SYNC_S = 60.0
"""Time in which a database must take a change, and a chassis' rules must follow it."""
_EACH_ACL_S = 0.01
"""More for each ACL."""
_QUIET = ("-vconsole:info", "-vsyslog:off", "-vfile:off")
_PATIENCE_S = patient(10.0)
_LOOK_S = 0.01
_NORTHBOUND, _SOUTHBOUND = "OVN_Northbound", "OVN_Southbound"
_ROWS_TOGETHER = 5_000
"""ACLs of one transaction."""
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

    def chassis_settings(
        self, bridge: str, chassis: str = CHASSIS, address: str = "127.0.0.1", datapath: str = "netdev"
    ) -> dict[str, str]:
        """Return what ovn-controller reads of Open vSwitch (`external_ids`).

        Args:
            bridge: the integration bridge.
            chassis: its name.
            address: the end of tunnels to it; one that is alone has no tunnel.
            datapath: type of the bridge's datapath.
        """
        return {
            "system-id": chassis,
            "ovn-bridge": bridge,
            "ovn-remote": f"unix:{self.socket}",
            "ovn-encap-type": "geneve",
            "ovn-encap-ip": address,
            "ovn-bridge-datapath-type": datapath,
        }

    def start_databases(self) -> None:
        """Make both databases, and serve them.

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
        self._wait(self.socket.is_socket, "OVN's databases are not served", _PATIENCE_S)

    def start_northd(self, acls: int) -> None:
        """Start ovn-northd and wait until the southbound database has its first row.

        It is started after the topology is written, so that it compiles all of it once. An ovn-controller that finds
        no such row ends (23.03).

        Args:
            acls: number of all ACLs, by which it takes longer.

        Raises:
            DeployError: it ends, or does not write in time.
        """
        remote = f"unix:{self.socket}"
        northd = [*self.binaries.command(self.binaries.northd), f"--ovnnb-db={remote}", f"--ovnsb-db={remote}"]
        self._spawn(NORTHD, [*northd, f"--unixctl={self._directory / 'ovn-northd.ctl'}"])
        what, within_s = f"ovn-northd has not compiled {acls:,} ACLs", _within_s(acls)
        self._wait(lambda: self._has_southbound(within_s), what, within_s)

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
            done = self._nbctl(nbctl_arguments(commands[start : start + _TOGETHER]), int(patient(SYNC_S)))
            if done.status:
                self._check_databases()
                raise DeployError(
                    "OVN's northbound database does not take the logical topology",
                    where=" ".join(commands[start]),
                    observed=done.said,
                    fix=f"see {DATABASES}.log in {self._directory}",
                )

    def add_acls(self, found: Iterable[Acl]) -> int:
        """Add ACLs to logical switches that are there, and return their number.

        ovn-nbctl would compare each with all that its switch has: on a busy machine 20,000 took more than six minutes.

        Raises:
            DeployError: the database refuses one.
        """
        rows = list(found)
        for start in range(0, len(rows), _ROWS_TOGETHER):
            operations = insertions(rows[start : start + _ROWS_TOGETHER])
            answers = self._transact(_within_s(len(rows)), _NORTHBOUND, *operations)
            refused = [answer for answer in answers if answer is None or "error" in answer]
            if refused:
                raise DeployError(
                    "OVN's northbound database does not take the ACLs", where=str(self.socket), observed=str(refused[0])
                )
        return len(rows)

    def _nbctl(self, arguments: Sequence[str], within_s: int) -> boundedcommand.ProgramEnd:
        words = [f"--db=unix:{self.socket}", "--no-leader-only", f"--timeout={within_s}", *arguments]
        argv = [*self.binaries.command(self.binaries.nbctl), *words]
        return boundedcommand.run(argv, within_s=within_s + _PATIENCE_S, environment=self._environment)

    def synchronise(self, ports: Iterable[str], acls: int) -> None:
        """Wait until the chassis has the rules of what the northbound database holds.

        A database without a chassis is in step with all of them, so ports are waited for first.

        Args:
            ports: logical ports that the chassis must have.
            acls: number of all ACLs, by which it takes longer.

        Raises:
            DeployError: it has not in time.
        """
        within_s = int(_within_s(acls))
        waits = [["wait-until", "Logical_Switch_Port", port, "up=true"] for port in ports]
        for arguments in (nbctl_arguments(waits), ["--wait=hv", "sync"]):
            done = self._nbctl(arguments, within_s)
            if done.status:
                self.check()
                raise DeployError(
                    f"the rules of {acls:,} ACLs are not on the chassis within {within_s} s",
                    where=" ".join(arguments[:4]),
                    observed=done.said,
                    fix=f"fewer ACLs (acl_rules); else see {NORTHD}.log and {self.controllers[0]}.log in"
                    f" {self._directory}",
                )

    def check(self) -> None:
        """Check that all daemons live.

        Raises:
            SwitchDiedError: one has ended.
        """
        for name in (DATABASES, NORTHD, *self.controllers):
            check_alive(self.workspace.process(name))

    def _transact(self, within_s: float, database: str, *operations: Mapping[str, Any]) -> list[dict[str, Any] | None]:
        """Return the results of operations (RFC 7047, 4.1.3); of one that fails, an error."""
        request = [database, *operations]
        found: list[dict[str, Any] | None] = databasecall.call(
            self.socket, "transact", request, self._check_databases, within_s
        )
        return found

    def _has_southbound(self, within_s: float) -> bool:
        check_alive(self.workspace.process(NORTHD))
        asked = {"op": "select", "table": "SB_Global", "where": [], "columns": ["_uuid"]}
        return any(answer and answer.get("rows") for answer in self._transact(within_s, _SOUTHBOUND, asked))

    def _check_databases(self) -> None:
        check_alive(self.workspace.process(DATABASES))

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

    def _wait(self, holds: Callable[[], bool], what: str, within_s: float) -> None:
        deadline = time.monotonic() + within_s
        while not holds():
            self._check_databases()
            if time.monotonic() > deadline:
                raise DeployError(what, where=str(self.socket), observed=f"not within {within_s:g} s")
            time.sleep(_LOOK_S)


def _within_s(acls: int) -> float:
    """Return the time that a step may take with so many ACLs."""
    return patient(SYNC_S + acls * _EACH_ACL_S)
