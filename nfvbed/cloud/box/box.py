"""A box from start to stop."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nfvbed.cloud.box import cables, furnish, keys, prechecks, registry, switch
from nfvbed.cloud.box.layout import OVERLAY, SWITCH, BoxLayout, layout_of
from nfvbed.cloud.box.machine import Machine
from nfvbed.cloud.box.places import IMAGES_DIRECTORY, PULLED_DIRECTORY, BoxPlaces, RootPlaces
from nfvbed.cloud.box.root import MachineRoot
from nfvbed.cloud.devcloud.stages import Progress, Stage, StageRecord, run_stages
from nfvbed.errors import DeployError, PrerequisiteError
from nfvbed.host.ledger.entries import DirectoryEntry, HugepagesEntry
from nfvbed.host.ledger.hostlock import HostLock
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.owner import this_process
from nfvbed.host.ledger.places import LEDGER_NAME
from nfvbed.host.ledger.poollock import persistent_pages
from nfvbed.host.memory.hugepages import PAGE_KIB
from nfvbed.sharedcache import SharedCache
from nfvbed.signals import end_like_interrupt
from nfvbed.spec.site import KollaSiteSpec, SiteSpec

UNITS = ("ssh.service", "docker.service")
"""Those that run on a machine before it is used."""
_POOL = Path(f"/sys/kernel/mm/hugepages/hugepages-{PAGE_KIB}kB/nr_hugepages")


class Box:
    """The machines of a site on this machine; they outlive the commands that work on them."""

    def __init__(self, project_root: Path, layout: BoxLayout) -> None:
        self.places = BoxPlaces.of(project_root, layout.site)
        self.layout = layout
        self.root = MachineRoot(RootPlaces.of(project_root), SharedCache.from_environment())
        self.record = StageRecord(self.places.run / "stages.json")
        self._images = project_root.resolve() / (PULLED_DIRECTORY if layout.pulls else IMAGES_DIRECTORY)
        self._ledger: Ledger | None = None

    def find(self, name: str) -> Machine | None:
        """Return a machine, or the switch, that runs; None: it does not."""
        ledger = self._open_ledger()
        return None if ledger is None else Machine.find(self.places.machine(name), ledger.entries)

    def machine(self, name: str) -> Machine:
        """Return a machine, or the switch.

        Raises:
            DeployError: it does not run.
        """
        found = self.find(name)
        if found is None:
            raise DeployError(
                f"machine {name} of site {self.layout.site} does not run",
                where=str(self.places.directory),
                observed="the box is down" if self._open_ledger() is None else "its processes have ended",
                fix=f"nfvbed rack start --site {self.layout.site}",
            )
        return found

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all machines, the switch first."""
        return (SWITCH, *(machine.name for machine in self.layout.machines))

    def is_up(self) -> bool:
        """Return whether every machine runs, and every stage of the start was done."""
        if any(self.find(name) is None for name in self.names):
            return False
        done = self.record.done()
        return all(stage.name in done for stage in self._stages())

    def require_space(self) -> str:
        """Return the path of the network namespace from which the machines are reached.

        Raises:
            PrerequisiteError: the box is not up.
        """
        found = self.find(SWITCH)
        if found is None or not self.is_up():
            missing = [name for name in self.names if self.find(name) is None]
            raise PrerequisiteError(
                f"the machines of site {self.layout.site} are not up",
                where=str(self.places.directory),
                observed=f"not running: {', '.join(missing)}" if missing else "the last start did not end",
                fix=f"nfvbed rack start --site {self.layout.site}",
            )
        return found.space

    def set_tunnel_address(self, name: str, address: str) -> None:
        """Set a machine's own address in the network of tunnels.

        Args:
            address: with its prefix length; empty: the machine has no address of its own, as a bridge has it, or it has
                none at all.

        Raises:
            DeployError: the machine does not run.
        """
        space = self.machine(name).space
        if address:
            cables.set_address(OVERLAY, space, address)
        else:
            cables.take_address(OVERLAY, space)

    def require_host(self) -> None:
        """Refuse a host that cannot carry the box; nothing to do where machines of it run.

        Raises:
            PrerequisiteError: this machine has too little of something, all of which is named.
        """
        if all(self.find(name) is None for name in self.names):
            self.places.make()
            prechecks.require(self.places, self.root.ready(), self.layout.hugepages)

    def start(self, progress: Progress) -> dict[str, float]:
        """Start the box, or go on with a start that failed; return the seconds of each stage that ran.

        Raises:
            PrerequisiteError: this machine has too little of something; nothing was changed.
            BusyError: another nfvbed starts or stops it.
            DeployError: a stage failed.
        """
        self.require_host()
        self.places.make()
        with self._locked():
            if all(self.find(name) is None for name in self.names):
                self._clear()
            return run_stages(self._stages(), self.record, progress, self.places.durations)

    def stop(self) -> bool:
        """End the machines, and remove what they have written; keys and logs stay. Return whether there was a box.

        Raises:
            DeployError: something could not be removed.
        """
        if not self.places.run.is_dir() and not self.places.machines.is_dir():
            return False
        with self._locked():
            existed = self._open_ledger() is not None or self.places.machines.is_dir()
            self._clear()
        return existed

    def foresee(self) -> tuple[str, ...]:
        """Return lines about what a start would do; nothing is changed."""
        done = self.record.done() if self.find(SWITCH) is not None else {}
        states = [(s, "done already" if s.lasting and s.name in done else "to do") for s in self._stages()]
        return tuple(f"{stage.name:12} {state:13} {stage.summary}" for stage, state in states)

    def _stages(self) -> list[Stage]:
        names = ", ".join(machine.name for machine in self.layout.machines)
        return [
            Stage("root", "Debian packages of the machines", self.root.build),
            Stage("machines", f"{SWITCH}, {names}", self._start_machines, lasting=False),
            Stage("boot", "systemd, sshd, container engines", self._wait, lasting=False),
            Stage("cables", "cables, and the bridge of management", self._lay_cables, lasting=False),
            Stage("switch", "bridges and ports of Open vSwitch, the registry", self._configure, lasting=False),
        ]

    def _start_machines(self) -> str:
        ledger = self._open_ledger() or self._new_ledger()
        keys.make_key(self.places)
        started = [name for name in self.names if self._start_machine(name, ledger)]
        addresses = {machine.name: machine.address for machine in self.layout.machines}
        keys.write_known_hosts(self.places, addresses)
        return f"started {', '.join(started)}" if started else "all run"

    def _new_ledger(self) -> Ledger:
        ledger = self._ledger = Ledger.create(self.places.run / LEDGER_NAME, this_process(persistent=True))
        ledger.record(DirectoryEntry(path=str(self.places.machines)))
        if self.layout.hugepages and _POOL.exists():
            # The machines' own service raises the kernel's one pool to what they ask for; stopping takes that back.
            before = persistent_pages(_POOL)
            added = self.layout.hugepages
            ledger.record(HugepagesEntry(path=str(_POOL), page_kib=PAGE_KIB, node=None, previous=before, added=added))
        return ledger

    def _start_machine(self, name: str, ledger: Ledger) -> bool:
        """Start a machine that does not run; return whether it was started."""
        if self.find(name) is not None:
            return False
        places = self.places.machine(name)
        places.layer.mkdir(parents=True, exist_ok=True)
        hosts = {machine.name: machine.address for machine in self.layout.machines}
        if not places.docker.is_dir():
            furnish.furnish_layer(places.layer, name, hosts, os.uname().release)
        binds = list[tuple[Path, str]]()
        if name == SWITCH:
            registry.furnish(places.layer)
            self._images.mkdir(mode=0o700, parents=True, exist_ok=True)
            binds = [(self._images, registry.IMAGES)]
        else:
            keys.furnish(self.places, name)
        Machine.start(places, self.root.path, ledger, binds)
        return True

    def _lay_cables(self) -> str:
        found, laid = self.machine(SWITCH), 0
        cables.make_management(self.layout, found.space)
        for place, (name, cable) in enumerate(self.layout.cables):
            space = self.machine(name).space
            if not cables.is_laid(cable, space):
                switch.forget_port(found, cable)
                cables.lay(cable, place, space, found.space)
                laid += 1
        return f"{laid} laid" if laid else "all are there"

    def _wait(self) -> str:
        self.machine(SWITCH).wait_until_booted(switch.UNITS)
        for machine in self.layout.machines:
            self.machine(machine.name).wait_until_booted(UNITS)
        return ""

    def _configure(self) -> str:
        found = self.machine(SWITCH)
        switch.configure(self.layout, found)
        return f"{len(registry.repositories(self.layout, found.space))} images at {self.layout.registry}"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        end_like_interrupt()
        lock = HostLock(self.places.run)
        lock.acquire()
        self._ledger = None
        try:
            yield
        finally:
            lock.release()

    def _open_ledger(self) -> Ledger | None:
        if self._ledger is None and (self.places.run / LEDGER_NAME).is_file():
            self._ledger = Ledger.open(self.places.run / LEDGER_NAME)
        return self._ledger

    def _clear(self) -> None:
        """Undo what a box has made on this machine, whether it runs or was killed."""
        ledger = self._open_ledger()
        problems = [] if ledger is None else ledger.undo_all()
        if problems:
            raise DeployError(
                f"not everything of the box of site {self.layout.site} could be removed",
                where=str(self.places.directory),
                observed="; ".join(problems),
                fix=f"nfvbed rack stop --site {self.layout.site} again",
            )
        shutil.rmtree(self.places.machines, ignore_errors=True)
        for path in self.places.run.iterdir() if self.places.run.is_dir() else ():
            if path.name != "lock":
                path.unlink()
        self._ledger = None


def find_box(spec: SiteSpec, project_root: Path) -> Box | None:
    """Return the box of a site, whether it is up or not; None: the site has none.

    Raises:
        ConfigurationError: the site's file describes what no box can have.
    """
    if isinstance(spec, KollaSiteSpec) and spec.is_box:
        return Box(project_root, layout_of(spec))
    return None
