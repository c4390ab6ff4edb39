"""Onboarding, as far as it is the same with both of Tacker's APIs."""

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, ClassVar, Generic, TypeVar

import openstack.connection

from nfvbed.cloud.tacker import causes, stacks
from nfvbed.cloud.tacker.account import Account, Steps
from nfvbed.cloud.tacker.api import OnboardingApi, OnboardRequest, TackerVnf, Tell
from nfvbed.cloud.tacker.connection import asking
from nfvbed.cloud.tacker.journal import Journal
from nfvbed.cloud.tacker.tags import Tag, digest_of
from nfvbed.errors import NfvbedError

Shown = dict[str, Any]
"""A VNF or a VNF instance as Tacker shows it."""
Descriptor = TypeVar("Descriptor", Mapping[str, Any], bytes)


class TackerApi(OnboardingApi, Generic[Descriptor]):
    """VNFs of one of Tacker's APIs; the tags in their descriptions identify them."""

    api: ClassVar[str]
    """Its name in tags."""
    kind: ClassVar[str]
    """What this API calls a VNF."""
    description: ClassVar[str]
    """The key of what Tacker shows that has the tag."""

    def __init__(self, connection: openstack.connection.Connection, journal: Journal) -> None:
        self._account = Account(connection, journal)
        self._connection = connection
        self._tacker: Any = self._account.tacker

    def onboard(self, request: OnboardRequest, tell: Tell) -> TackerVnf:
        """Return the healthy VNF of this descriptor; make it where there is none."""
        self._account.apis.require(self.api)
        descriptor = self._descriptor(request)
        tag = Tag(self.api, request.owner, request.name, digest_of(descriptor), request.networks, self._account.project)
        steps = Steps(tell)
        with steps.step("found", f"looking for {tag.label}"):
            there = self._healthy(tag)
        if there is not None:
            return self._vnf(there, tag, steps.done)
        self._make_room(tag, tell)
        steps = Steps(tell)
        try:
            made = self._make(request, descriptor, tag, steps)
            return self._vnf(made, tag, steps.done)
        except NfvbedError as failure:
            raise self._failed(tag, failure, tell) from None
        except BaseException:
            with suppress(NfvbedError):  # the journal keeps what is left, for `left.remove`
                self.clear(tag, tell)
            raise

    def found(self, owner: str) -> tuple[TackerVnf, ...]:
        """Return an owner's VNFs; none where Tacker does not have this API."""
        return tuple(self._vnf(one, tag) for one, tag in self._tagged() if self._account.ours(tag, owner))

    @abstractmethod
    def clear(self, tag: Tag, tell: Tell) -> None:
        """Remove all VNFs of an owner and name."""

    @abstractmethod
    def _descriptor(self, request: OnboardRequest) -> Descriptor:
        """Return the request's descriptor, if it is one for this API and these credentials suffice.

        Raises:
            UsageError: it is the other API's.
            UnsupportedError: the credentials are not enough; with the role.
        """

    @abstractmethod
    def _make(self, request: OnboardRequest, descriptor: Descriptor, tag: Tag, steps: Steps) -> Shown:
        """Make the VNF and wait until its servers are ACTIVE."""

    @abstractmethod
    def _listed(self) -> list[Shown]:
        """Return all VNFs that Tacker lists to these credentials."""

    @abstractmethod
    def _show(self, vnf: str) -> Shown:
        """Return one VNF."""

    @abstractmethod
    def _is_made(self, shown: Shown) -> bool:
        """Return whether Tacker considers the VNF complete."""

    @abstractmethod
    def _stack(self, shown: Mapping[str, Any]) -> str:
        """Return the id of its stack, even where Tacker does not know that yet; empty: it has none."""

    @abstractmethod
    def _descriptor_id(self, shown: Shown, tag: Tag) -> str:
        """Return the id of its VNFD or VNF package."""

    def _make_room(self, tag: Tag, tell: Tell) -> None:
        """Remove whatever conflicts with a new VNF."""
        self.clear(tag, tell)

    def _tagged(self) -> list[tuple[Shown, Tag]]:
        """Return our VNFs, of any owner."""
        if not self._account.apis.has(self.api):
            return []
        with asking(f"the list of {self.kind}s"):
            listed = self._listed()
        tagged = [(one, Tag.read(one.get(self.description))) for one in listed]
        return [(one, tag) for one, tag in tagged if tag is not None and tag.api == self.api]

    def _of(self, tag: Tag) -> list[Shown]:
        """Return the VNFs of an owner and name, of any descriptor."""
        return [one for one, found in self._tagged() if tag.same_vnf(found)]

    def _healthy(self, tag: Tag) -> Shown | None:
        """Return the VNF of exactly this tag, if it is complete and its servers are ACTIVE."""
        for shown, found in self._tagged():
            if found == tag and self._is_made(shown):
                with asking(f"the servers of {tag.label}"):
                    states = {one.status for one in stacks.servers(self._connection, self._stack(shown))}
                if states == {"ACTIVE"}:
                    return shown
        return None

    def _failed(self, tag: Tag, failure: NfvbedError, tell: Tell) -> NfvbedError:
        """Remove what was made, and return the error with its chain of causes."""
        chain: tuple[str, ...] = ()
        try:
            with asking("the causes"):
                for shown in self._of(tag):
                    chain += causes.of_stack(self._connection, self._stack(shown))
        except NfvbedError as unread:
            chain += (f"{unread.what}: {unread.observed}",)
        tell("removing what was made of it")
        try:
            self.clear(tag, tell)
        except NfvbedError as left:
            chain += (f"not all of it could be removed: {left.what}: {left.observed}",)
        return causes.told(failure, chain)

    def _looked_at(self, vnf: TackerVnf) -> TackerVnf:
        """Return the VNF in its present state, if all its servers are ACTIVE."""
        with asking(f"{self.kind} {vnf.name}"):
            shown = self._show(vnf.id)
        # Its description may have been changed.
        unread = Tag(self.api, vnf.owner, vnf.name, "", project=self._account.project)
        tag = Tag.read(shown.get(self.description)) or unread
        self._account.await_servers(self._stack(shown), path_of(tag), vnf.name)
        return self._vnf(shown, tag)

    def _vnf(self, shown: Shown, tag: Tag, steps: tuple[tuple[str, int], ...] = ()) -> TackerVnf:
        with asking(f"the instances of {tag.label}"):
            stack = self._stack(shown)
            placed = stacks.instances(self._connection, stack, path_of(tag))
            descriptor = self._descriptor_id(shown, tag)
        return TackerVnf(self.api, shown["id"], descriptor, tag.name, tag.owner, stack, placed, steps)


def path_of(tag: Tag) -> tuple[str, ...]:
    """Return the networks of a VNF in the order of the path."""
    return tuple(network for _, network in tag.networks)
