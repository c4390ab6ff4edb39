"""One cloud from start to stop."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from nfvbed.cloud.devcloud import access, contents
from nfvbed.cloud.devcloud.bringup import BringUp
from nfvbed.cloud.devcloud.compute_node import ComputeNode
from nfvbed.cloud.devcloud.nodes.node import Node, NodeSpec, names_of
from nfvbed.cloud.devcloud.places import CONTROLLER, CloudPlaces, write_private
from nfvbed.cloud.devcloud.root import prechecks
from nfvbed.cloud.devcloud.root.build import PrivateRoot
from nfvbed.cloud.devcloud.seed import Seed
from nfvbed.cloud.devcloud.services.computes import ComputeKind
from nfvbed.cloud.devcloud.services.service import Mechanism
from nfvbed.cloud.devcloud.services.settings import LOOPBACK, PORTS, SWITCH_PAGES, CloudSettings, Secrets
from nfvbed.cloud.devcloud.stages import Progress, Stage, StageRecord, run_stages
from nfvbed.errors import DeployError
from nfvbed.host.ledger.entries import HugepagesEntry
from nfvbed.host.ledger.hostlock import HostLock
from nfvbed.host.ledger.ledger import Ledger
from nfvbed.host.ledger.owner import this_process
from nfvbed.host.ledger.places import LEDGER_NAME
from nfvbed.host.ledger.processes import ManagedProcess
from nfvbed.host.memory.hugepages import HugepagePool
from nfvbed.sharedcache import SharedCache
from nfvbed.signals import end_like_interrupt
from nfvbed.spec.flavor import Flavor

HUGEPAGES_MIB = 1280
"""512 MiB for the switch, which needs 30 for each port, the rest for guests: CirrOS has 256, vloop 768."""
_PAGE_MIB = 2
_GUEST_PAGES = "guest-pages"
"""File beside the ledger: the pages that the controller has for guests."""
_PORT_CHAINS = "port-chains"
"""File beside the ledger, where Neutron has networking-sfc."""
SWITCH_MIB = SWITCH_PAGES * _PAGE_MIB
GUESTS_MIB = HUGEPAGES_MIB - SWITCH_MIB
"""Memory of a compute node for guests (vloop, CirrOS), beside what its switch takes."""


class DevCloud:
    """A project's cloud, which outlives the commands that work on it.

    Args:
        kinds: kinds of the compute nodes that it can have.
        flavors: flavors that it gets when it is started.
        hugepages_mib: hugepage memory for a start, in MiB.
    """

    def __init__(
        self,
        project_root: Path,
        kinds: Iterable[ComputeKind],
        flavors: Sequence[Flavor] = (),
        hugepages_mib: int = HUGEPAGES_MIB,
    ) -> None:
        self.places = CloudPlaces.of(project_root)
        self.kinds = {kind.host: kind for kind in kinds}
        self.flavors = flavors
        self._hugepages_mib = hugepages_mib
        self.record = StageRecord(self.places.run / "stages.json")
        shared = SharedCache.from_environment()
        self.root = PrivateRoot(self.places, shared)
        self._seed = Seed(self.places, shared)
        self._ledger: Ledger | None = None
        self._bring_up: BringUp | None = None

    @property
    def guests_mib(self) -> int:
        """The controller's hugepage memory for guests, in MiB; of a stopped cloud: what it is started with."""
        pages = self.places.run / _GUEST_PAGES
        if pages.is_file() and self.find_node() is not None:
            return int(pages.read_text()) * _PAGE_MIB
        return max(0, self._hugepages_mib - SWITCH_MIB)

    def find_node(self) -> Node | None:
        """Return the controller, if it runs."""
        ledger = self._open_ledger()
        return None if ledger is None else Node.find(self.places.node(CONTROLLER), ledger.entries)

    def find_compute(self, host: str) -> Node | None:
        """Return a compute node, if it runs."""
        ledger = self._open_ledger()
        return None if ledger is None else Node.find(self.places.node(host), ledger.entries)

    def computes(self) -> tuple[str, ...]:
        """Return the names of the compute nodes beside the controller, whether they run or not."""
        ledger = self._open_ledger()
        return () if ledger is None else tuple(name for name in names_of(ledger.entries) if name != CONTROLLER)

    def start_compute(self, host: str, progress: Progress, guests_mib: int = GUESTS_MIB) -> dict[str, float]:
        """Start a compute node beside the controller, or what has ended of it; return the seconds of each stage.

        Args:
            host: one of its kinds.
            guests_mib: hugepage memory for its guests, in MiB; a running node keeps what it has.

        Raises:
            BusyError: another nfvbed is starting or stopping the cloud.
            DeployError: no cloud runs, or a stage failed.
        """
        self.places.make()
        with self._locked():
            stages = self._compute(host).stages(guests_mib)
            if self.kinds[host].mechanism.on_demand:
                summary = "Neutron's server with its mechanism driver"
                stages.insert(0, Stage(f"{host}/server", summary, partial(self._load, host), lasting=False))
            return run_stages(stages, self.record, progress, self.places.durations)

    def mechanisms(self, *more: str) -> tuple[Mechanism, ...]:
        """Return the mechanism drivers of Neutron's server: some are loaded only where their node was started.

        Args:
            more: hosts whose nodes are about to be started.
        """
        started = {*self.computes(), *more}
        kinds = self.kinds.values()
        return tuple(one.mechanism for one in kinds if not one.mechanism.on_demand or one.host in started)

    def start(self, progress: Progress, port_chains: bool = False) -> dict[str, float]:
        """Start the cloud, or continue a failed start; return the seconds of each stage that ran.

        Args:
            port_chains: whether Neutron gets networking-sfc, which it has until the cloud is stopped.

        Raises:
            PrerequisiteError: the machine has too little of something; nothing was changed.
            BusyError: another nfvbed is starting or stopping it.
            DeployError: a stage failed.
        """
        self.places.make()
        with self._locked():
            if self.find_node() is None:
                self._clear()
                prechecks.require(self.places, self.root.ready())
            taken = run_stages(self._stages(port_chains), self.record, progress, self.places.durations)
            for host in self.computes():
                taken |= run_stages(self._compute(host).stages(), self.record, progress, self.places.durations)
            return taken

    def foresee(self, port_chains: bool = False) -> tuple[str, ...]:
        """Return lines about what a start would do; nothing is changed."""
        done = self.record.done() if self.find_node() is not None else {}
        stages = self._stages(port_chains)
        for host in self.computes() if self.find_node() is not None else ():
            stages += self._compute(host).stages()
        states = [(s, "done already" if s.lasting and s.name in done else "to do") for s in stages]
        return tuple(f"{stage.name:21} {state:13} {stage.summary}" for stage, state in states)

    def find_outside(self, host: str) -> ManagedProcess | None:
        """Return the running switch of a compute node that is no service of it; None: there is none."""
        switch, ledger, node = self.kinds[host].outside, self._open_ledger(), self.find_compute(host)
        return None if switch is None or ledger is None or node is None else switch.find(node, ledger.entries)

    def require_compute(self, host: str) -> tuple[Node, Ledger]:
        """Return a compute node, and the ledger of what is started beside it.

        Raises:
            DeployError: it does not run.
        """
        ledger, node = self._open_ledger(), self.find_compute(host)
        if ledger is None or node is None:
            raise DeployError(f"node {host} does not run", where=host, fix="nfvbed devcloud start")
        return node, ledger

    def relay_runs(self, host: str = "") -> bool:
        """Return whether the APIs are relayed to this machine's loopback, or a compute node's."""
        ledger = self._open_ledger()
        return ledger is not None and access.relay_runs(ledger.entries, host)

    def hugepages_mib(self) -> int:
        """Return how much hugepage memory the cloud has added to this machine's pool, in MiB."""
        ledger = self._open_ledger()
        entries = () if ledger is None else ledger.entries
        return sum((e.granted or 0) * _PAGE_MIB for e in entries if isinstance(e, HugepagesEntry))

    def stop(self) -> bool:
        """Stop the cloud and remove what it has written, except packages, seed and logs; return whether there was one.

        Raises:
            DeployError: something could not be removed.
        """
        if not self.places.run.is_dir() and not self.places.node(CONTROLLER).layer.is_dir():
            return False
        with self._locked():
            self._clear()
        return True

    @contextmanager
    def _locked(self) -> Iterator[None]:
        end_like_interrupt()
        lock = HostLock(self.places.run)
        lock.acquire()
        try:
            yield
        finally:
            lock.release()

    def _stages(self, port_chains: bool = False) -> list[Stage]:
        summary = "Neutron's server and agent are to have networking-sfc"
        chains = [Stage("port chains", summary, self._add_port_chains, lasting=False)] if port_chains else []
        return [
            Stage("download", "Debian packages and Tacker", self.root.download),
            Stage("root", "packages unpacked into a private root", self.root.build),
            Stage("node", "namespaces, memory, addresses", self._start_node),
            Stage("relay", "the APIs' addresses on this machine's loopback", self._relay, lasting=False),
            *chains,
            Stage("configuration", "files of all services", lambda: self._work().configure(), lasting=False),
            Stage(
                "infrastructure",
                "MariaDB, RabbitMQ, Memcached, Open vSwitch, libvirt",
                lambda: self._work().infrastructure(),
                lasting=False,
            ),
            Stage("databases", "databases, migrations, Keystone's catalogue", lambda: self._work().databases()),
            Stage("seed", "databases kept for later starts", lambda: self._work().save_seed()),
            Stage(
                "apis",
                "Keystone, Glance, Placement, Nova, Neutron, Heat, Tacker",
                lambda: self._work().apis(),
                lasting=False,
            ),
            Stage("agents", "agents, compute, conductor", lambda: self._work().agents(), lasting=False),
            Stage("dashboard", "Horizon; every process runs", lambda: self._work().dashboard(), lasting=False),
            Stage("contents", "networks, flavors, CirrOS, Tacker's VIM", self._fill),
            Stage("access", "clouds.yaml", self._write_clouds, lasting=False),
        ]

    def _start_node(self) -> str:
        ledger = Ledger.create(self.places.run / LEDGER_NAME, this_process(persistent=True))
        self._ledger = ledger
        # Pages that are free now are about to be used by what had them made: the cloud, which stays, brings its own.
        if HugepagePool().enlarge(self._hugepages_mib // _PAGE_MIB, ledger) < self._hugepages_mib // _PAGE_MIB:
            HugepagePool().ensure_free(self._hugepages_mib // _PAGE_MIB, ledger)
        seeded = self._seed.usable() or self._seed.take()
        lower = (self._seed.layer, self.places.root) if seeded else (self.places.root,)
        node = self.places.node(CONTROLLER)
        spec = NodeSpec(node, lower, self._hugepages_mib, ((CONTROLLER, LOOPBACK),))
        Node.start(spec, ledger)
        (self.places.run / _GUEST_PAGES).write_text(str(self.guests_mib // _PAGE_MIB))
        (self.places.run / "seeded").write_text("yes" if seeded else "")
        return "with the seed" if seeded else "empty"

    def _fill(self) -> str:
        password = Secrets.open(self.places.secrets)("admin")
        return contents.fill(self._work().api, self.places.root, self.flavors, password)

    def _add_port_chains(self) -> str:
        """Note that Neutron has networking-sfc; what runs of it without is ended, and a later stage starts it again."""
        mark = self.places.run / _PORT_CHAINS
        if mark.exists():
            return "already"
        mark.touch()
        self._bring_up = None
        return self._work().end_neutron()

    def _load(self, host: str) -> str:
        """Have Neutron's server load what binds the ports of a node that is about to be started."""
        self._bring_up = None
        return self._work(host).load_mechanisms()

    def _work(self, *more: str) -> BringUp:
        if self._bring_up is None:
            node = self.find_node()
            if node is None:
                raise DeployError("the controller is gone", where=str(self.places.run), fix="nfvbed devcloud start")
            guests = int((self.places.run / _GUEST_PAGES).read_text())
            # Nova sees the whole machine's pool, in which compute nodes and labs have pages, too.
            reserved = max(SWITCH_PAGES, HugepagePool().total - guests)
            secrets, mechanisms = Secrets.open(self.places.secrets), self.mechanisms(*more)
            settings = CloudSettings(
                secrets,
                reserved_pages=reserved,
                mechanisms=mechanisms,
                port_chains=(self.places.run / _PORT_CHAINS).exists(),
            )
            seeded = bool((self.places.run / "seeded").read_text())
            self._bring_up = BringUp(node, settings, self._seed, seeded)
        return self._bring_up

    def _compute(self, host: str) -> ComputeNode:
        ledger, controller = self._open_ledger(), self.find_node()
        if ledger is None or controller is None:
            raise DeployError(
                f"there is no cloud that compute node {host} could join", where=host, fix="nfvbed devcloud start"
            )
        return ComputeNode(self.kinds[host], self.places, ledger, controller)

    def _relay(self) -> str:
        """Start the relays that do not run: from here to the APIs, and from Horizon to nfvbed's dashboard."""
        ledger, node = self._open_ledger(), self.find_node()
        if ledger is None or node is None:
            raise DeployError("the controller is gone", where=str(self.places.run), fix="nfvbed devcloud start")
        if not access.relay_runs(ledger.entries, access.DASHBOARD):
            access.start_relay_to_dashboard(node, ledger)
        if access.relay_runs(ledger.entries):
            return ""
        access.start_relay(node, ledger)
        return f"{LOOPBACK}, ports {min(PORTS.values())} to {max(PORTS.values())}"

    def _write_clouds(self) -> str:
        text = access.clouds_yaml(Secrets.open(self.places.secrets)("admin"))
        write_private(self.places.clouds, text)
        self._work().write_clouds(text)
        return str(self.places.clouds)

    def _open_ledger(self) -> Ledger | None:
        if self._ledger is None and (self.places.run / LEDGER_NAME).is_file():
            self._ledger = Ledger.open(self.places.run / LEDGER_NAME)
        return self._ledger

    def _clear(self) -> None:
        """Undo what a cloud has made on this machine, whether it runs or was killed."""
        ledger = self._open_ledger()
        problems = [] if ledger is None else ledger.undo_all()
        if problems:
            raise DeployError("not everything could be removed", observed="; ".join(problems), fix="stop again")
        shutil.rmtree(self.places.directory / "nodes", ignore_errors=True)
        self.places.clouds.unlink(missing_ok=True)
        for path in self.places.run.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != "lock":
                path.unlink()
        self._ledger = self._bring_up = None
