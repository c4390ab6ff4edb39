"""Tacker's legacy API (VNFD and VNF; Tacker 0.7 to 10): templates of `tosca_simple_profile_for_nfv_1_0_0`."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import openstack.connection
from tackerclient.common import exceptions as tacker_errors

from nfvbed.cloud.tacker import causes, stacks, vims
from nfvbed.cloud.tacker.account import Steps
from nfvbed.cloud.tacker.api import OnboardRequest, TackerVnf, Tell
from nfvbed.cloud.tacker.connection import asking, is_missing, status
from nfvbed.cloud.tacker.lifecycle import Shown, TackerApi, path_of
from nfvbed.cloud.tacker.tags import Tag
from nfvbed.cloud.tacker.waits import wait
from nfvbed.errors import NfvbedError, OnboardError, UnsupportedError, UsageError
from nfvbed.spec import boundedyaml

_SCALING = "tosca.policies.tacker.Scaling"
_CONFLICT = 409
_FORCE = {"vnf": {"attributes": {"force": True}}}
_FORCE_ROLE = "a VNF that Tacker lost sight of is deleted by force, which takes the role `admin`"


class LegacyApi(TackerApi[Mapping[str, Any]]):
    """VNFs from VNFDs."""

    api = "legacy"
    kind = "VNF"
    description = "description"

    def scale(self, vnf: TackerVnf, delta: int) -> TackerVnf:
        """Signal the template's scaling policy, once for each step."""
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

    def heal(self, vnf: TackerVnf, request: OnboardRequest, tell: Tell) -> TackerVnf:
        """Delete the VNF, and create it again.

        Tacker itself heals legacy VNFs only by monitoring policies: there is no request for it.
        """
        with asking(f"VNF {vnf.name}"):
            tag = Tag.read(self._show(vnf.id).get(self.description))
        if tag is None:
            raise OnboardError(f"VNF {vnf.name} is not one that nfvbed has made", where=vnf.id)
        self.clear(tag, tell)
        return self.onboard(request, tell)

    def await_respawn(self, vnf: TackerVnf, noticed: Callable[[], None]) -> TackerVnf:
        """Wait until Tacker says `DEAD`, and then `ACTIVE`: its monitor makes a stack in place of the old one."""
        what = f"respawn of {vnf.name}"
        with asking(what):
            waited = wait("monitor", lambda: self._state(vnf.id) != "ACTIVE")
        if not waited.done:
            raise OnboardError(
                f"Tacker's monitor takes {vnf.name} for alive",
                where=f"VNF {vnf.id}",
                observed=f"{waited.seconds:.0f} s after its death Tacker says ACTIVE",
                fix="see the log of Tacker's server: it pings the management address",
            )
        noticed()
        try:
            self._await_active(vnf.id, "heal", what)
            return self._looked_at(vnf)
        except OnboardError as failure:
            chain: tuple[str, ...] = ()
            # Tacker deletes a VNF that it cannot even begin to make again.
            with suppress(NfvbedError), asking(what):
                chain = causes.of_stack(self._connection, self._stack(self._show(vnf.id)))
            raise causes.told(failure, chain, stays=True) from None

    def remove(self, vnf: TackerVnf) -> None:
        """Delete VNF and VNFD."""
        self._delete_vnf(vnf.id)
        self._delete_vnfd(vnf.descriptor_id)
        self._account.journal.drop(self._account.cloud, vnf.owner, vnf.name)

    def _descriptor(self, request: OnboardRequest) -> Mapping[str, Any]:
        if not isinstance(request.descriptor, Mapping):
            raise UsageError("the legacy API takes a template, not a VNF package", fix="use the SOL API for it")
        require_admin(self._connection)
        return request.descriptor

    def _make(self, request: OnboardRequest, descriptor: Mapping[str, Any], tag: Tag, steps: Steps) -> Shown:
        tacker, label = self._tacker, tag.unique()
        note = self._account.note("name", label, tag)
        with steps.step("vim", "finding Tacker's VIM"):
            vim = vims.find_or_register(self._connection, tacker, note, self._account.journal)
        with steps.step("vnfd", f"VNFD {label}"), asking(f"VNFD {label}"):
            body = {"name": label, "description": tag.text, "attributes": {"vnfd": dict(descriptor)}}
            vnfd = tacker.create_vnfd({"vnfd": body})["vnfd"]["id"]
            self._account.note("vnfd", vnfd, tag)
        with steps.step("create", f"VNF {label}"), asking(f"VNF {label}"):
            wanted = {"name": label, "description": tag.text, "vnfd_id": vnfd, "vim_id": vim, "attributes": {}}
            vnf = tacker.create_vnf({"vnf": wanted})["vnf"]["id"]
            self._account.note("vnf", vnf, tag)
        with steps.step("active", "waiting until Tacker says ACTIVE"):
            made = self._await_active(vnf, "create", f"VNF {label}")
        with steps.step("servers", "waiting until its servers are ACTIVE"):
            self._account.await_servers(made["instance_id"], path_of(tag), label)
        return made

    def _await_active(self, vnf: str, step: str, what: str) -> Shown:
        seen: Shown = {}

        def settled() -> bool:
            seen.update(self._show(vnf))
            # Dead: its monitor makes it again.
            return not str(seen["status"]).startswith("PENDING_") and seen["status"] != "DEAD"

        with asking(what):
            waited = wait(step, settled)
        if not waited.done:
            raise OnboardError(f"{what} stays {seen['status']}", where=f"VNF {vnf}", observed=waited.too_long)
        if seen["status"] != "ACTIVE":
            raise OnboardError(f"{what} failed", where=f"VNF {vnf}", observed=f"Tacker: {seen.get('error_reason')}")
        return seen

    def clear(self, tag: Tag, tell: Tell) -> None:
        """Remove all VNFs of an owner and name."""
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
        """Delete a VNF with its stack; by force where Tacker has lost the stack."""
        with asking(f"deleting VNF {vnf}"):
            try:
                shown = self._show(vnf)
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
                fix = f"see why (openstack stack show); it holds nothing but this VNF: openstack stack delete {left}"
                raise OnboardError(f"stack {left} of VNF {vnf} stays", where="Heat", fix=fix)

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
        """Return a VNF's status; empty: Tacker does not have it any more."""
        try:
            return str(self._show(vnf)["status"])
        except tacker_errors.TackerException as failure:
            if is_missing(failure):
                return ""
            raise

    def _listed(self) -> list[Shown]:
        return list(self._tacker.list_vnfs()["vnfs"])

    def _show(self, vnf: str) -> Shown:
        return dict(self._tacker.show_vnf(vnf)["vnf"])

    def _is_made(self, shown: Shown) -> bool:
        return bool(shown["status"] == "ACTIVE")

    def _stack(self, shown: Mapping[str, Any]) -> str:
        return stacks.find(self._connection, shown.get("instance_id") or f"{shown['name']}_{shown['id']}")

    def _descriptor_id(self, shown: Shown, tag: Tag) -> str:
        return str(shown["vnfd_id"])


def require_admin(connection: openstack.connection.Connection) -> None:
    """Refuse credentials with which Tacker would make a VNF that they cannot see, and so cannot remove.

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


def _scaling_policy(vnfd: Mapping[str, Any]) -> str:
    raw = vnfd["attributes"]["vnfd"]
    template: dict[str, Any] = boundedyaml.load(raw) if isinstance(raw, str) else raw
    policies = template.get("topology_template", {}).get("policies", [])
    named = [(name, policy) for one in policies for name, policy in one.items()]
    return next((name for name, policy in named if policy.get("type") == _SCALING), "")
