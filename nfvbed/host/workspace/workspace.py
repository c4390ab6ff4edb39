"""The workspace: one deployment's run directory, namespaces, hugepages, cgroup and processes, all in its ledger."""

import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from nfvbed.errors import DeployError
from nfvbed.host import cgroups
from nfvbed.host.fitness import Fitness
from nfvbed.host.ledger import undo
from nfvbed.host.ledger.entries import CgroupEntry, DirectoryEntry, MountEntry, NetnsEntry, Owner, ProcessEntry
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.owner import this_process
from nfvbed.host.ledger.places import LEDGER_NAME, LIBXDP_DIRECTORY, RUN_DIRECTORY, UNBORN_PREFIX, make_run_directory
from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.host.ledger.spawn import spawn
from nfvbed.host.memory.hugepages import PAGE_KIB, HugepagePool
from nfvbed.host.native import native_binary
from nfvbed.host.network import namespaces
from nfvbed.signals import signals_held


class Workspace:
    """A deployment's things on this host: each is made through it, or recorded in its ledger beforehand."""

    def __init__(self, directory: Path, ledger: Ledger) -> None:
        self.directory = directory
        """Run directory, for sockets, databases and logs; removed with the workspace."""
        self.id = directory.name
        self.ledger = ledger
        self._processes: dict[str, ManagedProcess] = {}
        self.short_of_hugepages = False
        """Whether fewer could be reserved than were asked for."""

    @classmethod
    def create(cls, *, persistent: bool = False) -> "Workspace":
        """Make an empty workspace.

        Args:
            persistent: it and its processes outlive this nfvbed.
        """
        with signals_held():
            directory = _new_run_directory(this_process(persistent))
            return cls.attach(directory)

    @classmethod
    def attach(cls, directory: Path) -> "Workspace":
        """Open one that is deployed, also one that another nfvbed made.

        Raises:
            DeployError: it is gone.
        """
        try:
            ledger = Ledger.open(directory / LEDGER_NAME)
        except FileNotFoundError:
            raise DeployError("the deployment is gone", where=str(directory), fix="deploy it again") from None
        return cls(directory, ledger)

    @property
    def persistent(self) -> bool:
        """Whether it outlives the nfvbed that made it."""
        return self.ledger.owner.persistent

    def network_namespace(self, name: str) -> str:
        """Make a network namespace with its loopback up, and return its path. The name is used once per workspace."""
        if not namespaces.NETNS_DIRECTORY.is_dir():
            self.ledger.record(DirectoryEntry(path=str(namespaces.NETNS_DIRECTORY), shared=True))
            namespaces.NETNS_DIRECTORY.mkdir(mode=0o755, exist_ok=True)
        path = str(namespaces.NETNS_DIRECTORY / f"nfvbed-{self.id}-{name}")
        self.ledger.record(NetnsEntry(path=path))
        namespaces.create(path)
        return path

    def libxdp(self) -> None:
        """Record the directory that libxdp leaves behind, to be removed at the end; call it before the program starts.

        A directory from before stays, and so does one that others have put something into.
        """
        if not LIBXDP_DIRECTORY.is_dir():
            self.ledger.record(DirectoryEntry(path=str(LIBXDP_DIRECTORY), shared=True))

    def hugepages(self, mib: int, node: int | None = None, least_mib: int | None = None) -> Path:
        """Reserve this much hugepage memory, in addition to what earlier calls asked for, and mount it.

        Args:
            mib: rounded up to pages of 2 MiB.
            node: the NUMA node; None: any.
            least_mib: what will do where there is no more (then `short_of_hugepages` says so); None: all of it.

        Returns:
            The path of a private hugetlbfs whose size is limited to that.

        Raises:
            PrerequisiteError: there is too little.
        """
        pages = self._free_pages(mib, node, least_mib)
        target = self.directory / f"hugepages-{len(self._mounts())}"
        target.mkdir()
        self.ledger.record(MountEntry(path=str(target)))
        options = f"pagesize={PAGE_KIB}K,size={pages * PAGE_KIB}K,mode=0700"
        try:
            namespaces.mount("nfvbed", str(target), "hugetlbfs", options=options)
        except OSError as failure:
            raise DeployError("hugetlbfs cannot be mounted", where=str(target), observed=str(failure)) from failure
        return target

    def reserve_hugepages(self, mib: int, least_mib: int | None = None, node: int | None = None) -> None:
        """Reserve this much hugepage memory for a program that takes it without a mount, right after this call.

        Args:
            least_mib: what will do where there is no more; None: all of it.
            node: the NUMA node; None: any.

        Raises:
            PrerequisiteError: there is too little.
        """
        self._free_pages(mib, node, least_mib)

    def _free_pages(self, mib: int, node: int | None, least_mib: int | None) -> int:
        """Enlarge the pool where needed; return how many pages there are for the caller."""
        wanted, least = (-(-size * 1024 // PAGE_KIB) for size in (mib, mib if least_mib is None else least_mib))
        # Free pages that an earlier mount of ours has not used yet are not free for this one.
        promised = self._promised_pages()
        pages = HugepagePool(node).ensure_free(wanted + promised, self.ledger, least + promised) - promised
        self.short_of_hugepages |= pages < wanted
        return pages

    def _mounts(self) -> list[MountEntry]:
        return [e for e in self.ledger.entries if isinstance(e, MountEntry)]

    def _promised_pages(self) -> int:
        hugetlb = [m for m in self._mounts() if Path(m.path).name.startswith("hugepages-")]
        return sum(os.statvfs(m.path).f_bfree for m in hugetlb)

    def cgroup(self) -> Path:
        """Make the workspace's cgroup, once, and return its directory."""
        path = cgroups.unified_mount() / f"nfvbed-{self.id}"
        if not path.is_dir():
            self.ledger.record(CgroupEntry(path=str(path)))
            path.mkdir(exist_ok=True)
        return path

    def spawn(
        self,
        name: str,
        argv: Sequence[str],
        *,
        cores: Sequence[int],
        netns: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> ManagedProcess:
        """Start a process in the workspace's cgroup, on these cores, with its output in `<directory>/<name>.log`.

        The terminal's Ctrl-C does not reach it: nfvbed ends it, in order. Unless the workspace is persistent, it is
        killed when nfvbed ends in any way. That is tied to the calling thread, so call this from the main thread.

        Args:
            name: unique in the workspace while the process lives; names the log and `process(name)`.
            argv: the program (found on PATH) and its arguments; it must stay in the foreground.
            netns: path of the network namespace; None: the host's.
            environment: variables on top of nfvbed's own.
        """
        log = self.directory / f"{name}.log"
        command = [str(native_binary("nfvbed-exec")), "--cgroup", str(self.cgroup())]
        command += ["--cores", ",".join(str(c) for c in cores)]
        command += ["--netns", netns] if netns else []
        command += [] if self.persistent else ["--die-with-parent"]
        process = spawn(name, [*command, "--", *argv], log, self.ledger, environment)
        self._processes[name] = process
        return process

    def process(self, name: str) -> ManagedProcess:
        """Find a process by the name it was started with, also one that another nfvbed started.

        Raises:
            DeployError: there is none of that name.
        """
        if name in self._processes:
            return self._processes[name]
        for entry in reversed(self.ledger.entries):
            if isinstance(entry, ProcessEntry) and entry.name == name:
                return ManagedProcess(name, entry.pid, entry.start_time, Path(entry.log))
        raise DeployError(f"no process {name!r} was started in this workspace", where=str(self.directory))

    def close(self) -> list[str]:
        """Undo everything; idempotent, not interrupted by Ctrl-C. Also where the run directory was taken away.

        Returns:
            What could not be removed and why; the ledger then stays for the next nfvbed.
        """
        with signals_held():
            if not self.directory.is_dir() and not self.ledger.entries:
                return []
            problems = self.ledger.undo_all()
            for process in self._processes.values():
                process.wait(0)
            problems += remove_run_directory(self.directory) if not problems else []
        return problems


def _new_run_directory(owner: Owner) -> Path:
    """Make a run directory that appears with its ledger in it, so that none is found without an owner."""
    while True:
        make_run_directory(RUN_DIRECTORY)
        unborn = RUN_DIRECTORY / f"{UNBORN_PREFIX}{owner.pid}-{owner.start_time}"
        try:
            unborn.mkdir(mode=0o700, exist_ok=True)
        except FileNotFoundError:
            continue  # another nfvbed has just removed the empty directory above
        Ledger.create(unborn / LEDGER_NAME, owner)
        return unborn.rename(RUN_DIRECTORY / secrets.token_hex(4))


def remove_run_directory(directory: Path) -> list[str]:
    """Remove a run directory whose ledger is undone, and `/run/nfvbed` when it is empty then."""

    try:
        undo.undo(DirectoryEntry(path=str(directory)))
        undo.undo(DirectoryEntry(path=str(RUN_DIRECTORY), shared=True))
    except (OSError, DeployError) as failure:
        return [f"directory {directory}: {failure}"]
    return []


def try_memory(hugepages_mib: int, least_mib: int | None = None) -> Fitness:
    """Reserve hugepages and release them again.

    Args:
        least_mib: what will do where there is no more; None: all of it.

    Returns:
        `limited` where there are fewer than wanted.

    Raises:
        PrerequisiteError: there are too few.
    """
    workspace = Workspace.create()
    try:
        workspace.hugepages(hugepages_mib, least_mib=least_mib)
        if not workspace.short_of_hugepages:
            return Fitness()
        pages = -(-hugepages_mib * 1024 // PAGE_KIB)
        reason = f"fewer hugepages than the {hugepages_mib} MiB that it asks for: results will say so"
        return Fitness(limited=True, reason=reason, fix=HugepagePool().how_to_have(pages))
    except OSError as failure:
        raise DeployError("hugepages cannot be reserved", observed=str(failure)) from failure
    finally:
        workspace.close()
