"""Tacker's SOL API, version 1 (VNF packages and VNF instances): SOL004 packages of SOL001 descriptors."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import openstack.connection
from tackerclient.common import exceptions as tacker_errors

from nfvbed.errors import NfvbedError, OnboardError, UnsupportedError, UsageError
from nfvbed.sites.openstack.tacker import causes, images, stacks, vims
from nfvbed.sites.openstack.tacker.account import Account, Steps
from nfvbed.sites.openstack.tacker.api import OnboardingApi, OnboardRequest, TackerVnf, Tell
from nfvbed.sites.openstack.tacker.connection import asking, is_missing, status
from nfvbed.sites.openstack.tacker.journal import Journal
from nfvbed.sites.openstack.tacker.operations import Operations
from nfvbed.sites.openstack.tacker.packages import Packages, image_names
from nfvbed.sites.openstack.tacker.tags import Tag, digest_of
from nfvbed.sites.openstack.tacker.waits import wait

API = "sol"
_STACKS = ("{name}", "vnflcm_{id}")
"""Names of an instance's stack: where Tacker translates the descriptor, and where the package has a HOT of its own."""
_CONFLICT = 409
_USER_DATA = "lcm-operation-user-data"
_PROTOCOL = {"cpProtocolData": [{"layerProtocol": "IP_OVER_ETHERNET"}]}


class SolApi(OnboardingApi):
    """VNF instances through VNF packages."""

    def __init__(self, connection: openstack.connection.Connection, journal: Journal) -> None:
        self._account = Account(connection, journal)
        self._connection = connection
        self._tacker: Any = self._account.tacker
        self._packages = Packages(self._account)

    def onboard(self, request: OnboardRequest, tell: Tell) -> TackerVnf:
        """Onboard a VNF package."""
        if not isinstance(request.descriptor, bytes):
            raise UsageError("the SOL API takes a VNF package, not a template", fix="use the legacy API for it")
        tag = Tag(
            API, request.owner, request.name, digest_of(request.descriptor), request.networks, self._account.project
        )
        steps = Steps(tell)
        with steps.step("found", f"looking for {tag.label}"):
            there = self._healthy(tag)
        if there is not None:
            return self._vnf(there, tag, steps.done)
        self.clear(tag, tell, keep_digest=True)
        steps = Steps(tell)
        try:
            made = self._make(request, tag, steps)
            return self._vnf(made, tag, steps.done)
        except NfvbedError as failure:
            raise self._failed(tag, failure, tell) from None
        except BaseException:
            with suppress(NfvbedError):  # the journal keeps what is left, for `left.remove`
                self.clear(tag, tell)
            raise

    def scale(self, vnf: TackerVnf, delta: int) -> TackerVnf:
        """Scale the instance's first aspect."""
        with asking(f"VNF instance {vnf.name}"):
            shown = self._tacker.show_vnf_instance(vnf.id)
        aspects = [one["aspectId"] for one in (shown.get("instantiatedVnfInfo") or {}).get("scaleStatus") or ()]
        if not aspects:
            raise UnsupportedError(
                f"VNF {vnf.name} cannot be scaled",
                observed="its descriptor has no scaling aspect (tosca.policies.nfv.ScalingAspects)",
                fix="add one with its deltas, and onboard it again",
            )
        if not (shown["instantiatedVnfInfo"].get("additionalParams") or {}).get(_USER_DATA):
            raise UnsupportedError(
                f"VNF {vnf.name} cannot be scaled",
                observed="Tacker 8 has translated its descriptor itself, and then does not know its scaling group",
                fix=f"instantiate it with a HOT of its own (BaseHOT) and {_USER_DATA} in the request's parameters",
            )
        kind = "SCALE_OUT" if delta > 0 else "SCALE_IN"
        body = {"type": kind, "aspectId": aspects[0], "numberOfSteps": abs(delta)}
        return self._operate(vnf, "scale", lambda: self._tacker.scale_vnf_instance(vnf.id, body), delta)

    def heal(self, vnf: TackerVnf, tell: Tell) -> TackerVnf:
        """Let Tacker make the instance's stack again."""
        tell(f"healing {vnf.name}")
        body = {"cause": "asked for by nfvbed"}
        return self._operate(vnf, "heal", lambda: self._tacker.heal_vnf_instance(vnf.id, body))

    def remove(self, vnf: TackerVnf) -> None:
        """Terminate and delete the instance, disable and delete its package."""
        names: tuple[str, ...] = ()
        for package, _ in self._packages.of(vnf.owner):
            if package["id"] == vnf.descriptor_id:
                names = image_names(package)
        self._delete_instance(vnf.id)
        images.remove_left(self._account, vnf.owner, vnf.name, names)
        self._packages.delete(vnf.descriptor_id)
        self._account.journal.drop(self._account.cloud, vnf.owner, vnf.name)

    def found(self, owner: str) -> tuple[TackerVnf, ...]:
        """Return an owner's VNF instances."""
        return tuple(self._vnf(one, tag) for one, tag in self._tagged() if self._account.ours(tag, owner))

    def _make(self, request: OnboardRequest, tag: Tag, steps: Steps) -> dict[str, Any]:
        tacker, label = self._tacker, tag.unique()
        note = self._account.note("name", label, tag)
        links = self._links(tag)
        with steps.step("vim", "finding Tacker's VIM"):
            vim = vims.find_or_register(self._connection, tacker, note, self._account.journal)
        with steps.step("package", f"VNF package of {tag.label}"):
            package = self._packages.upload(bytes(request.descriptor), tag)  # type: ignore[arg-type]
            for name in image_names(package):
                self._account.note("image-name", name, tag)
        with steps.step("create", f"VNF instance {label}"), asking(f"VNF instance {label}"):
            body = {
                "vnfdId": package["vnfdId"],
                "vnfInstanceName": label,
                "vnfInstanceDescription": tag.text,
            }
            instance = tacker.create_vnf_instance(body)["id"]
            self._account.note("instance", instance, tag)
        with steps.step("instantiate", "waiting until it is instantiated"):
            wanted: dict[str, Any] = {"flavourId": request.flavour, "vimConnectionInfo": vims.connection_info(vim)}
            wanted |= {"extVirtualLinks": links} if links else {}
            wanted |= {"instantiationLevelId": request.level} if request.level else {}
            wanted |= {"additionalParams": dict(request.parameters)} if request.parameters else {}
            operations = Operations(tacker, instance)
            operations.run("instantiate", lambda: tacker.instantiate_vnf_instance(instance, wanted))
        with steps.step("servers", "waiting until its servers are ACTIVE"):
            made = dict(tacker.show_vnf_instance(instance))
            self._account.await_servers(self._stack(made), _path(tag), tag.label)
            return made

    def _links(self, tag: Tag) -> list[dict[str, Any]]:
        """Return what connects the connection points to networks that are there already."""
        by_network: dict[str, list[str]] = {}
        for point, network in tag.networks:
            by_network.setdefault(network, []).append(point)
        links = []
        with asking("the list of networks"):
            for network, points in by_network.items():
                found = self._connection.network.find_network(network, ignore_missing=True)
                if found is None:
                    raise OnboardError(
                        f"no network {network} for connection point {points[0]} of {tag.name}",
                        observed="networks: " + ", ".join(sorted(n.name for n in self._connection.network.networks())),
                    )
                points_on_it = [{"cpdId": point, "cpConfig": [_PROTOCOL]} for point in points]
                links.append({"id": f"link-{network}", "resourceId": found.id, "extCps": points_on_it})
        return links

    def _operate(self, vnf: TackerVnf, name: str, request: Callable[[], object], delta: int = 0) -> TackerVnf:
        try:
            with asking(f"the servers of {vnf.name}"):
                before = len(stacks.servers(self._connection, vnf.stack_id))
            Operations(self._tacker, vnf.id).run(name, request)
            if delta:
                self._account.await_scaled(vnf.stack_id, before, delta, vnf.name)
            with asking(f"VNF instance {vnf.name}"):
                shown = self._tacker.show_vnf_instance(vnf.id)
            tag = Tag.read(shown.get("vnfInstanceDescription")) or Tag(
                API, vnf.owner, vnf.name, "", project=self._account.project
            )
            self._account.await_servers(self._stack(shown), _path(tag), vnf.name)
            return self._vnf(shown, tag)
        except OnboardError as failure:
            raise causes.told(failure, causes.of_stack(self._connection, vnf.stack_id), stays=True) from None

    def _healthy(self, tag: Tag) -> dict[str, Any] | None:
        for instance, found in self._tagged():
            if found == tag and instance["instantiationState"] == "INSTANTIATED":
                with asking(f"the servers of {tag.label}"):
                    states = {one.status for one in stacks.servers(self._connection, self._stack(instance))}
                if states == {"ACTIVE"}:
                    return instance
        return None

    def _tagged(self) -> list[tuple[dict[str, Any], Tag]]:
        with asking("the list of VNF instances"):
            listed = self._tacker.list_vnf_instances()
        tagged = [(one, Tag.read(one.get("vnfInstanceDescription"))) for one in listed]
        return [(one, tag) for one, tag in tagged if tag is not None and tag.api == API]

    def _failed(self, tag: Tag, failure: NfvbedError, tell: Tell) -> NfvbedError:
        """Return the error with the chain of causes, when what was made is removed."""
        chain: tuple[str, ...] = ()
        try:
            with asking("the causes"):
                for instance, found in self._tagged():
                    if tag.same_vnf(found):
                        chain += causes.of_stack(self._connection, self._stack(instance))
        except NfvbedError as unread:
            chain += (f"{unread.what}: {unread.observed}",)
        tell("removing what was made of it")
        try:
            self.clear(tag, tell)
        except NfvbedError as left:
            chain += (f"not all of it could be removed: {left.what}: {left.observed}",)
        return causes.told(failure, chain)

    def clear(self, tag: Tag, tell: Tell, keep_digest: bool = False) -> None:
        """Remove what there is of an owner and name; on demand not the very package that is wanted."""
        for instance, found in self._tagged():
            if tag.same_vnf(found):
                tell(f"removing VNF instance {instance['id']} ({instance['instantiationState']})")
                self._delete_instance(instance["id"])
        names: tuple[str, ...] = ()
        for package, found in self._packages.of(tag.owner):
            if tag.same_vnf(found):
                names += image_names(package)
                if not (keep_digest and found.digest == tag.digest):
                    self._packages.delete(package["id"])
        images.remove_left(self._account, tag.owner, tag.name, names)
        self._account.journal.drop(self._account.cloud, tag.owner, tag.name)

    def _delete_instance(self, instance: str) -> None:
        """Terminate and delete an instance with its stack, whatever state it is in."""
        operations = Operations(self._tacker, instance)
        with asking(f"deleting VNF instance {instance}"):
            if self._shown(instance) is None:
                return
            operations.end()
            shown = self._shown(instance) or {}  # as what has ended meanwhile left it
            if shown.get("instantiationState") == "INSTANTIATED":
                body = {"terminationType": "FORCEFUL"}
                # Where Tacker cannot, what it has in the cloud goes all the same; `delete` below says why it stays.
                with suppress(OnboardError):
                    operations.run("terminate", lambda: self._tacker.terminate_vnf_instance(instance, body))
            left = self._stack(shown) if shown else ""
            if left and not stacks.delete(self._connection, left).done:
                raise OnboardError(f"stack {left} of VNF instance {instance} stays", where="Heat")
            if not wait("delete", lambda: self._deleted(instance, operations)).done:
                raise OnboardError(
                    f"Tacker does not delete VNF instance {instance}",
                    observed=", ".join(f"{one['operation']} {one['operationState']}" for one in operations.all()),
                    fix="nothing of it is left outside of Tacker, and its name blocks nothing",
                )

    def _deleted(self, instance: str, operations: Operations) -> bool:
        """Delete an instance's record; return whether it is gone.

        A conductor that was at work all the same may fail what was cancelled: that is failed again.
        """
        operations.fail()
        try:
            self._tacker.delete_vnf_instance(instance)
        except tacker_errors.TackerException as failure:
            if status(failure) == _CONFLICT:
                return False
            if not is_missing(failure):
                raise
        return True

    def _shown(self, instance: str) -> dict[str, Any] | None:
        try:
            return dict(self._tacker.show_vnf_instance(instance))
        except tacker_errors.TackerException as failure:
            if is_missing(failure):
                return None
            raise

    def _stack(self, instance: Mapping[str, Any]) -> str:
        """Return the id of an instance's stack; empty: it has none."""
        name = str(instance.get("vnfInstanceName", "")).replace(" ", "_")
        names = (one.format(name=name, id=instance["id"]) for one in _STACKS)
        found = (stacks.find(self._connection, one) for one in names if one)
        return next(filter(None, found), "")

    def _vnf(self, instance: Mapping[str, Any], tag: Tag, steps: tuple[tuple[str, int], ...] = ()) -> TackerVnf:
        with asking(f"the instances of {tag.label}"):
            stack = self._stack(instance)
            placed = stacks.instances(self._connection, stack, _path(tag))
            package = self._package_of(instance, tag)
        return TackerVnf(API, instance["id"], package, tag.name, tag.owner, stack, placed, steps)

    def _package_of(self, instance: Mapping[str, Any], tag: Tag) -> str:
        found = [package for package, _ in self._packages.of(tag.owner) if package.get("vnfdId") == instance["vnfdId"]]
        return str(found[0]["id"]) if found else ""

    def _unread(self, vnf: TackerVnf) -> Tag:
        """Return the tag of a VNF whose description somebody has changed."""
        return Tag(API, vnf.owner, vnf.name, "", project=self._account.project)


def _path(tag: Tag) -> tuple[str, ...]:
    return tuple(network for _, network in tag.networks)
