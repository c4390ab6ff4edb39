"""Sets deployments up on the cloud, and takes them down: cloud, compute, image, VNFs, generator, in this order."""

import logging
import secrets
import time
from dataclasses import replace
from functools import cached_property
from typing import Any

from nfvbed.cloud.compute import Compute
from nfvbed.cloud.tacker import journal
from nfvbed.cloud.tacker.connection import asking
from nfvbed.errors import DeployError
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.timing import Steps
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.records import Deployment
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.sites.openstack import paths, storeddeployment
from nfvbed.sites.openstack.deployment import CloudDeployment, CloudRequest
from nfvbed.sites.openstack.descriptorvnfs import DescriptorVnfs
from nfvbed.sites.openstack.provider import VnfProvider
from nfvbed.sites.openstack.storeddeployment import StoredDeployment
from nfvbed.sites.openstack.target import Target
from nfvbed.spec.layout import layout
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice

_log = logging.getLogger(__name__)


class CloudSetup:
    """Sets deployments up on one cloud.

    Args:
        target: the OpenStack; nfvbed's own is started where it does not run.
        provider: makes the VNFs.
    """

    def __init__(self, site: str, machine: LabMachine, target: Target, provider: VnfProvider) -> None:
        self._site = site
        self._machine = machine
        self._target = target
        self._provider = provider

    @cached_property
    def given(self) -> DescriptorVnfs:
        """The VNFs from users' descriptors."""
        return DescriptorVnfs(self._target, journal.of(self._target.folder))

    def from_nothing(self, wanted: CloudRequest) -> CloudDeployment:
        """Set a deployment up; where that fails, nothing but the cloud is left.

        Raises:
            UnsupportedError, PrerequisiteError, DeployError, OnboardError, VnfDiedError: with the reason.
        """
        steps = Steps()
        compute = self._target.compute(wanted.variant)
        compute.check(wanted.variant, wanted.plan)
        arrangement = self._machine.arrangement(wanted.variant, wanted.plan.vnfs)
        with steps.timed("deploy.cloud"):
            self._target.bring_up()
        with steps.timed("deploy.compute"):
            compute.start()
            self._target.choose(compute)
            self._forget_other(wanted.variant)
            compute.apply(wanted.variant, arrangement)
            compute.rest(True)
        deployment = Deployment(
            id=secrets.token_hex(4),
            variant=wanted.variant.name,
            site=self._site,
            topology=wanted.plan.name,
            ports=(),
            versions=compute.versions(),
            steps=steps.done,
        )
        live = self._live(wanted, deployment, compute, arrangement)
        storeddeployment.note(self._target.folder, deployment.id)
        try:
            self._onboard(live, steps)
            return live
        except BaseException:
            self.take_down(live)
            raise

    def _forget_other(self, variant: Variant) -> None:
        """Forget a data plane without VNFs that is no longer the one that takes instances."""
        bare = storeddeployment.find(self._target.folder)
        if bare is not None and bare.choice is None and bare.variant != variant:
            storeddeployment.forget(self._target.folder)

    def beside(self, found: StoredDeployment) -> CloudDeployment:
        """Return an existing deployment as it is, with a generator of this command."""
        wanted = CloudRequest(found.variant, layout(found.deployment.topology), found.choice)
        compute = self._target.compute(found.variant)
        began = time.monotonic_ns()
        live = self._live(wanted, found.deployment, compute, found.arrangement, stays=True)
        try:
            # The command that left it has taken from the switch's core what its generator had put there.
            compute.apply(found.variant, found.arrangement)
            compute.adopt(found.variant, live.instances)
            live.attach()
            live.wait_until_forwarding(compute.verify, began)
        except BaseException:
            live.close()
            raise
        return live

    def heal(self, found: StoredDeployment, dead: tuple[str, ...]) -> CloudDeployment:
        """Let Tacker bring dead VNFs back, and send frames through.

        Args:
            dead: names of VNFs that do not run.
        """
        wanted = CloudRequest(found.variant, layout(found.deployment.topology), found.choice)
        handles = list(found.deployment.vnfs)
        for place, one in enumerate(handles):
            if one.name in dead:
                handles[place] = self._provider.heal(found.deployment.id, wanted, place, one)
        deployment = found.deployment.model_copy(update={"vnfs": tuple(handles)})
        return self.beside(replace(found, deployment=deployment))

    def offboard(self, found: StoredDeployment) -> StoredDeployment:
        """Remove the VNFs of a deployment; return the deployment without them.

        Raises:
            UnsupportedError: they belong to others.
        """
        self._provider.check_removal()
        self._remove(found.deployment.id)
        bare = {"vnfs": (), "vnf_ports": (), "ports": (), "topology": paths.BARE}
        return replace(found, deployment=found.deployment.model_copy(update=bare), choice=None)

    def take_down(self, live: CloudDeployment) -> None:
        """End what this command has, and remove the VNFs unless they stay."""
        try:
            live.close()
        finally:
            if not live.stays:
                self._remove(live.deployment.id)

    def clear_abandoned(self) -> None:
        """Remove by its tags what a killed nfvbed was onboarding; the host lock is held.

        Raises:
            OnboardError: not all of it could be removed.
        """
        owner = storeddeployment.under_way(self._target.folder) if self._target.runs() else ""
        if owner:
            _log.warning("removing the VNFs of a deployment that a killed nfvbed had under way (%s)", owner)
            self._remove(owner)

    def _remove(self, owner: str) -> None:
        """Remove all VNFs of a deployment, in whatever state, and check that nothing of them is left."""
        self._provider.remove(owner)
        storeddeployment.done(self._target.folder)

    def clear(self, *, everything: bool) -> tuple[str, ...]:
        """Remove what is deployed or under way on a cloud that stays; return lines that say what was.

        Args:
            everything: forget records that cannot be read, too; what they onboarded is then found only by its tags.

        Raises:
            DeployError, OnboardError: not everything could be removed, or what was written down cannot be read.
        """
        folder = self._target.folder
        try:
            found = storeddeployment.find(folder)
        except DeployError:
            if not everything:
                raise
            found = None
        owners = dict.fromkeys(filter(None, (found.deployment.id if found else "", storeddeployment.under_way(folder))))
        for owner in owners:
            self._remove(owner)
        storeddeployment.forget(folder)
        given = self.given.names()
        for name in given:
            self.given.offboard(name, _log.info)
        had = (*owners, *given)
        lines = tuple(f"what nfvbed had on site {self._site} ({one}) is removed; the cloud stays" for one in had)
        return (*lines, *self._provider.release())

    def foresee_clear(self) -> tuple[str, ...]:
        """Return lines that say what `clear` would remove."""
        found = storeddeployment.find(self._target.folder)
        if found is None:
            return ()
        vnfs_too = "" if found.choice is None else f" and what was onboarded for {found.deployment.topology}"
        return (f"would remove {found.deployment.variant}{vnfs_too}; the cloud would stay",)

    def status_of_instance(self, identifier: str) -> str:
        """Return Nova's status of an instance; `gone` where it knows none."""
        with asking(f"instance {identifier}"):
            found = self._target.connection.compute.find_server(identifier)
        return "gone" if found is None else str(found.status)

    def described(self, choice: VnfChoice | None) -> dict[str, Any]:
        """Return the VNFs' part of the rig, with how they were onboarded."""
        if choice is None:
            return {"vnf": None, "flavor": None, "accelerator": None}
        return self._provider.described(choice)

    def _live(
        self,
        wanted: CloudRequest,
        deployment: Deployment,
        compute: Compute,
        arrangement: Arrangement,
        *,
        stays: bool = False,
    ) -> CloudDeployment:
        self._machine.make_room(arrangement)
        workspace = Workspace.create()
        starter = self._machine.starter(workspace, arrangement)
        return CloudDeployment(wanted, deployment, compute, arrangement, workspace, starter, stays)

    def _onboard(self, live: CloudDeployment, steps: Steps) -> None:
        """Start the VNFs in the order of the path, join the generator, and wait for frames."""
        wanted = live.wanted
        if wanted.choice is None:
            return
        began = time.monotonic_ns()
        handles = self._provider.provide(live, wanted.choice, steps)
        live.deployment = live.deployment.model_copy(
            update={
                "vnfs": handles,
                "vnf_ports": tuple(handle.ports for handle in handles),
                "steps": (*steps.done, *(step for handle in handles for step in handle.steps)),
            }
        )
        live.compute.adopt(wanted.variant, live.instances)
        live.attach()
        live.wait_until_forwarding(live.compute.verify, began)
