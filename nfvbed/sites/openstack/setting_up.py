"""Sets deployments up on the cloud, and takes them down: cloud, compute, image, VNFs, generator, in this order."""

import logging
import secrets
import time
from dataclasses import replace
from functools import cached_property
from typing import Any

from nfvbed.errors import InternalError
from nfvbed.host.arrangement import Arrangement
from nfvbed.host.qemu import images as image_files
from nfvbed.host.qemu.images import Image
from nfvbed.host.timing import Steps
from nfvbed.host.workspace import Workspace
from nfvbed.records import Deployment, VnfHandle
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.sites.openstack import images, paths, remembered, requests, vnfs
from nfvbed.sites.openstack.computes.compute import Compute
from nfvbed.sites.openstack.deployment import CloudDeployment, Wanted
from nfvbed.sites.openstack.given import GivenVnfs
from nfvbed.sites.openstack.remembered import Remembered
from nfvbed.sites.openstack.tacker import left
from nfvbed.sites.openstack.tacker.api import OnboardingApi
from nfvbed.sites.openstack.tacker.journal import Journal
from nfvbed.sites.openstack.tacker.legacy import LegacyApi
from nfvbed.sites.openstack.tacker.sol import SolApi
from nfvbed.sites.openstack.target import Target
from nfvbed.spec.layout import layout
from nfvbed.spec.site import DevcloudSiteSpec
from nfvbed.spec.vnf import VnfChoice

_log = logging.getLogger(__name__)


class SettingUp:
    """Sets up on one cloud.

    Args:
        spec: the site's file.
        machine: this one.
        target: the OpenStack; started where it does not run, and is ours.
    """

    def __init__(self, spec: DevcloudSiteSpec, machine: LabMachine, target: Target) -> None:
        self._spec = spec
        self._machine = machine
        self._target = target

    @cached_property
    def _api(self) -> OnboardingApi:
        make = SolApi if self._spec.onboarding == "sol" else LegacyApi
        return make(self._target.connection, self._journal)

    @property
    def _journal(self) -> Journal:
        return Journal(self._target.folder / "onboarded.jsonl")

    @cached_property
    def given(self) -> GivenVnfs:
        """VNFs of descriptors that someone gives."""
        return GivenVnfs(self._target, self._journal)

    def image_file(self, choice: VnfChoice) -> Image:
        """Return the file of a VNF's image, checked.

        Raises:
            PrerequisiteError: it is not there.
            OnboardError: it is another one than was declared.
        """
        if choice.image is None:
            raise InternalError(f"{choice.vnf.name} has no image", where=choice.label)
        return image_files.find(choice.image, self._machine.root, f"vnfd/{choice.vnf.name}/vnf.yml")

    def from_nothing(self, wanted: Wanted) -> CloudDeployment:
        """Set a deployment up; nothing but the cloud is left behind when that fails.

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
            compute.apply(wanted.variant, arrangement)
            compute.rest(True)
        deployment = Deployment(
            id=secrets.token_hex(4),
            variant=wanted.variant.name,
            site=self._spec.name,
            topology=wanted.plan.name,
            ports=(),
            versions=compute.versions(),
            steps=steps.done,
        )
        live = self._live(wanted, deployment, compute, arrangement)
        remembered.note(self._target.folder, deployment.id)
        try:
            self._onboard(live, steps)
            return live
        except BaseException:
            self.take_down(live)
            raise

    def beside(self, found: Remembered) -> CloudDeployment:
        """Take what is deployed as it is, with a generator of this command beside it."""
        wanted = Wanted(found.variant, layout(found.deployment.topology), found.choice)
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

    def heal(self, found: Remembered, dead: tuple[str, ...]) -> CloudDeployment:
        """Let Tacker bring dead VNFs back, and send frames through.

        Args:
            found: what is deployed.
            dead: names of its VNFs that do not run.
        """
        by_id = {vnf.id: vnf for vnf in self._api.found(found.deployment.id)}
        handles = list(found.deployment.vnfs)
        for place, one in enumerate(handles):
            if one.name in dead:
                healed = self._api.heal(by_id[vnfs.CloudVnfState.of(one).tacker_id], _say)
                handles[place] = vnfs.handle(place, healed, _choice(found), one.ports[0].kind)
        deployment = found.deployment.model_copy(update={"vnfs": tuple(handles)})
        return self.beside(replace(found, deployment=deployment))

    def offboard(self, found: Remembered) -> Remembered:
        """Remove the VNFs of what is deployed; return what stays."""
        self._remove(found.deployment.id)
        bare = {"vnfs": (), "vnf_ports": (), "ports": (), "topology": paths.BARE}
        return replace(found, deployment=found.deployment.model_copy(update=bare), choice=None)

    def take_down(self, live: CloudDeployment) -> None:
        """End what this command has, and remove the VNFs where they do not stay."""
        try:
            live.close()
        finally:
            if not live.stays:
                self._remove(live.deployment.id)

    def clear_abandoned(self) -> None:
        """Remove what a killed nfvbed had begun to onboard, by its tags; the host lock is held.

        Raises:
            OnboardError: not all of it could be removed.
        """
        owner = remembered.under_way(self._target.folder) if self._target.runs() else ""
        if owner:
            _log.warning("removing the VNFs of a deployment that a killed nfvbed had under way (%s)", owner)
            self._remove(owner)

    def _remove(self, owner: str) -> None:
        """Remove all VNFs of a deployment, in whatever state, and make sure that nothing of them is left."""
        left.remove(self._target.connection, self._journal, owner, _say)
        remembered.done(self._target.folder)

    def status_of_instance(self, identifier: str) -> str:
        """Return what Nova says of an instance; `gone` where it knows none."""
        found = self._target.connection.compute.find_server(identifier)
        return "gone" if found is None else str(found.status)

    def described(self, choice: VnfChoice | None) -> dict[str, Any]:
        """Return what VNFs add to the rig, and how they were onboarded."""
        if choice is None:
            return {"vnf": None, "flavor": None, "accelerator": None}
        image = images.name_of(choice.vnf.name, self.image_file(choice))
        return vnfs.described(choice, image) | {"onboarding": self._spec.onboarding}

    def _live(
        self,
        wanted: Wanted,
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
        """Onboard the VNFs in the order of the path, join the generator, and wait for frames."""
        wanted, owner = live.wanted, live.deployment.id
        if wanted.choice is None:
            return
        began = time.monotonic_ns()
        file = self.image_file(wanted.choice)
        with steps.timed("onboard.image"):
            image, _ = images.provide(self._target.connection, wanted.choice.vnf.name, file)
        handles: list[VnfHandle] = []
        for place, networks in enumerate(paths.networks_of(wanted.plan)):
            form = self._spec.onboarding
            request = requests.request((owner, f"vnf{place + 1}"), wanted.choice, networks, (image, file), form)
            with steps.timed(f"onboard.vnf{place + 1}"):
                vnf = self._api.onboard(request, _say)
            handles.append(vnfs.handle(place, vnf, wanted.choice, live.compute.vnf_port_kind))
        live.deployment = live.deployment.model_copy(
            update={
                "vnfs": tuple(handles),
                "vnf_ports": tuple(handle.ports for handle in handles),
                "steps": (*steps.done, *(step for handle in handles for step in handle.steps)),
            }
        )
        live.compute.adopt(wanted.variant, live.instances)
        live.attach()
        live.wait_until_forwarding(live.compute.verify, began)


def _say(line: str) -> None:
    """Keep what goes on for whoever looks at the log."""
    _log.info("%s", line)


def _choice(found: Remembered) -> VnfChoice:
    if found.choice is None:
        raise InternalError("a deployment without VNFs has none to heal", where=found.deployment.id)
    return found.choice
