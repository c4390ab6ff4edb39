"""VNFs that Tacker onboards for a deployment, one at each place of its path."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from nfvbed.cloud.compute import Compute
from nfvbed.cloud.novaflavor import extra_specs
from nfvbed.cloud.tacker import journal, left
from nfvbed.cloud.tacker.api import OnboardingApi, OnboardRequest, VnfIdentity
from nfvbed.cloud.tacker.connection import asking, identity
from nfvbed.cloud.tacker.forms import open_api
from nfvbed.cloud.tacker.journal import Journal
from nfvbed.cloud.tacker.legacy import LegacyApi
from nfvbed.cloud.tacker.marks import Consoles
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import InternalError, OnboardError, UnsupportedError
from nfvbed.host.qemu import images as image_files
from nfvbed.host.qemu.images import Image
from nfvbed.host.timing import Steps
from nfvbed.records import PortKind, VnfHandle
from nfvbed.sites.openstack import images, mobilecore, paths, requests, vnfs
from nfvbed.sites.openstack.deployment import CloudDeployment, CloudRequest
from nfvbed.sites.openstack.images import GlanceImage
from nfvbed.sites.openstack.machinerow import MachineRowVnf, RowPlace
from nfvbed.sites.openstack.provider import VnfProvider
from nfvbed.sites.openstack.requests import VnfPlace
from nfvbed.sites.openstack.seeds import seed_of
from nfvbed.sites.openstack.target import Target
from nfvbed.spec.document import read_document
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.layout import Layout, chains, layout
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.descriptors import epa, requestedresources
from nfvbed.vnfs.descriptors.cloudimage import CloudImage
from nfvbed.vnfs.descriptors.epa import Mismatch
from nfvbed.vnfs.descriptors.machines.check import CheckContext, check
from nfvbed.vnfs.descriptors.machines.placing import require_placed, spread
from nfvbed.vnfs.descriptors.onemachine import descriptor_of

_log = logging.getLogger(__name__)


class TackerVnfs(VnfProvider):
    """Onboards through one of Tacker's APIs.

    Args:
        form: `legacy`, `sol` or `sol-v2`.
    """

    def __init__(self, site: str, form: str, target: Target, root: Path) -> None:
        self._site = site
        self.form = form
        self._target = target
        self._root = root

    @cached_property
    def _api(self) -> OnboardingApi:
        return open_api(self.form, self._target.connection, self._journal)

    @property
    def _journal(self) -> Journal:
        return journal.of(self._target.folder)

    def check(self, plan: Layout, choice: VnfChoice | None) -> None:
        """Check the path: the number of networks between VNFs is fixed."""
        if choice is not None and mobilecore.is_core(choice):
            mobilecore.check(plan, choice, self._site)
            return
        paths.check(plan, choice, self._site, self._target.networks)

    def require_ports(self, compute: Compute, variant: Variant, choice: VnfChoice, plan: Layout) -> None:
        """Check whether virtual functions would do as ports, and several machines have their computes and networks."""
        has_functions(compute, variant, choice)
        if choice.row is None:
            return
        row = self._row(choice)
        place = RowPlace(self._target.networks_for(variant), self._target.computes_apart(variant))
        row.check(plan, place, self._site)
        # Between its machines are the networks that are between VNFs of a chain.
        compute.check(variant, layout(chains()[len(choice.row.machines) - 1]))

    def fit(self, variant: Variant, choice: VnfChoice) -> Sequence[Mismatch]:
        """Compare the descriptor to be made with flavor and variant; a mobile core has flavors of its own."""
        if mobilecore.is_core(choice):
            return ()
        if choice.row is not None:
            return self._fit_row(variant, choice)
        there = self._target.networks_for(variant)
        data = iter(there.outside)
        networks = {p.name: there.management if p.role == "management" else next(data) for p in choice.vnf.ports}
        try:
            direct = epa.needs_direct(variant, choice)
            image, specs = CloudImage(choice.vnf.name), extra_specs(choice.flavor)
            (machine,) = descriptor_of(choice, networks, image, specs, direct=direct).only.machines
        except UnsupportedError as failure:
            return (epa.mismatch_of(failure, "descriptor"),)
        return epa.compare(requestedresources.of_machine(machine), choice.flavor, variant, choice)

    def _fit_row(self, variant: Variant, choice: VnfChoice) -> Sequence[Mismatch]:
        """Compare each machine in a row with its flavor and the variant."""
        project = open_project(self._root)
        row = self._row(choice)
        place = RowPlace(self._target.networks_for(variant), self._target.computes_apart(variant))
        made = row.descriptor(place, CloudImage(choice.vnf.name))
        flavors = {one.name: one for one in row.flavors.values()}
        against = CheckContext(read_document(project.vnf_file(choice.vnf.name)), variant, flavors)
        return check(row.vnf, made.only, against)

    def _row(self, choice: VnfChoice) -> MachineRowVnf:
        return MachineRowVnf(open_project(self._root), choice)

    def machines(self, choice: VnfChoice) -> Mapping[str, Flavor]:
        """Return the machines of a mobile core, or those in a row."""
        if choice.row is not None:
            return self._row(choice).flavors
        if not mobilecore.is_core(choice):
            return {}
        project = open_project(self._root)
        core = mobilecore.MobileCore(project, choice.vnf.name)
        return {one.name: project.load_flavor(one.flavor) for one in core.flavour.machines}

    def prepare(self, choice: VnfChoice) -> None:
        """Look for the image, and check its digest."""
        paths.check_vnf(choice, self._site)
        self._image_file(choice)

    def _image_file(self, choice: VnfChoice) -> Image:
        if choice.image is None:
            raise InternalError(f"{choice.vnf.name} has no image", where=choice.label)
        return image_files.find(choice.image, self._root, f"vnfd/{choice.vnf.name}/vnf.yml")

    def _in_glance(self, choice: VnfChoice, file: Image) -> str:
        """Return the image's name in Glance, after uploading it where it is not there."""
        kept = None if self._target.ours else self._journal
        has_agent = choice.image is not None and choice.image.agent
        return images.keep(self._target.connection, kept, choice.vnf.name, file, has_agent=has_agent)

    def provide(self, live: CloudDeployment, choice: VnfChoice, steps: Steps) -> tuple[VnfHandle, ...]:
        """Upload the image to Glance, and onboard one VNF after the other."""
        file, owner, target = self._image_file(choice), live.deployment.id, self._target
        if choice.own_flavor:
            target.provide_flavor(choice.flavor)
        if choice.row is None:
            target.require_room(choice, live.wanted.plan.vnfs)
        else:
            for flavor, machines in self._row(choice).sizes:
                target.require_room(choice.model_copy(update={"flavor": flavor}), machines)
        with steps.timed("onboard.image"):
            image = GlanceImage(self._in_glance(choice, file), file)
        if mobilecore.is_core(choice):
            return target.witnessed((self._core(live, choice, image, steps),))
        if choice.row is not None:
            return target.witnessed((self._in_a_row(live, choice, image, steps),))
        handles: list[VnfHandle] = []
        for number, request in enumerate(self._requests(owner, live.wanted, choice, live.compute, image)):
            with steps.timed(f"onboard.vnf{number + 1}"):
                vnf = self._api.onboard(request, _say)
            handles.append(vnfs.handle(number, vnf, choice, live.compute.vnf_port_kind, target.accelerator))
        return target.witnessed(tuple(handles))

    def _requests(
        self, owner: str, wanted: CloudRequest, choice: VnfChoice, compute: Compute, image: GlanceImage
    ) -> Iterator[OnboardRequest]:
        """Yield the request for each VNF of a path."""
        target, direct = self._target, has_functions(compute, wanted.variant, choice)
        there, most = target.networks_for(wanted.variant), paths.most_instances(wanted.plan, choice)
        for number, networks in enumerate(paths.networks_of(wanted.plan, there)):
            place = VnfPlace(networks, target.inherits_port_security, direct, most, there.management)
            yield requests.request(VnfIdentity(owner, f"vnf{number + 1}"), choice, place, image, self.form)

    def _in_a_row(self, live: CloudDeployment, choice: VnfChoice, image: GlanceImage, steps: Steps) -> VnfHandle:
        """Onboard machines in a row, each on its compute.

        Raises:
            OnboardError: it failed, or a machine is on another compute, or on other networks.
        """
        target, variant, row = self._target, live.wanted.variant, self._row(choice)
        networks, computes = target.networks_for(variant), target.computes_apart(variant)
        target.provide_tunnels(variant, [networks.named[name] for name in row.tunnels])
        place = RowPlace(networks, computes, self._zones(variant), target.inherits_port_security)
        request = row.request(VnfIdentity(live.deployment.id, "vnf1"), place, image, self.form)
        with steps.timed("onboard.vnf1"):
            vnf = self._api.onboard(request, _say)
        machines = row.in_order(target.connection, vnf.instances, place)
        return vnfs.handle(0, vnf, choice, live.compute.vnf_port_kind, target.accelerator, machines)

    def _zones(self, variant: Variant) -> Mapping[str, str]:
        """Return zones of single computes; none where the cloud refuses them, and server groups alone place machines.

        What the groups require holds all the same, and is looked at afterwards.
        """
        try:
            return self._target.zones(variant)
        except OnboardError as failure:
            _log.warning("%s (%s): Nova chooses the computes, as groups allow", failure.what, failure.observed)
            return {}

    def _zones_of_core(self, variant: Variant, core: mobilecore.MobileCore) -> dict[str, str]:
        """Return the zones of a core's virtual machines; none where its groups do not fit the site's computes."""
        groups, computes = core.flavour.placement, self._target.computes_apart(variant)
        try:
            wanted = spread(groups, computes, core.flavour.name)
        except UnsupportedError:
            wanted = {}  # one compute has them all, as on a devcloud
        if not wanted:
            return {}
        zones = self._zones(variant)
        return {machine: zones[compute] for machine, compute in wanted.items() if compute in zones}

    def _core(self, live: CloudDeployment, choice: VnfChoice, image: GlanceImage, steps: Steps) -> VnfHandle:
        """Onboard a mobile core, wait for the generator's bearers, and read the core's state from its consoles."""
        owner, target = live.deployment.id, self._target
        core = mobilecore.MobileCore(open_project(self._root), choice.vnf.name)
        place = mobilecore.CorePlace(
            target.networks_for(live.wanted.variant).outside,
            seed_of(target.folder, owner),
            target.inherits_port_security,
            self._zones_of_core(live.wanted.variant, core),
        )
        request = core.request(VnfIdentity(owner, "vnf1"), place, image, self.form)
        with steps.timed("onboard.vnf1"):
            vnf = self._api.onboard(request, _say)
            marked = Consoles(target.connection, vnf.instances).wait(core.ready, choice.vnf.name, _say)
        table = core.table(mobilecore.lines_of(target.connection, vnf.instances))
        hosts = core.hosts(target.connection, vnf.instances)
        if place.zones:
            require_placed(core.flavour.placement, {}, hosts, choice.vnf.name)
        between = core.between(target.connection, vnf.instances)
        found = replace(vnf, instances=(between,))
        handle = vnfs.handle(0, found, choice, live.compute.vnf_port_kind, target.accelerator)
        return mobilecore.with_hosts(mobilecore.with_bearers(handle, table, marked.steps), hosts)

    def heal(self, owner: str, wanted: CloudRequest, place: int, dead: VnfHandle) -> VnfHandle:
        """Make the VNF's instance again, through Tacker."""
        choice = wanted.choice
        if choice is None:
            raise InternalError("a deployment without VNFs has none to heal", where=owner)
        if mobilecore.is_core(choice):
            raise UnsupportedError(
                "a mobile core on a cloud is not healed",
                where=dead.name,
                observed="its functions keep no sessions: the other machine's UEs are not attached to a new one",
                fix="nfvbed offboard, then deploy it again",
            )
        if choice.row is not None:
            raise UnsupportedError(
                "a VNF of several machines is not healed",
                where=dead.name,
                observed="Tacker heals machines that are in a group that it scales",
                fix=f"nfvbed offboard --site {self._site}, then nfvbed onboard {choice.vnf.name} --site {self._site}",
            )
        by_id = {vnf.id: vnf for vnf in self._api.found(owner)}
        file = self._image_file(choice)
        image = GlanceImage(self._in_glance(choice, file), file)
        request = tuple(self._requests(owner, wanted, choice, self._target.compute(wanted.variant), image))[place]
        healed = self._api.heal(by_id[vnfs.CloudVnfState.of(dead).tacker_id], request, _say)
        handle = vnfs.handle(place, healed, choice, dead.ports[0].kind, self._target.accelerator)
        return self._target.witnessed((handle,))[0]

    def require_monitored(self, choice: VnfChoice) -> None:
        """Refuse VNFs that Tacker's legacy API was not asked to monitor."""
        if choice.vnf.monitoring is None:
            raise UnsupportedError(
                "nobody monitors this VNF",
                where=f"vnfd/{choice.vnf.name}/vnf.yml",
                observed="it has no monitoring: Tacker pings the address of a management port where it is told to",
                fix="vnfs: [{vnf: vloop-monitored, kind: vm}], or monitoring in its file",
            )
        if self.form != LegacyApi.api:
            raise UnsupportedError(
                "Tacker's SOL API monitors no VNF by pings",
                where=f"onboarding: {self.form} of site {self._site}",
                observed="policies of monitoring are parts of legacy templates",
                fix="a site with onboarding: legacy, such as devcloud",
            )

    def respawned(self, owner: str, wanted: CloudRequest, dead: VnfHandle, noticed: Callable[[], None]) -> VnfHandle:
        """Wait until Tacker's monitor has had the path's first VNF respawned."""
        if wanted.choice is None:
            raise InternalError("a deployment without VNFs has none to respawn", where=owner)
        self.require_monitored(wanted.choice)
        by_id = {vnf.id: vnf for vnf in self._api.found(owner)}
        found = self._api.await_respawn(by_id[vnfs.CloudVnfState.of(dead).tacker_id], noticed)
        handle = vnfs.handle(0, found, wanted.choice, dead.ports[0].kind, self._target.accelerator)
        return self._target.witnessed((handle,))[0]

    def scale(self, owner: str, wanted: CloudRequest, first: VnfHandle, delta: int) -> tuple[VnfHandle, ...]:
        """Have Tacker scale the VNF, by the policy that its descriptor has where it can be scaled."""
        if wanted.choice is None:
            raise InternalError("a deployment without VNFs has none to scale", where=owner)
        by_id = {vnf.id: vnf for vnf in self._api.found(owner)}
        scaled = self._api.scale(by_id[vnfs.CloudVnfState.of(first).tacker_id], delta)
        kind, accelerator = first.ports[0].kind, self._target.accelerator
        return self._target.witnessed(
            tuple(
                vnfs.handle(number, replace(scaled, instances=(one,), steps=()), wanted.choice, kind, accelerator)
                for number, one in enumerate(scaled.instances)
            )
        )

    def remove(self, owner: str) -> None:
        """Remove all that has the owner's tags."""
        left.remove(self._target.connection, self._journal, owner, _say)

    def release(self) -> tuple[str, ...]:
        """Remove the images that the nfvbed of this folder has put into Glance."""
        if not self._journal.path.exists():
            return ()
        connection = self._target.connection
        with asking("Keystone's token"):
            cloud = identity(connection)
        names = [note.id for note in self._journal.read(cloud, images.KEPT) if note.kind == images.KIND]
        for name in names:
            with asking(f"removing image {name}"):
                found = connection.image.find_image(name)
                if found is not None:
                    connection.image.delete_image(found.id)
        self._journal.drop(cloud, images.KEPT)
        return tuple(f"image {name} is removed" for name in names)

    def check_removal(self) -> None:
        """Accept: Tacker also removes what it has onboarded here."""

    def described(self, choice: VnfChoice) -> dict[str, Any]:
        """Return the VNFs, and how they were onboarded."""
        image = images.name_of(choice.vnf.name, self._image_file(choice))
        accelerator = vnfs.known(self._target.accelerator)
        return vnfs.described(choice, image, accelerator) | {"onboarding": self.form}


def has_functions(compute: Compute, variant: Variant, choice: VnfChoice) -> bool:
    """Return whether a VNF's data ports on a compute are virtual functions.

    Raises:
        UnsupportedError: the VNF, or what it does with frames, cannot be behind a NIC's switch.
    """
    if compute.vnf_port_kind is not PortKind.VF:
        return False
    if mobilecore.is_core(choice):
        raise UnsupportedError(
            "a mobile core has no virtual functions in a cloud",
            where=variant.name,
            observed="its gateway sends on by address, and the generator's is not known when the core is made",
            fix="another variant",
        )
    return epa.needs_direct(variant, choice)


def _say(line: str) -> None:
    """Log a step."""
    _log.info("%s", line)
