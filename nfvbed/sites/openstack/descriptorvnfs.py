"""VNFs from users' descriptors: onboarded through the API that takes them, and removed by name."""

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from nfvbed.cloud.devcloud.places import write_private
from nfvbed.cloud.tacker import console, left
from nfvbed.cloud.tacker.api import OnboardingApi, TackerVnf, Tell
from nfvbed.cloud.tacker.connection import asking, tacker_client
from nfvbed.cloud.tacker.journal import Journal
from nfvbed.cloud.tacker.legacy import LegacyApi
from nfvbed.cloud.tacker.marks import Consoles, ReadinessLines
from nfvbed.cloud.tacker.served import probe
from nfvbed.cloud.tacker.sol import SolApi
from nfvbed.cloud.tacker.waits import wait
from nfvbed.errors import NfvbedError, UnsupportedError, UsageError
from nfvbed.host.timing import Steps
from nfvbed.sites.openstack import images, storeddeployment
from nfvbed.sites.openstack.seeds import seed_of
from nfvbed.sites.openstack.target import Target
from nfvbed.spec.validate import suggestion
from nfvbed.spec.variant import Variant
from nfvbed.vnfs.descriptors import descriptorfit, epa
from nfvbed.vnfs.descriptors.descriptorfile import DescriptorVnf, VnfcInstance
from nfvbed.vnfs.descriptors.descriptorfit import DescriptorFit
from nfvbed.vnfs.descriptors.epa import Mismatch, mismatch_of
from nfvbed.vnfs.descriptors.model import Flavour
from nfvbed.vnfs.descriptors.naming import ADDRESS, CloudNames, NamedResource
from nfvbed.vnfs.descriptors.onboardable import Form, OnboardableVnf

_NAME = "given.json"
_LAST_LINES = 5


def owners_of(folder: Path) -> tuple[str, ...]:
    """Return the owners of nfvbed's things on a cloud: what is deployed, under way, or came by descriptors.

    Raises:
        DeployError: what was written down cannot be read.
    """
    found = storeddeployment.find(folder)
    given = json.loads((folder / _NAME).read_text()) if (folder / _NAME).is_file() else {}
    named = (found.deployment.id if found else "", storeddeployment.under_way(folder), *given.values())
    return tuple(dict.fromkeys(filter(None, named)))


@dataclass(frozen=True)
class DescriptorVnfs:
    """The VNFs from descriptors on one cloud; their owners are in a file beside the cloud's state, and go with it.

    Args:
        journal: record of what is made there.
    """

    target: Target
    journal: Journal

    def fit(self, variant: Variant, found: OnboardableVnf) -> DescriptorFit:
        """Compare a descriptor with a variant, the cloud's flavors and its names; nothing is changed.

        A cloud of ours that does not run is compared by what it will have; one that does not answer is not compared.

        Raises:
            ConfigurationError: a part of the descriptor cannot be read.
        """
        unbound = self.fit_networks(variant, found.name, found.deployed())
        if unbound:
            return DescriptorFit(unbound, found.notes)
        wanted = "sol" if found.form is Form.PACKAGE else "legacy"
        notes: tuple[str, ...] = ()
        answers = self.target.runs()
        if answers:
            try:
                apis = probe(tacker_client(self.target.connection))
                if not apis.has(wanted):
                    return DescriptorFit((mismatch_of(apis.lacking(wanted), "form"),), found.notes)
            except NfvbedError as failure:
                answers, notes = False, (_not_compared(failure),)
        if found.own_hot:
            return DescriptorFit(notes=(*found.notes, "its own HOT says what its machines are: that is not compared"))
        known, specs = None if notes else self.target.contents, dict(self.target.flavor_specs)
        if answers:
            try:
                names = found.names()
                known = self._known(names)
                specs |= self._specs({one.name for one in names if one.kind == "flavor"})
            except NfvbedError as failure:
                known, notes = None, (_not_compared(failure),)
        lacking = () if known is None else tuple(found.lacking(known))
        return descriptorfit.fit(found, variant, specs) + DescriptorFit(lacking, notes)

    def fit_networks(self, variant: Variant, name: str, flavour: Flavour) -> tuple[Mismatch, ...]:
        """Compare networks that are made with a VNF with what the variant's compute binds ports of."""
        why = self.target.no_made_networks(variant)
        made = [link.name for link in flavour.links if link.made] if why else []
        if not made:
            return ()
        failure = UnsupportedError(
            f"networks that are made with VNF {name} do not reach {variant.name}",
            where=f"deployment flavour {flavour.name}",
            observed=f"{', '.join(made)}: {why}",
            fix="choose a variant on which a test drives such a VNF (docs/reference/planes-by-api.md)",
        )
        return (mismatch_of(failure, "networks"),)

    def onboard(self, found: OnboardableVnf, tell: Tell) -> DescriptorVnf:
        """Onboard a VNF and wait until its instances are ACTIVE and have printed something; idempotent.

        Raises:
            ConfigurationError: it names what the cloud does not have; with the line.
            OnboardError: it failed; with the chain of causes, and nothing of it is left.
            UnsupportedError: these credentials are not enough.
        """
        owners, steps = self._owners(), Steps()
        owner = owners.get(found.name) or secrets.token_hex(4)
        if found.image is not None:
            with steps.timed("image"):
                kept = None if self.target.ours else self.journal
                images.keep(self.target.connection, kept, found.image.vnf, found.image.file)
        if found.form is Form.TEMPLATE:
            epa.require_fit(found.lacking(self._known(found.names())))
        request = found.request(owner, seed_of(self.target.folder, owner))
        # Should this nfvbed be killed, the next one removes all that this owner has: its name is free again then.
        self._write({name: one for name, one in owners.items() if name != found.name})
        storeddeployment.note(self.target.folder, owner)
        try:
            vnf = self._api(found.form).onboard(request, tell)
            marked = self._marked(found, vnf, tell)
            printed = {one.id: self._printed(one.id) for one in vnf.instances}
        except BaseException:
            with suppress(NfvbedError):  # what is under way stays written down: the next command tries again
                left.remove(self.target.connection, self.journal, owner, tell)
                storeddeployment.done(self.target.folder)
            raise
        self._write({**self._owners(), found.name: owner})
        storeddeployment.done(self.target.folder)
        made = vnf if _was_found(vnf) else replace(vnf, steps=(*steps.done, *vnf.steps, *marked.steps))
        return replace(_described(made, printed), said=marked.said)

    def offboard(self, name: str, tell: Tell) -> None:
        """Remove a VNF with all that belongs to it.

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
        """Return the names of the onboarded VNFs."""
        return tuple(self._owners())

    def _api(self, form: Form) -> OnboardingApi:
        return (SolApi if form is Form.PACKAGE else LegacyApi)(self.target.connection, self.journal)

    def _marked(self, found: OnboardableVnf, vnf: TackerVnf, tell: Tell) -> ReadinessLines:
        if found.console is None:
            return ReadinessLines((), ())
        return Consoles(self.target.connection, vnf.instances).wait(found.console, found.name, tell)

    def _known(self, named: Sequence[NamedResource]) -> CloudNames:
        """Return the names of what the cloud has, and their ids.

        Keys, zones, floating networks and subnets are asked for where a descriptor names some.
        """
        connection, kinds = self.target.connection, {one.kind for one in named}
        wanted = {one.name for one in named}

        def names(listed: Iterable[Any]) -> list[str]:
            found = [(str(one.name), str(getattr(one, "id", ""))) for one in listed]
            return [*(name for name, _ in found), *(one for _, one in found if one in wanted)]

        with asking("the names of networks, flavors, images, keys and zones"):
            networks = list(connection.network.networks())
            outer = [one for one in networks if getattr(one, "is_router_external", False)]
            return CloudNames(
                networks=names(networks),
                flavors=names(connection.compute.flavors()),
                images=names(connection.image.images()),
                keys=names(connection.compute.keypairs()) if "key" in kinds else None,
                zones=names(connection.compute.availability_zones()) if "zone" in kinds else None,
                floating=names(outer) if "floating network" in kinds else None,
                subnets=self._subnets(networks) if ADDRESS in kinds else {},
            )

    def _subnets(self, networks: Sequence[Any]) -> dict[str, list[str]]:
        titles = {str(one.id): str(one.name) for one in networks}
        found: dict[str, list[str]] = {}
        for subnet in self.target.connection.network.subnets():
            for name in (titles.get(str(subnet.network_id)), str(subnet.network_id)):
                if name:
                    found.setdefault(name, []).append(str(subnet.cidr))
        return found

    def _specs(self, wanted: set[str]) -> dict[str, dict[str, str]]:
        """Return the extra specs of those flavors that the cloud has, by name and id."""
        compute, found = self.target.connection.compute, dict[str, dict[str, str]]()
        if not wanted:
            return found
        with asking("extra specs of flavors"):
            for one in compute.flavors():
                for name in {str(one.name), str(one.id)} & wanted:
                    specs = compute.fetch_flavor_extra_specs(one).extra_specs or {}
                    found[name] = {str(key): str(value) for key, value in specs.items()}
        return found

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


def _not_compared(failure: NfvbedError) -> str:
    said = ": ".join(filter(None, (failure.what, failure.observed)))
    return f"what the descriptor names is not compared with the cloud: {said}"


def _was_found(vnf: TackerVnf) -> bool:
    return [name for name, _ in vnf.steps] == ["found"]


def _described(vnf: TackerVnf, printed: Mapping[str, str]) -> DescriptorVnf:
    instances = tuple(
        VnfcInstance(
            id=one.id,
            name=one.name,
            host=one.host,
            ports=tuple((port.network, port.mac) for port in one.ports),
            printed=printed[one.id],
        )
        for one in vnf.instances
    )
    return DescriptorVnf(vnf.name, vnf.api, instances, vnf.steps)
