"""The lab's machine, whatever is deployed on it: its description, what it can run, and its lock."""

import atexit
import os
from pathlib import Path
from typing import Any

from nfvbed.dataplanes.catalogue import CATALOGUE, Catalogue
from nfvbed.dataplanes.dataplane import DataPlane
from nfvbed.errors import PrerequisiteError, UnsupportedError
from nfvbed.host.cores.arrangement import Arrangement, resolve
from nfvbed.host.cores.topology import AFFINITY_AT_START, read_topology
from nfvbed.host.facts import host_facts
from nfvbed.host.fitness import support_of
from nfvbed.host.generator import GeneratorStarter
from nfvbed.host.ledger.hostlock import HostLock
from nfvbed.host.native import native_binary, version_of
from nfvbed.host.nics import fit, take
from nfvbed.host.preparation.topics import plan_topics
from nfvbed.host.probes import host as probes
from nfvbed.host.workspace.reap import ReapedLeftovers, close_own, reap
from nfvbed.host.workspace.retainedpages import RetainedPages
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import PortKind, Readiness, Support
from nfvbed.records.preparation import TopicPlan
from nfvbed.signals import end_like_interrupt, signals_held
from nfvbed.spec.site import HostSiteSpec
from nfvbed.spec.variant import Variant
from nfvbed.vnfs.descriptors import hostfit
from nfvbed.vnfs.numa import Host

_PREPARED_VNFS = 2
_GENERATOR_PORTS = 2


class LabMachine:
    """This machine.

    `begin` takes the host lock and removes what a dead nfvbed left; the lock is held until `close`, which runs by
    itself at the end of nfvbed.
    """

    def __init__(self, spec: HostSiteSpec, root: Path, catalogue: Catalogue = CATALOGUE) -> None:
        self.spec = spec
        self.root = root
        self.catalogue = catalogue
        self.topology = read_topology()
        self._lock = HostLock()
        self._kept: RetainedPages | None = None

    def facts(self) -> dict[str, Any]:
        """Return the host's description."""
        return host_facts(self.topology)

    def generator_version(self) -> str:
        """Return the version of the generator that is built here."""
        return version_of(native_binary("nfvgen", self.root))

    def probe(self, variant: Variant) -> Support:
        """Probe whether this host can run the variant."""
        return support_of(variant.name, lambda: self._plane(variant).probe(variant))

    def require(self, variant: Variant) -> Support:
        """Probe a variant before it is deployed; never while something is deployed, which it would disturb.

        Raises:
            UnsupportedError, PrerequisiteError: this host cannot run it; with the probe's reason and fix.
        """
        plane = self._plane(variant)
        support = support_of(variant.name, lambda: plane.probe(variant))
        if support.readiness is Readiness.UNSUPPORTED:
            raise UnsupportedError(f"{variant.name} cannot run here", observed=support.reason, fix=support.fix)
        return support

    def _plane(self, variant: Variant) -> DataPlane:
        self.arrangement(variant)
        if variant.port_kind is PortKind.PCI:
            fit.require(self.spec.cables)
        return self.catalogue.data_plane(variant)

    def arrangement(self, variant: Variant, vnfs: int = 0) -> Arrangement:
        """Return the arrangement of cores; the switch is near its NICs, where it has some."""
        near = take.near_node(self.spec.cables) if variant.port_kind is PortKind.PCI else None
        options = variant.options
        # On kernel ports it can have a core for each port; whether it does is measured.
        most = _GENERATOR_PORTS if variant.port_kind.is_kernel else options.generator_queues
        return resolve(self.topology, self.spec.arrangement, options.switch_cores, vnfs, near, most)

    def plan_preparation(self) -> tuple[TopicPlan, ...]:
        """Plan what can be set against what disturbs the cores of a switch, a generator and two VNFs."""
        seats = resolve(self.topology, self.spec.arrangement, vnfs=_PREPARED_VNFS)
        quiet = (*seats.switch_cores, seats.generator_core, *seats.vnf_cores)
        return plan_topics(probes.Host(), self.topology.allowed, quiet)

    def guest_host(self, variant: Variant, vnfs: int, free_mib: int | None = None) -> Host:
        """Return the host on which virtual machines of a variant are placed.

        Args:
            free_mib: hugepage memory for guests, MiB; None: what could be made into pages now.

        Raises:
            UnsupportedError, ConfigurationError: it has too few cores.
        """
        nodes = max(len(self.topology.nodes), 1)
        free = hostfit.reservable_mib(nodes) if free_mib is None else dict.fromkeys(range(nodes), free_mib // nodes)
        return Host(self.topology, self.arrangement(variant, vnfs), free_hugepages_mib=free)

    def begin(self, *, keeps_hugepages: bool = False) -> list[ReapedLeftovers]:
        """Take the host for this nfvbed and remove what killed ones left; idempotent.

        Args:
            keeps_hugepages: keep them until `close`, and not only until each deployment's end.

        Returns:
            What was removed (it is in the log as well).

        Raises:
            PrerequisiteError: not root.
            BusyError: another nfvbed is at work.
        """
        self._kept = RetainedPages() if keeps_hugepages else self._kept
        if self._lock.held:
            return []
        if os.geteuid() != 0:
            raise PrerequisiteError(
                "deploying in the lab needs root", where="namespaces, hugepages, cgroups", fix="run it with sudo"
            )
        end_like_interrupt()
        atexit.register(self.close)
        self._lock.acquire()
        return reap(self._lock)

    def make_room(self, arrangement: Arrangement) -> None:
        """Keep nfvbed itself off the cores of switch and generator, where the machine has a choice."""
        os.sched_setaffinity(0, arrangement.control_cores)

    def starter(self, workspace: Workspace, arrangement: Arrangement) -> GeneratorStarter:
        """Return the starter of generators in a workspace."""
        return GeneratorStarter(workspace, arrangement, self.spec.generator_hugepages_mib // 2, self.root)

    def keep_pages(self, workspace: Workspace) -> None:
        """Keep the hugepages of a deployment that is about to be taken down, where they are to be kept."""
        if self._kept:
            self._kept.take_over(workspace)

    def close(self) -> None:
        """Destroy what this process set up and does not leave behind, and release the host; idempotent."""
        with signals_held():
            if self._lock.held:
                close_own()
                os.sched_setaffinity(0, AFFINITY_AT_START)
                self._lock.release()
        atexit.unregister(self.close)
