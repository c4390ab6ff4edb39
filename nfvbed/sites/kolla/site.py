"""The site of machines with a cloud that kolla-ansible has deployed: VNFs are onboarded and measured on it."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.records.findings import Finding
from nfvbed.sites.deployed import DeploymentRecord
from nfvbed.sites.kolla.executor import journal
from nfvbed.sites.kolla.measured import exchange, opened, tenants, twins
from nfvbed.sites.kolla.measured.cloud import DeployedRack, RackCloud
from nfvbed.sites.kolla.measured.described import described
from nfvbed.sites.kolla.measured.opened import deployed_rack
from nfvbed.sites.kolla.pinning import Pinning
from nfvbed.sites.kolla.verify.rack import verify_rack
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.sites.openstack.site import OpenstackSite
from nfvbed.sites.openstack.storeddeployment import Verification
from nfvbed.sites.openstack.tackervnfs import TackerVnfs
from nfvbed.sites.stages import StagedCloud
from nfvbed.spec.loader import Project
from nfvbed.spec.site import KollaSiteSpec
from nfvbed.spec.variant import Variant

Exchange = Callable[[Project, DeployedRack, Pinning], None]


def open_deployed(spec: KollaSiteSpec, root: Path, stages: StagedCloud) -> "RackSite":
    """Open a rack that is deployed; nothing is asked of it yet.

    Raises:
        UnsupportedError: nothing is deployed on it, or not all.
        ConfigurationError: its file does not say what the generator is.
    """
    return RackSite(deployed_rack(spec, root), root, stages)


class RackSite(OpenstackSite):
    """A rack whose cloud runs.

    Args:
        exchanging: deploys the rack with other pinned variants.
    """

    def __init__(
        self,
        rack: DeployedRack,
        root: Path,
        stages: StagedCloud,
        exchanging: Exchange = exchange.exchange,
    ) -> None:
        self._rack = rack
        self._stages = stages
        self._root = root
        self._exchanging = exchanging
        spec = described(rack.site, rack.release.name)
        target = RackCloud(spec, root, rack)
        provider = TackerVnfs(spec.name, spec.onboarding, target, root)
        super().__init__(spec.name, LabMachine(spec, root), target, provider)

    def standing_variants(self) -> tuple[str, ...]:
        """Return the variants that are deployed on its machines."""
        return tuple(one.name for one in self._rack.pinning.each)

    def staged_cloud(self) -> StagedCloud:
        """Return the cloud that is deployed on it."""
        return self._stages

    def asks_name(self) -> bool:
        """Return True: there is a cloud."""
        return self._stages.is_there(evicts=self.evicts)

    def take_down(self, *, everything: bool = False) -> tuple[str, ...]:
        """Take the cloud down with all that is on it, stage by stage."""
        return self._stages.take_down(self.observer, evicts=self.evicts)

    def foresee_take_down(self) -> tuple[str, ...]:
        """Return the names of the stages."""
        return self._stages.foresee_take_down(evicts=self.evicts)

    def begin_round(self, number: int) -> None:
        """Move the twins' variants as a round wants them (key `swap`): the rack is taken down and deployed again.

        Raises:
            UnsupportedError: they are no twins.
            BusyError, ConfigurationError, PrerequisiteError, StageFailed, InterruptedRunError: it was not deployed.
        """
        site = self._rack.site
        if site.swap == "never":
            return
        exchange.require_twins(site, twins.describe(site, site.computes))
        project = open_project(self._root)
        wanted = exchange.wanted_in(project, site, number)
        if wanted == self._rack.pinning:
            return
        tenants.require_own(self._rack.places, site.name, evict=self.evicts)
        self._exchanging(project, self._rack, wanted)
        self._rack = deployed_rack(site, self._root)
        spec = described(site, self._rack.release.name)
        target = RackCloud(spec, self._root, self._rack)
        self._reach(target, TackerVnfs(spec.name, spec.onboarding, target, self._root))

    def to_verify(self, variant: Variant) -> DeploymentRecord:
        """Return the record of a variant's deployment: with the VNFs of an earlier command, or without any."""
        found = self.find_deployed()
        has_vnfs = found is not None and found.variant.name == variant.name
        return found if found is not None and has_vnfs else opened.bare(self._rack, variant)

    def inspect(self, deployed: DeploymentRecord) -> tuple[Finding, ...]:
        """Ask the cloud's APIs, and all machines over SSH."""
        return verify_rack(self._rack.order, self._target.connection)

    def keep_findings(self, deployed: DeploymentRecord, findings: tuple[Finding, ...]) -> None:
        """Write findings into the rack's journal."""
        keep(self._rack, findings)


def keep(rack: DeployedRack, findings: tuple[Finding, ...]) -> None:
    """Write the findings of a verification into a rack's journal.

    Raises:
        BusyError: another nfvbed is at work on it.
    """
    with rack.places.taken():
        found = journal.read(rack.places)
        if found is not None:
            now = datetime.now(UTC).isoformat(timespec="seconds")
            verified = Verification(at=now, findings=findings)
            journal.write(rack.places, found.model_copy(update={"verified": verified}))
