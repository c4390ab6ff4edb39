"""From a rack's file to the site: machines with a cloud, or machines without one yet.

What asks them, or renders for them, needs neither ansible-runner nor OpenStack's libraries: those are imported by what
deploys, and by what opens a cloud.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import NfvbedError
from nfvbed.records.findings import SiteReport
from nfvbed.sites.absent import AbsentSite
from nfvbed.sites.kolla import boxglobals, inventory
from nfvbed.sites.kolla.executor.complete import require_complete
from nfvbed.sites.kolla.executor.places import RackPlaces
from nfvbed.sites.kolla.pinning import pinning_of
from nfvbed.sites.kolla.preflight.report import examine_rack
from nfvbed.sites.kolla.render import order_pinned, render
from nfvbed.sites.site import Site
from nfvbed.sites.stages import (
    CloudOrder,
    DeployedCloud,
    Observer,
    StagedCloud,
    StageFiles,
    UpgradePreview,
    UpgradeRequest,
    VerifiedCloud,
)
from nfvbed.spec.kollarelease import NEWEST
from nfvbed.spec.loader import Project
from nfvbed.spec.site import KollaSiteSpec
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice


def find_rack(spec: KollaSiteSpec, root: Path) -> Site:
    """Return a rack; where it has no cloud, it refuses what needs one."""
    stages = RackStages(spec, root)
    try:
        require_complete(spec.name, RackPlaces.of(root, spec.name))

        from nfvbed.sites.kolla.site import open_deployed

        return open_deployed(spec, root, stages)
    except NfvbedError as why:
        return UnmeasurableRack(stages, why)


class RackStages(StagedCloud):
    """The cloud of a rack, which kolla-ansible deploys."""

    def __init__(self, spec: KollaSiteSpec, root: Path) -> None:
        self.name = spec.name
        self._spec = spec
        self._root = root
        self._is_ours = False

    @cached_property
    def _project(self) -> Project:
        return open_project(self._root)

    def foresee(self, order: CloudOrder) -> tuple[str, ...]:
        """Read the files and the journal, and return what `deploy` would do."""
        from nfvbed.sites.kolla import staged

        return staged.foresee_order(self._project, self._spec, order)

    def deploy(self, order: CloudOrder, confirm: Callable[[], None], observer: Observer) -> DeployedCloud:
        """Deploy: preflight, preparation, Kolla's commands, and what Kolla lacks."""
        from nfvbed.sites.kolla import staged

        return staged.deploy_order(self._project, self._spec, order, confirm, observer)

    def examine(self, variants: Iterable[Variant], release: str | None, *, try_functions: bool) -> SiteReport:
        """Ask the machines over SSH."""
        profile = self._project.load_kolla_release(release or NEWEST)
        return examine_rack(self._project, self._spec, profile, variants, try_functions=try_functions)

    def verify(
        self,
        variant: str | None,
        choose: Callable[[Variant], VnfChoice | None] | None,
        release: str | None = None,
        os_cloud: str | None = None,
    ) -> VerifiedCloud:
        """Read agents, services and machines, and send frames through an instance of each variant."""
        from nfvbed.sites.kolla import verified

        return verified.verify(self._project, self, self._spec, (variant, choose), (release, os_cloud))

    def render(self, variant: str, release: str | None, groups: Callable[[], str] | None = None) -> StageFiles:
        """Return globals, inventory, variables of machines and overrides of services."""
        profile = self._project.load_kolla_release(release or NEWEST)
        pinning = pinning_of(self._project, self._spec, variant)
        order = order_pinned(pinning, self._spec, profile)
        flavors = tuple(self._project.load_flavor(name) for name in self._project.flavor_names)
        made = render(order, flavors, boxglobals.this_host())
        own = {} if groups is None else {"inventory/groups": inventory.groups_file(groups())}
        return StageFiles(pinning.name, {**made.files, **own}, made.roles)

    def preview_upgrade(self, wanted: UpgradeRequest) -> UpgradePreview:
        """Render for both releases, and look a user's variables up in both kolla-ansible's."""
        from nfvbed.sites.kolla import upgradepreview

        return upgradepreview.preview(self._project, self._spec, wanted)

    def is_there(self, *, evicts: bool) -> bool:
        """Look into the journal, and ask a running cloud."""
        from nfvbed.sites.kolla import staged

        there = staged.is_there(self._project, self.name, evicts=evicts)
        self._is_ours = there
        return there

    def take_down(self, observer: Observer, *, evicts: bool) -> tuple[str, ...]:
        """Take the cloud down stage by stage; its passwords are kept."""
        from nfvbed.sites.kolla import staged

        # Others' resources were asked for by this command already, before it asked for the site's name.
        return staged.take_down(self._project, self._spec, observer, evicts=evicts or self._is_ours)

    def foresee_take_down(self, *, evicts: bool) -> tuple[str, ...]:
        """Return the names of the stages."""
        from nfvbed.sites.kolla import staged

        return staged.foresee_take_down(self._project, self.name, evicts=evicts)


class UnmeasurableRack(AbsentSite):
    """A rack that cannot be measured: it has no cloud, not all of one, or lacks something for measuring.

    Args:
        why: why nothing runs on it.
    """

    def __init__(self, stages: RackStages, why: NfvbedError) -> None:
        super().__init__(stages.name, why)
        self._stages = stages

    def staged_cloud(self) -> StagedCloud:
        """Return the cloud that can be deployed on it."""
        return self._stages

    def asks_name(self) -> bool:
        """Return whether a part of a cloud is there."""
        return self._stages.is_there(evicts=self.evicts)

    def take_down(self, *, everything: bool = False) -> tuple[str, ...]:
        """Take down the parts of a cloud that are there."""
        return self._stages.take_down(self.observer, evicts=self.evicts)

    def foresee_take_down(self) -> tuple[str, ...]:
        """Return the names of the stages."""
        return self._stages.foresee_take_down(evicts=self.evicts)
