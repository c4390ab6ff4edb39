"""VNFs that run in a cloud already: found, measured, and left as they are."""

from typing import Any

from nfvbed.cloud.tacker.api import TackerVnf
from nfvbed.host.timing import Steps
from nfvbed.records import RenewedPart, VnfHandle, VnfKind
from nfvbed.sites.openstack import paths, vnfs
from nfvbed.sites.openstack.deployment import CloudDeployment, CloudRequest
from nfvbed.sites.openstack.existing.cloud import ExistingCloud, refuse_onboarded
from nfvbed.sites.openstack.provider import VnfProvider
from nfvbed.spec.existing import ExistingPathSpec
from nfvbed.spec.layout import Layout
from nfvbed.spec.vnf import VnfChoice

API = "none"
"""In place of Tacker's, for what it has not made."""


class ExistingVnfs(VnfProvider):
    """The instances that the site's file names."""

    renews = RenewedPart.NOTHING

    def __init__(self, site: str, path: ExistingPathSpec, target: ExistingCloud) -> None:
        self._site = site
        self._path = path
        self._target = target

    def check(self, plan: Layout, choice: VnfChoice | None) -> None:
        """Accept only the path that the file describes."""
        paths.require_chain(plan, choice, self._site, self._target.networks.outside)
        if plan.vnfs != self._path.length:
            raise paths.refuse_path(plan, self._site, self._path.topology)
        if choice is not None:
            self.prepare(choice)

    def prepare(self, choice: VnfChoice) -> None:
        """Accept VNFs that run already; refuse all others."""
        if choice.kind is not VnfKind.EXISTING:
            raise paths.refuse_kind(
                choice, self._site, "it measures what runs already (onboarding: none)", "vnf: existing, kind: existing"
            )

    def provide(self, live: CloudDeployment, choice: VnfChoice, steps: Steps) -> tuple[VnfHandle, ...]:
        """Return the instances; none where the file names none."""
        with steps.timed("onboard.found"):
            found = self._target.path.instances()
        handles = (
            vnfs.handle(
                place,
                TackerVnf(API, "", "", one.name, live.deployment.id, "", (one,)),
                choice,
                live.compute.vnf_port_kind,
                self._target.accelerator,
            )
            for place, one in enumerate(found)
        )
        return self._target.witnessed(tuple(handles))

    def heal(self, owner: str, wanted: CloudRequest, place: int, dead: VnfHandle) -> VnfHandle:
        """Refuse to heal: their owner has to."""
        raise refuse_onboarded(self._site, "heal")

    def remove(self, owner: str) -> None:
        """Do nothing: nothing was made."""

    def release(self) -> tuple[str, ...]:
        """Return nothing: nothing is kept."""
        return ()

    def check_removal(self) -> None:
        """Refuse removal: they are not nfvbed's."""
        raise refuse_onboarded(self._site, "offboard")

    def described(self, choice: VnfChoice) -> dict[str, Any]:
        """Return all that is known of them: that they run."""
        accelerator = vnfs.known(self._target.accelerator)
        return vnfs.described(choice, None, accelerator) | {"onboarding": API, "instances": self._path.instances}
