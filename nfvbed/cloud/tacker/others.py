"""What is on a cloud that nfvbed did not make: instances, ports, stacks and volumes, by project.

nfvbed's own things are those of the owners recorded beside the cloud: tags in Tacker, ids in the journal, and what is
in their stacks. Everything else belongs to others, whatever its name.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import openstack.connection

from nfvbed.cloud.tacker import left
from nfvbed.cloud.tacker.connection import asking
from nfvbed.cloud.tacker.journal import Journal
from nfvbed.errors import BusyError, NfvbedError

EVICT = "--evict ends them with the cloud"
_OF_NEUTRON = "network:"
"""Beginning of the owner of ports that Neutron has for itself: of DHCP and routers."""
_OK = 200
_SHOWN = 20


@dataclass(frozen=True)
class ForeignResource:
    """A thing on the cloud that belongs to others."""

    project: str
    """Name, or id where that is not known."""
    kind: str
    """`instance`, `port`, `stack`, `volume`."""
    id: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name or '(no name)'} ({self.id})"


def survey(
    connection: openstack.connection.Connection, journal: Journal, owners: Iterable[str]
) -> tuple[ForeignResource, ...]:
    """Return all that nfvbed did not make, in the order of projects; nothing is changed.

    Args:
        connection: an administrator's connection.
        journal: record of what was onboarded there.
        owners: owners of nfvbed's deployments and VNFs there.

    Raises:
        OnboardError, UnsupportedError: the cloud cannot be asked.
    """
    own = {one.id for owner in owners for one in left.survey(connection, journal, owner)}
    identity: Any = connection.identity
    with asking("what is on the cloud"):
        projects = {str(one.id): str(one.name) for one in identity.projects()}
        servers = list(connection.compute.servers(all_projects=True))
        mine = own & {str(one.id) for one in servers}
        found = [
            *_named("instance", servers),
            *_named("port", _ports(connection, {str(one.id) for one in servers} - mine, mine)),
            *_stacks(connection),
            *(
                _named("volume", connection.block_storage.volumes(all_projects=True))
                if _has_volumes(connection)
                else ()
            ),
        ]
    others = [ForeignResource(projects.get(project, project), *rest) for project, *rest in found if rest[1] not in own]
    return tuple(sorted(others, key=lambda one: (one.project, one.kind, one.name, one.id)))


def require_none(
    site: str,
    connect: Callable[[], openstack.connection.Connection],
    journal: Journal,
    owners: Sequence[str],
) -> None:
    """Refuse to take down a cloud with things that nfvbed did not make, or that cannot be asked.

    Args:
        connect: returns an administrator's connection.
        journal: record of what was onboarded there.
        owners: owners of nfvbed's deployments and VNFs there.

    Raises:
        BusyError: there are such things, or the cloud cannot be asked.
    """
    try:
        found = survey(connect(), journal, owners)
    except NfvbedError as failure:
        raise BusyError(
            f"site {site} is not taken down: it cannot be asked whether others have something on it",
            where=failure.where,
            observed=": ".join(filter(None, (failure.what, failure.observed))),
            fix=f"let its APIs answer; or {EVICT}, whatever there is",
        ) from failure
    if found:
        raise BusyError(
            f"site {site} is not taken down: {len(found)} things on it are not nfvbed's",
            where=", ".join(dict.fromkeys(one.project for one in found)),
            observed="".join(f"\n    {line}" for line in listed(found)),
            fix=f"let their owners remove them; or {EVICT}",
        )


def listed(found: Sequence[ForeignResource]) -> tuple[str, ...]:
    """Return lines that list the things, by project."""
    lines = [f"project {one.project}: {one}" for one in found[:_SHOWN]]
    return (*lines, *([f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []))


def _named(kind: str, listed_: Iterable[Any]) -> Iterator[tuple[str, str, str, str]]:
    for one in listed_:
        yield str(getattr(one, "project_id", None) or ""), kind, str(one.id), str(one.name or "")


def _ports(connection: openstack.connection.Connection, theirs: set[str], mine: set[str]) -> Iterator[Any]:
    """Yield ports of no instance: an instance's ports are removed with it, and Neutron's own belong to no user."""
    for port in connection.network.ports():
        device = str(port.device_id or "")
        if device not in theirs | mine and not str(port.device_owner or "").startswith(_OF_NEUTRON):
            yield port


def _stacks(connection: openstack.connection.Connection) -> Iterator[tuple[str, str, str, str]]:
    """Yield stacks of all projects, where Heat's policy allows that (`stacks:global_index`); else of the own project.

    What is in others' stacks is listed nevertheless: as instances and ports.
    """
    answer = connection.orchestration.get("/stacks", params={"global_tenant": "True"})
    if answer.status_code == _OK:
        for one in answer.json()["stacks"]:
            yield str(one.get("project") or ""), "stack", str(one["id"]), str(one["stack_name"])
        return
    own = str(connection.current_project_id)
    for stack in connection.orchestration.stacks():
        yield own, "stack", str(stack.id), str(stack.name)


def _has_volumes(connection: openstack.connection.Connection) -> bool:
    return bool(connection.endpoint_for("block-storage"))
