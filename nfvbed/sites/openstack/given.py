"""VNFs of descriptors that someone gives: onboarded through the API that takes them, and removed by their names."""

import json
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from nfvbed.errors import ConfigurationError, NfvbedError, UsageError
from nfvbed.host.timing import Steps
from nfvbed.sites.openstack import images, remembered
from nfvbed.sites.openstack.devcloud.places import write_private
from nfvbed.sites.openstack.seeds import seed_of
from nfvbed.sites.openstack.tacker import console, left
from nfvbed.sites.openstack.tacker.api import OnboardingApi, OnboardRequest, TackerVnf, Tell
from nfvbed.sites.openstack.tacker.connection import asking
from nfvbed.sites.openstack.tacker.journal import Journal
from nfvbed.sites.openstack.tacker.legacy import LegacyApi
from nfvbed.sites.openstack.tacker.marks import Consoles, Marked
from nfvbed.sites.openstack.tacker.sol import SolApi
from nfvbed.sites.openstack.tacker.waits import wait
from nfvbed.sites.openstack.target import Target
from nfvbed.spec.document import Document
from nfvbed.spec.validate import suggestion
from nfvbed.vnfs.descriptors import given as descriptors
from nfvbed.vnfs.descriptors import naming
from nfvbed.vnfs.descriptors.given import GivenDescriptor, GivenInstance, GivenVnf
from nfvbed.vnfs.descriptors.machines.userdata import seed_words, with_seed
from nfvbed.vnfs.descriptors.naming import CloudNames

_NAME = "given.json"
_LAST_LINES = 5


@dataclass(frozen=True)
class GivenVnfs:
    """Those of one cloud; a file beside the cloud's own state has their owners by name, and is gone with it.

    Args:
        target: the OpenStack; it runs.
        journal: of what is made there.
    """

    target: Target
    journal: Journal

    def onboard(self, given: GivenDescriptor, tell: Tell) -> GivenVnf:
        """Onboard one and wait until its instances are ACTIVE and have printed something; idempotent.

        Raises:
            ConfigurationError: the file is not valid, or names what the cloud does not have; with the line.
            UsageError: what was given with the file is not asked for.
            OnboardError: it failed; with the chain of causes, and nothing of it is left.
            UnsupportedError: these credentials are not enough.
        """
        owners, steps = self._owners(), Steps()
        owner = owners.get(given.name) or secrets.token_hex(4)
        with steps.timed("image"):
            given = self._with_image(given)
        request = self._request(given, owner)
        # Should this nfvbed be killed, the next one removes all that this owner has: its name is free again then.
        self._write({name: one for name, one in owners.items() if name != given.name})
        remembered.note(self.target.folder, owner)
        try:
            vnf = self._api(given).onboard(request, tell)
            marked = self._marked(given, vnf, tell)
            printed = {one.id: self._printed(one.id) for one in vnf.instances}
        except BaseException:
            with suppress(NfvbedError):  # what is under way stays written down: the next command tries again
                left.remove(self.target.connection, self.journal, owner, tell)
                remembered.done(self.target.folder)
            raise
        self._write({**self._owners(), given.name: owner})
        remembered.done(self.target.folder)
        made = vnf if _was_found(vnf) else replace(vnf, steps=(*_of(given, steps), *vnf.steps, *marked.steps))
        return replace(_described(made, printed), said=marked.said)

    def offboard(self, name: str, tell: Tell) -> None:
        """Remove one with all that is of it.

        Raises:
            UsageError: there is none of this name.
            OnboardError: not all of it could be removed; what stays is listed.
        """
        owners = self._owners()
        if name not in owners:
            raise UsageError(
                f"no VNF {name} was onboarded from a file",
                where=str(self._path),
                observed=", ".join(owners) or "none was",
                fix=suggestion(name, list(owners)),
            )
        left.remove(self.target.connection, self.journal, owners.pop(name), tell)
        self._write(owners)

    def names(self) -> tuple[str, ...]:
        """Name those that are onboarded."""
        return tuple(self._owners())

    def _api(self, given: GivenDescriptor) -> OnboardingApi:
        return (SolApi if given.is_package else LegacyApi)(self.target.connection, self.journal)

    def _request(self, given: GivenDescriptor, owner: str) -> OnboardRequest:
        if given.is_package:
            words = seed_words(seed_of(self.target.folder, owner)) if given.made else {}
            content, flavour = descriptors.package(given, owner, words)
            networks, parameters = tuple(given.networks.items()), given.parameters
            return OnboardRequest(given.name, owner, content, networks, flavour, given.level, parameters)
        template = descriptors.template(given)
        self._require_names(template)
        return OnboardRequest(given.name, owner, with_seed(template.data, seed_of(self.target.folder, owner)))

    def _with_image(self, given: GivenDescriptor) -> GivenDescriptor:
        """Put the image that it brings into Glance, and name it in a template; a package names it already."""
        if given.image is None:
            return given
        kept = None if self.target.ours else self.journal
        name = images.keep(self.target.connection, kept, given.image.vnf, given.image.file)
        return replace(given, parameters={**given.parameters, **dict.fromkeys(given.image.inputs, name)})

    def _marked(self, given: GivenDescriptor, vnf: TackerVnf, tell: Tell) -> Marked:
        if given.console is None:
            return Marked((), ())
        return Consoles(self.target.connection, vnf.instances).wait(given.console, given.name, tell)

    def _require_names(self, template: Document) -> None:
        try:
            naming.require_names(template, self._known({name for _, _, name in naming.named(template)}))
        except ConfigurationError as failure:
            fix = f"{failure.fix}; --name OLD=NEW says what this cloud calls it"
            raise ConfigurationError(failure.what, where=failure.where, observed=failure.observed, fix=fix) from None

    def _known(self, wanted: set[str]) -> CloudNames:
        """Return the names of what the cloud has, and those ids that are wanted."""
        connection = self.target.connection
        with asking("the names of networks, flavors and images"):
            listed = (connection.network.networks(), connection.compute.flavors(), connection.image.images())
            kinds = [[(str(one.name), str(one.id)) for one in kind] for kind in listed]
        named = ([*(name for name, _ in kind), *(one for _, one in kind if one in wanted)] for kind in kinds)
        return CloudNames(*named)

    def _printed(self, instance: str) -> str:
        """Return the last line that an instance has printed; empty: it prints nothing."""
        found: list[str] = []

        def some() -> bool:
            # The very last one may be empty.
            found[:] = console.last_lines(self.target.connection, instance, _LAST_LINES)
            return bool(found)

        wait("console", some)
        return found[-1] if found else ""

    @property
    def _path(self) -> Path:
        return self.target.folder / _NAME

    def _owners(self) -> dict[str, str]:
        try:
            found: dict[str, str] = json.loads(self._path.read_text())
        except FileNotFoundError:
            return {}
        return found

    def _write(self, owners: Mapping[str, str]) -> None:
        write_private(self._path, json.dumps(dict(owners)))


def _was_found(vnf: TackerVnf) -> bool:
    return [name for name, _ in vnf.steps] == ["found"]


def _of(given: GivenDescriptor, steps: Steps) -> tuple[tuple[str, int], ...]:
    """Return the time that its image took; a VNF that brings none has no such step."""
    return steps.done if given.image is not None else ()


def _described(vnf: TackerVnf, printed: Mapping[str, str]) -> GivenVnf:
    instances = tuple(
        GivenInstance(
            id=one.id,
            name=one.name,
            host=one.host,
            ports=tuple((port.network, port.mac) for port in one.ports),
            printed=printed[one.id],
        )
        for one in vnf.instances
    )
    return GivenVnf(vnf.name, vnf.api, instances, vnf.steps)
