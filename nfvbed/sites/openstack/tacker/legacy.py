"""Tacker's legacy API (VNFD and VNF; Tacker 0.7 to 10): templates of `tosca_simple_profile_for_nfv_1_0_0`."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import openstack.connection
import yaml
from tackerclient.common import exceptions as tacker_errors

from nfvbed.errors import NfvbedError, OnboardError, UnsupportedError, UsageError
from nfvbed.sites.openstack.tacker import causes, stacks, vims
from nfvbed.sites.openstack.tacker.account import Account, Steps
from nfvbed.sites.openstack.tacker.api import OnboardingApi, OnboardRequest, TackerVnf, Tell
from nfvbed.sites.openstack.tacker.connection import asking, is_missing, status
from nfvbed.sites.openstack.tacker.journal import Journal
from nfvbed.sites.openstack.tacker.tags import Tag, digest_of
from nfvbed.sites.openstack.tacker.waits import wait

API = "legacy"
_SCALING = "tosca.policies.tacker.Scaling"
_CONFLICT = 409
_FORCE = {"vnf": {"attributes": {"force": True}}}
_FORCE_ROLE = "a VNF that Tacker lost sight of is deleted by force, which takes the role `admin`"


class LegacyApi(OnboardingApi):
    """VNFs through VNFDs."""

    def __init__(self, connection: openstack.connection.Connection, journal: Journal) -> None:
        self._account = Account(connection, journal)
        self._connection = connection
        self._tacker: Any = self._account.tacker

    def onboard(self, request: OnboardRequest, tell: Tell) -> TackerVnf:
        """Onboard a legacy template."""
        if not isinstance(request.descriptor, Mapping):
            raise UsageError("the legacy API takes a template, not a VNF package", fix="use the SOL API for it")
        tag = Tag(
            API, request.owner, request.name, digest_of(request.descriptor), request.networks, self._account.project
        )
        require_admin(self._connection)
        steps = Steps(tell)
        with steps.step("found", f"looking for {tag.label}"):
            there = self._healthy(tag)
        if there is not None:
            return self._vnf(there, tag, steps.done)
        self.clear(tag, tell)
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
        """Signal the template's scaling policy, step by step."""
        with asking(f"VNF {vnf.name}"):
            policy = _scaling_policy(self._tacker.show_vnfd(vnf.descriptor_id)["vnfd"])
        if not policy:
            raise UnsupportedError(
                f"VNF {vnf.name} cannot be scaled",
                observed=f"its template has no policy of the type {_SCALING}",
                fix="add one to topology_template.policies, and onboard it again",
            )
        body = {"scale": {"type": "out" if delta > 0 else "in", "policy": policy}}
        for _ in range(abs(delta)):
            try:
                before = len(stacks.servers(self._connection, vnf.stack_id))
                with asking(f"scaling of {vnf.name}"):
                    self._tacker.scale_vnf(vnf.id, body)
                self._await_active(vnf.id, "scale", f"scaling of {vnf.name}")
                self._account.await_scaled(vnf.stack_id, before, 1 if delta > 0 else -1, vnf.name)
            except OnboardError as failure:
                raise causes.told(failure, causes.of_stack(self._connection, vnf.stack_id), stays=True) from None
        return self._looked_at(vnf)

    def heal(self, vnf: TackerVnf, tell: Tell) -> TackerVnf:
        """Delete it and create it again from the template that Tacker has.

        Tacker heals legacy VNFs by monitoring policies alone, from within: there is no request for it.
        """
        with asking(f"VNFD of {vnf.name}"):
            descriptor = _template(self._tacker.show_vnfd(vnf.descriptor_id)["vnfd"])
            tag = self._tag(self._tacker.show_vnf(vnf.id)["vnf"])
        if tag is None:
            raise OnboardError(f"VNF {vnf.name} is not one that nfvbed has made", where=vnf.id)
        self.clear(tag, tell)
        return self.onboard(OnboardRequest(tag.name, tag.owner, descriptor, tag.networks), tell)

    def remove(self, vnf: TackerVnf) -> None:
        """Delete VNF and VNFD."""
        self._delete_vnf(vnf.id)
        self._delete_vnfd(vnf.descriptor_id)
        self._account.journal.drop(self._account.cloud, vnf.owner, vnf.name)

    def found(self, owner: str) -> tuple[TackerVnf, ...]:
        """Return an owner's VNFs."""
        with asking("the list of VNFs"):
            tagged = [(vnf, self._tag(vnf)) for vnf in self._tacker.list_vnfs()["vnfs"]]
        return tuple(
            self._vnf(vnf, tag) for vnf, tag in tagged if tag and tag.api == API and self._account.ours(tag, owner)
        )

    def _make(self, request: OnboardRequest, tag: Tag, steps: Steps) -> dict[str, Any]:
        template = dict(request.descriptor)  # type: ignore[arg-type]
        tacker = self._tacker
        label = tag.unique()
        note = self._account.note("name", label, tag)
        with steps.step("vim", "finding Tacker's VIM"):
            vim = vims.find_or_register(self._connection, tacker, note, self._account.journal)
        with steps.step("vnfd", f"VNFD {label}"), asking(f"VNFD {label}"):
            body = {"name": label, "description": tag.text, "attributes": {"vnfd": template}}
            vnfd = tacker.create_vnfd({"vnfd": body})["vnfd"]["id"]
            self._account.note("vnfd", vnfd, tag)
        with steps.step("create", f"VNF {label}"), asking(f"VNF {label}"):
            wanted = {"name": label, "description": tag.text, "vnfd_id": vnfd, "vim_id": vim, "attributes": {}}
            vnf = tacker.create_vnf({"vnf": wanted})["vnf"]["id"]
            self._account.note("vnf", vnf, tag)
        with steps.step("active", "waiting until Tacker says ACTIVE"):
            made = self._await_active(vnf, "create", f"VNF {label}")
        with steps.step("servers", "waiting until its servers are ACTIVE"):
            self._account.await_servers(made["instance_id"], _path(tag), label)
        return made

    def _await_active(self, vnf: str, step: str, what: str) -> dict[str, Any]:
        seen: dict[str, Any] = {}

        def settled() -> bool:
            seen.update(self._tacker.show_vnf(vnf)["vnf"])
            return not str(seen["status"]).startswith("PENDING_")

        with asking(what):
            waited = wait(step, settled)
        if not waited.done:
            raise OnboardError(f"{what} stays {seen['status']}", where=f"VNF {vnf}", observed=waited.too_long)
        if seen["status"] != "ACTIVE":
            raise OnboardError(f"{what} failed", where=f"VNF {vnf}", observed=f"Tacker: {seen.get('error_reason')}")
        return seen

    def _healthy(self, tag: Tag) -> dict[str, Any] | None:
        """Return the VNF of this very tag, if it and its servers are ACTIVE."""
        for vnf in self._of(tag):
            if self._tag(vnf) == tag and vnf["status"] == "ACTIVE":
                with asking(f"the servers of {tag.label}"):
                    states = {one.status for one in stacks.servers(self._connection, vnf["instance_id"])}
                return vnf if states == {"ACTIVE"} else None
        return None

    def _of(self, tag: Tag) -> list[dict[str, Any]]:
        """Return the VNFs of an owner and name, of whatever descriptor."""
        with asking("the list of VNFs"):
            tagged = [(vnf, self._tag(vnf)) for vnf in self._tacker.list_vnfs()["vnfs"]]
        return [vnf for vnf, found in tagged if tag.same_vnf(found)]

    def _failed(self, tag: Tag, failure: NfvbedError, tell: Tell) -> NfvbedError:
        """Return the error with the chain of causes, when what was made is removed."""
        chain: tuple[str, ...] = ()
        try:
            with asking("the causes"):
                for vnf in self._of(tag):
                    chain += causes.of_stack(self._connection, self._stack(vnf))
        except NfvbedError as unread:
            chain += (f"{unread.what}: {unread.observed}",)
        tell("removing what was made of it")
        try:
            self.clear(tag, tell)
        except NfvbedError as left:
            chain += (f"not all of it could be removed: {left.what}: {left.observed}",)
        return causes.told(failure, chain)

    def clear(self, tag: Tag, tell: Tell) -> None:
        """Remove what there is of an owner and name."""
        for vnf in self._of(tag):
            tell(f"removing VNF {vnf['id']} ({vnf['status']})")
            self._delete_vnf(vnf["id"])
        with asking("the list of VNFDs"):
            listed = [self._tacker.show_vnfd(one["id"])["vnfd"] for one in self._tacker.list_vnfds()["vnfds"]]
        for vnfd in listed:
            if tag.same_vnf(Tag.read(vnfd.get("description"))):
                self._delete_vnfd(vnfd["id"])
        self._account.journal.drop(self._account.cloud, tag.owner, tag.name)

    def _delete_vnf(self, vnf: str) -> None:
        """Delete a VNF with its stack; by force where Tacker has lost sight of it."""
        with asking(f"deleting VNF {vnf}"):
            try:
                shown = self._tacker.show_vnf(vnf)["vnf"]
            except tacker_errors.TackerException as failure:
                if is_missing(failure):
                    return
                raise
            stack = self._stack(shown)
            if str(shown["status"]).startswith("PENDING_"):
                wait("settle", lambda: not self._state(vnf).startswith("PENDING_"))
            if not self._deletes(vnf, None):
                with asking(f"deleting VNF {vnf} by force", _FORCE_ROLE):
                    self._deletes(vnf, _FORCE)
            left = stacks.find(self._connection, stack) if stack else ""
            if left and not stacks.delete(self._connection, left).done:
                raise OnboardError(f"stack {left} of VNF {vnf} stays", where="Heat", fix="openstack stack delete")

    def _deletes(self, vnf: str, body: dict[str, Any] | None) -> bool:
        """Delete a VNF; return whether it is gone."""
        try:
            self._tacker.delete_vnf(vnf, body)
        except tacker_errors.TackerException as failure:
            if is_missing(failure):
                return True
            if status(failure) in (_CONFLICT, 500):
                return False
            raise
        wait("delete", lambda: self._state(vnf) in ("", "ERROR"))
        return not self._state(vnf)

    def _delete_vnfd(self, vnfd: str) -> None:
        with asking(f"deleting VNFD {vnfd}"):
            try:
                self._tacker.delete_vnfd(vnfd)
            except tacker_errors.TackerException as failure:
                if not is_missing(failure):
                    raise

    def _state(self, vnf: str) -> str:
        """Return a VNF's status; empty: Tacker has it no longer."""
        try:
            return str(self._tacker.show_vnf(vnf)["vnf"]["status"])
        except tacker_errors.TackerException as failure:
            if is_missing(failure):
                return ""
            raise

    def _stack(self, vnf: Mapping[str, Any]) -> str:
        """Return the id of a VNF's stack, also where Tacker does not know it yet."""
        return stacks.find(self._connection, vnf.get("instance_id") or f"{vnf['name']}_{vnf['id']}")

    def _tag(self, vnf: Mapping[str, Any]) -> Tag | None:
        return Tag.read(vnf.get("description"))

    def _vnf(self, vnf: Mapping[str, Any], tag: Tag, steps: tuple[tuple[str, int], ...] = ()) -> TackerVnf:
        with asking(f"the instances of {tag.label}"):
            stack = self._stack(vnf)
            placed = stacks.instances(self._connection, stack, _path(tag))
        return TackerVnf(API, vnf["id"], vnf["vnfd_id"], tag.name, tag.owner, stack, placed, steps)

    def _looked_at(self, vnf: TackerVnf) -> TackerVnf:
        with asking(f"VNF {vnf.name}"):
            shown = self._tacker.show_vnf(vnf.id)["vnf"]
        tag = self._tag(shown) or self._unread(vnf)
        self._account.await_servers(shown["instance_id"], _path(tag), vnf.name)
        return self._vnf(shown, tag)

    def _unread(self, vnf: TackerVnf) -> Tag:
        """Return the tag of a VNF whose description somebody has changed."""
        return Tag(API, vnf.owner, vnf.name, "", project=self._account.project)


def require_admin(connection: openstack.connection.Connection) -> None:
    """Refuse credentials with which Tacker would make a VNF that they cannot see, and so not remove.

    Raises:
        UnsupportedError: they are not an administrator's.
    """
    with asking("Keystone's token"):
        session: Any = connection.session
        roles = session.auth.get_access(session).role_names
    if "admin" not in roles:
        raise UnsupportedError(
            "Tacker's legacy API cannot be used with these credentials",
            observed=f"roles: {', '.join(sorted(roles))}; its policy lets administrators alone see VNFs (rule:get_vnf)",
            fix="the role `admin` in this project, or the SOL API, for which `member` is enough",
        )


def _path(tag: Tag) -> tuple[str, ...]:
    return tuple(network for _, network in tag.networks)


def _template(vnfd: Mapping[str, Any]) -> dict[str, Any]:
    raw = vnfd["attributes"]["vnfd"]
    found: dict[str, Any] = yaml.safe_load(raw) if isinstance(raw, str) else raw
    return found


def _scaling_policy(vnfd: Mapping[str, Any]) -> str:
    policies = _template(vnfd).get("topology_template", {}).get("policies", [])
    named = [(name, policy) for one in policies for name, policy in one.items()]
    return next((name for name, policy in named if policy.get("type") == _SCALING), "")
