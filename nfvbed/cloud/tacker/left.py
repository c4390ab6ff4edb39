"""What is left of an owner's VNFs in Tacker, Heat, Nova, Neutron and Glance: found by tags, names and the journal."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import openstack.connection

from nfvbed.cloud.tacker import images, stacks
from nfvbed.cloud.tacker.account import Account
from nfvbed.cloud.tacker.api import Tell
from nfvbed.cloud.tacker.connection import asking
from nfvbed.cloud.tacker.forms import open_api
from nfvbed.cloud.tacker.journal import Journal
from nfvbed.cloud.tacker.legacy import LegacyApi
from nfvbed.cloud.tacker.packages import Packages
from nfvbed.cloud.tacker.tags import Tag, is_name_of
from nfvbed.errors import NfvbedError, OnboardError

_IN_A_STACK = {
    "OS::Nova::Server": "server",
    "OS::Nova::Flavor": "flavor",
    "OS::Neutron::Port": "port",
    "OS::Neutron::Net": "network",
}


@dataclass(frozen=True)
class LeftoverResource:
    """One thing that is left."""

    kind: str
    """`vnf`, `vnfd`, `vnf instance`, `vnf package`, `stack`, `server`, `port`, `network`, `flavor`, `image`."""
    id: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name} ({self.id})"


def survey(connection: openstack.connection.Connection, journal: Journal, owner: str) -> tuple[LeftoverResource, ...]:
    """Return everything of an owner's VNFs, healthy or not; empty: nothing.

    Tacker's objects have our tag. Stacks have a name that only an attempt of ours was given, or the id of an instance
    of ours. Servers, ports, networks and flavors are in such stacks. Images are those of `images.left`.
    """
    account = Account(connection, journal)
    found = [*_tacker(account, owner), *_heat(account, owner)]
    for name in {note.name for note in journal.read(account.cloud, owner)}:
        found += [
            LeftoverResource("image", str(image.id), str(image.name)) for image in images.left(account, owner, name)
        ]
    return tuple(dict.fromkeys(found))


def remove(
    connection: openstack.connection.Connection, journal: Journal, owner: str, tell: Tell
) -> tuple[LeftoverResource, ...]:
    """Remove all of an owner's VNFs, whatever state they are in; return what there was.

    Raises:
        OnboardError: something is still there; it is listed with the reason.
    """
    account = Account(connection, journal)
    before = survey(connection, journal, owner)
    problems = []
    for tag in _tags(account, owner):
        try:
            open_api(tag.api, connection, journal).clear(tag, tell)
        except NfvbedError as failure:
            problems.append(f"{failure.what}: {failure.observed}")
    with asking(f"the stacks of {owner}"):
        for stack in _stacks(account, owner):
            tell(f"removing stack {stack.name}")
            stacks.delete(connection, stack.id)
    for name in {note.name for note in journal.read(account.cloud, owner)}:
        images.remove_left(account, owner, name)
    left = survey(connection, journal, owner)
    if left:
        raise OnboardError(
            f"{len(left)} things of {owner} could not be removed",
            observed="; ".join([*map(str, left), *problems]),
            fix="start what has ended (nfvbed devcloud start), then ask again",
        )
    journal.drop(account.cloud, owner)
    return before


def _tacker(account: Account, owner: str) -> Iterator[LeftoverResource]:
    with asking("what Tacker has"):
        for vnf in _vnfs(account):
            tag = Tag.read(vnf.get("description"))
            if tag and tag.api == "legacy" and account.ours(tag, owner):
                yield LeftoverResource("vnf", vnf["id"], vnf["name"])
        for vnfd in _vnfds(account):
            if account.ours(Tag.read(vnfd.get("description")), owner):
                yield LeftoverResource("vnfd", vnfd["id"], vnfd["name"])
        for instance in _instances(account):
            tag = Tag.read(instance.get("vnfInstanceDescription"))
            if tag and tag.api != LegacyApi.api and account.ours(tag, owner):
                yield LeftoverResource("vnf instance", instance["id"], instance["vnfInstanceName"])
    for package, tag in _packages(account, owner):
        yield LeftoverResource("vnf package", package["id"], tag.label)


def _heat(account: Account, owner: str) -> Iterator[LeftoverResource]:
    with asking("what Heat has"):
        for stack in _stacks(account, owner):
            yield stack
            for one in stacks.resources(account.connection, stack.id):
                if one.kind in _IN_A_STACK and one.id:
                    yield LeftoverResource(_IN_A_STACK[one.kind], one.id, one.name)


def _stacks(account: Account, owner: str) -> list[LeftoverResource]:
    """Return the outermost stacks of an owner in this project."""
    notes = account.journal.read(account.cloud, owner)
    ids = [note.id for note in notes if note.kind == "instance"]
    known = {f"vnflcm_{one}" for one in ids} | {f"vnf-{one}" for one in ids}
    listed = account.connection.orchestration.stacks()
    named = [(str(one.id), str(one.name)) for one in listed if one.status != "DELETE_COMPLETE"]
    return [LeftoverResource("stack", *one) for one in named if one[1] in known or is_name_of(owner, one[1])]


def _tags(account: Account, owner: str) -> list[Tag]:
    """Return a tag for each VNF of an owner that Tacker or the journal knows."""
    with asking("what Tacker has"):
        texts = [one.get("description") for one in (*_vnfs(account), *_vnfds(account))]
        texts += [one.get("vnfInstanceDescription") for one in _instances(account)]
    tags = [tag for tag in map(Tag.read, texts) if tag and account.ours(tag, owner)]
    tags += [tag for _, tag in _packages(account, owner)]
    return list({(tag.api, tag.name): tag for tag in tags}.values())


def _vnfs(account: Account) -> list[dict[str, Any]]:
    return list(account.tacker.list_vnfs()["vnfs"]) if account.apis.legacy else []


def _vnfds(account: Account) -> list[dict[str, Any]]:
    """Return the VNFDs one by one: the client cuts off descriptions in its list."""
    listed = account.tacker.list_vnfds()["vnfds"] if account.apis.legacy else []
    return [account.tacker.show_vnfd(one["id"])["vnfd"] for one in listed]


def _instances(account: Account) -> list[dict[str, Any]]:
    first = list(account.tacker.list_vnf_instances()) if account.apis.sol else []
    return first + (list(account.tacker_v2.list_vnf_instances()) if account.apis.sol_v2 else [])


def _packages(account: Account, owner: str) -> list[tuple[dict[str, Any], Tag]]:
    return list(Packages(account).of(owner)) if account.apis.sol else []
