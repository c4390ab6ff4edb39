"""Tacker's SOL API (VNF packages and VNF instances): SOL004 packages of SOL001 descriptors. Here it is version 1."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

import openstack.connection
from tackerclient.common import exceptions as tacker_errors

from nfvbed.cloud.tacker import causes, images, stacks, vims
from nfvbed.cloud.tacker.account import Steps
from nfvbed.cloud.tacker.api import OnboardRequest, TackerVnf, Tell
from nfvbed.cloud.tacker.connection import asking, is_missing, said, status
from nfvbed.cloud.tacker.journal import Journal
from nfvbed.cloud.tacker.lifecycle import Shown, TackerApi, path_of
from nfvbed.cloud.tacker.operations import Operations
from nfvbed.cloud.tacker.packages import Packages, image_names
from nfvbed.cloud.tacker.tags import Tag
from nfvbed.cloud.tacker.waits import wait
from nfvbed.errors import OnboardError, UnsupportedError, UsageError

_CONFLICT = 409
_USER_DATA = "lcm-operation-user-data"
DYNAMIC = {
    "cpProtocolData": [
        {
            "layerProtocol": "IP_OVER_ETHERNET",
            "ipOverEthernet": {"ipAddresses": [{"type": "IPV4", "numDynamicAddresses": 1}]},
        }
    ]
}
"""Addresses of a connection point that changes its network. Tacker 8 looks for them (`ip_over_ethernet.ip_addresses`)
where there is protocol data at all, and fails without; one dynamic address of no subnet leaves the port as it is."""


class SolApi(TackerApi[bytes]):
    """VNF instances from VNF packages."""

    api = "sol"
    kind = "VNF instance"
    description = "vnfInstanceDescription"
    stack_names: ClassVar[tuple[str, ...]] = ("{name}", "vnflcm_{id}")
    """Names of an instance's stack where Tacker translates the descriptor, and where the package has its own HOT."""
    protocol: ClassVar[Mapping[str, Any]] = {"cpProtocolData": [{"layerProtocol": "IP_OVER_ETHERNET"}]}
    """Protocol data of a new instance's connection points."""

    def __init__(self, connection: openstack.connection.Connection, journal: Journal) -> None:
        super().__init__(connection, journal)
        self._packages = Packages(self._account)

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
        self._require_group(vnf, shown)
        kind = "SCALE_OUT" if delta > 0 else "SCALE_IN"
        body = {"type": kind, "aspectId": aspects[0], "numberOfSteps": abs(delta)}
        return self._operate(vnf, "scale", lambda: self._tacker.scale_vnf_instance(vnf.id, body), delta)

    def _require_group(self, vnf: TackerVnf, shown: Shown) -> None:
        """Refuse to scale what Tacker would look for in vain."""
        if not (shown["instantiatedVnfInfo"].get("additionalParams") or {}).get(_USER_DATA):
            raise UnsupportedError(
                f"VNF {vnf.name} cannot be scaled",
                observed="Tacker 8 has translated its descriptor itself, and then does not know its scaling group",
                fix=f"instantiate it with a HOT of its own (BaseHOT) and {_USER_DATA} in the request's parameters",
            )

    def heal(self, vnf: TackerVnf, request: OnboardRequest, tell: Tell) -> TackerVnf:
        """Ask Tacker to make the instance's stack again, from the package that it has."""
        tell(f"healing {vnf.name}")
        body = {"cause": "asked for by nfvbed"}
        return self._operate(vnf, "heal", lambda: self._tacker.heal_vnf_instance(vnf.id, body))

    def reconnect(self, vnf: TackerVnf, networks: tuple[tuple[str, str], ...]) -> TackerVnf:
        """Change the networks of connection points; the tag in the instance's description follows."""
        with asking(f"VNF instance {vnf.name}"):
            tag = Tag.read(self._show(vnf.id).get(self.description))
        if tag is None:
            raise OnboardError(f"VNF {vnf.name} is not one that nfvbed has made", where=vnf.id)
        known = dict(tag.networks)
        strange = [point for point, _ in networks if point not in known]
        if strange:
            raise UnsupportedError(
                f"VNF {vnf.name} has no external connection point {strange[0]}",
                observed=f"it has {', '.join(known) or 'none'}",
                fix="name one of these",
            )
        changed = replace(tag, networks=tuple((known | dict(networks)).items()))
        links = self._links(replace(tag, networks=networks))
        for point in (point for link in links for point in link["extCps"]):
            point["cpConfig"] = self._config(DYNAMIC)
        try:
            Operations(self._tacker, vnf.id).run("change_ext_conn", lambda: self._reconnect(vnf.id, links))
        except OnboardError as failure:
            raise causes.told(failure, causes.of_stack(self._connection, vnf.stack_id), stays=True) from None
        with asking(f"the description of VNF instance {vnf.name}"):
            self._tacker.update_vnf_instance(vnf.id, {self.description: changed.text})
            wait("settle", lambda: self._show(vnf.id).get(self.description) == changed.text)
        return self._looked_at(vnf)

    def _reconnect(self, instance: str, links: list[dict[str, Any]]) -> None:
        self._tacker.change_ext_conn_vnf_instance(instance, {"extVirtualLinks": links})

    def retry(self, vnf: TackerVnf) -> TackerVnf:
        """Have Tacker do its failed operation once more."""
        try:
            Operations(self._tacker, vnf.id).retry()
            return self._looked_at(vnf)
        except OnboardError as failure:
            raise causes.told(failure, causes.of_stack(self._connection, vnf.stack_id), stays=True) from None

    def rollback(self, vnf: TackerVnf) -> None:
        """Have Tacker undo its failed operation."""
        Operations(self._tacker, vnf.id).rollback()

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

    def _descriptor(self, request: OnboardRequest) -> bytes:
        if not isinstance(request.descriptor, bytes):
            raise UsageError("the SOL API takes a VNF package, not a template", fix="use the legacy API for it")
        return request.descriptor

    def _make(self, request: OnboardRequest, descriptor: bytes, tag: Tag, steps: Steps) -> Shown:
        tacker, label = self._tacker, tag.unique()
        note = self._account.note("name", label, tag)
        links = self._links(tag)
        with steps.step("vim", "finding Tacker's VIM"):
            vim = vims.find_or_register(self._connection, tacker, note, self._account.journal)
        with steps.step("package", f"VNF package of {tag.label}"):
            package = self._packages.upload(descriptor, tag)
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
            wanted: dict[str, Any] = {"flavourId": request.flavour, "vimConnectionInfo": self._vim(vim)}
            wanted |= {"extVirtualLinks": links} if links else {}
            wanted |= {"instantiationLevelId": request.level} if request.level else {}
            wanted |= {"additionalParams": dict(request.parameters)} if request.parameters else {}
            operations = Operations(tacker, instance)
            operations.run("instantiate", lambda: tacker.instantiate_vnf_instance(instance, wanted))
        with steps.step("servers", "waiting until its servers are ACTIVE"):
            made = self._show(instance)
            self._account.await_servers(self._stack(made), path_of(tag), tag.label)
            return made

    def _links(self, tag: Tag) -> list[dict[str, Any]]:
        """Return the connections of the connection points to networks that are already there."""
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
                points_on_it = [{"cpdId": point, "cpConfig": self._config(self.protocol)} for point in points]
                links.append({"id": f"link-{network}", "resourceId": found.id, "extCps": points_on_it})
        return links

    def _vim(self, vim: str) -> Any:
        """Return a VIM as a request names it."""
        return vims.connection_info(vim)

    def _config(self, protocol: Mapping[str, Any]) -> Any:
        """Return the configuration of a connection point."""
        return [protocol]

    def _operate(self, vnf: TackerVnf, name: str, request: Callable[[], object], delta: int = 0) -> TackerVnf:
        try:
            with asking(f"the servers of {vnf.name}"):
                before = len(stacks.servers(self._connection, vnf.stack_id))
            Operations(self._tacker, vnf.id).run(name, request)
            if delta:
                self._account.await_scaled(vnf.stack_id, before, delta, vnf.name)
            return self._looked_at(vnf)
        except OnboardError as failure:
            raise causes.told(failure, causes.of_stack(self._connection, vnf.stack_id), stays=True) from None

    def _make_room(self, tag: Tag, tell: Tell) -> None:
        """Remove all but exactly the package that is wanted."""
        self._clear(tag, tell, keep=tag.digest)

    def clear(self, tag: Tag, tell: Tell) -> None:
        """Remove everything of an owner and name."""
        self._clear(tag, tell)

    def _clear(self, tag: Tag, tell: Tell, keep: str = "") -> None:
        """Remove everything but a package of the digest `keep`."""
        for instance in self._of(tag):
            tell(f"removing VNF instance {instance['id']} ({instance['instantiationState']})")
            self._delete_instance(instance["id"])
        names: tuple[str, ...] = ()
        for package, found in self._packages.of(tag.owner):
            if found.name == tag.name:
                names += image_names(package)
                if found.digest != keep:
                    self._packages.delete(package["id"])
        images.remove_left(self._account, tag.owner, tag.name, names)
        self._account.journal.drop(self._account.cloud, tag.owner, tag.name)

    def _delete_instance(self, instance: str) -> None:
        """Terminate and delete an instance with its stack, whatever state it is in."""
        operations = Operations(self._tacker, instance)
        with asking(f"deleting VNF instance {instance}"):
            if self._show_if_there(instance) is None:
                return
            operations.end()
            shown = self._show_if_there(instance) or {}  # as what has ended meanwhile left it
            if shown.get("instantiationState") == "INSTANTIATED":
                body = {"terminationType": "FORCEFUL"}
                # Where Tacker cannot, what it has in the cloud goes all the same; `delete` below says why it stays.
                with suppress(OnboardError):
                    operations.run("terminate", lambda: self._tacker.terminate_vnf_instance(instance, body))
            left = self._stack(shown) if shown else ""
            if left and not stacks.delete(self._connection, left).done:
                raise OnboardError(f"stack {left} of VNF instance {instance} stays", where="Heat")
            refusals = [""]

            def is_gone() -> bool:
                refusals[0] = self._delete_record(instance, operations)
                return not refusals[0]

            if not wait("delete", is_gone).done:
                states = ", ".join(f"{one['operation']} {one['operationState']}" for one in operations.all())
                raise OnboardError(
                    f"Tacker does not delete VNF instance {instance}",
                    observed=f"{states}; Tacker: {refusals[0]}",
                    fix="nothing of it is left outside of Tacker, and its name blocks nothing",
                )

    def _delete_record(self, instance: str, operations: Operations) -> str:
        """Delete an instance's record; return why Tacker does not; empty: it is gone.

        A conductor that was still at work may make a cancelled operation fail for the time being: that is failed again.
        """
        operations.fail()
        try:
            self._tacker.delete_vnf_instance(instance)
        except tacker_errors.TackerException as failure:
            if status(failure) == _CONFLICT:
                return said(failure)
            if not is_missing(failure):
                raise
        return ""

    def _listed(self) -> list[Shown]:
        return list(self._tacker.list_vnf_instances())

    def _show(self, vnf: str) -> Shown:
        return dict(self._tacker.show_vnf_instance(vnf))

    def _show_if_there(self, instance: str) -> Shown | None:
        try:
            return self._show(instance)
        except tacker_errors.TackerException as failure:
            if is_missing(failure):
                return None
            raise

    def _is_made(self, shown: Shown) -> bool:
        return bool(shown["instantiationState"] == "INSTANTIATED")

    def _stack(self, shown: Mapping[str, Any]) -> str:
        name = str(shown.get("vnfInstanceName", "")).replace(" ", "_")
        names = (one.format(name=name, id=shown["id"]) for one in self.stack_names)
        found = (stacks.find(self._connection, one) for one in names if one)
        return next(filter(None, found), "")

    def _descriptor_id(self, shown: Shown, tag: Tag) -> str:
        found = [package for package, _ in self._packages.of(tag.owner) if package.get("vnfdId") == shown["vnfdId"]]
        return str(found[0]["id"]) if found else ""
