"""Heat's stacks: their resources on all levels, and the instances in them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import openstack.connection
from openstack import exceptions as sdk

from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.cloud.tacker.waits import WaitOutcome, wait

SERVER = "OS::Nova::Server"
_DEPTH = 5


@dataclass(frozen=True)
class StackResource:
    """A resource of a stack, or of one nested in it."""

    name: str
    kind: str
    id: str
    """Id of what the resource stands for, such as a server's; empty: none was made."""
    status: str
    reason: str
    nested: bool
    """Whether it is a stack itself."""


def find(connection: openstack.connection.Connection, name: str) -> str:
    """Return the id of a stack, given its name or id; empty: there is none."""
    try:
        found = connection.orchestration.find_stack(name, ignore_missing=True)
    except sdk.NotFoundException:
        return ""
    return "" if found is None or found.status == "DELETE_COMPLETE" else str(found.id)


def resources(connection: openstack.connection.Connection, stack: str, depth: int = _DEPTH) -> Iterator[StackResource]:
    """Yield the resources of a stack and of all stacks nested in it, outer ones first."""
    try:
        listed = list(connection.orchestration.resources(stack))
    except sdk.NotFoundException:
        return
    for one in listed:
        nested = any(link.get("rel") == "nested" for link in one.links or ())
        yield StackResource(
            str(one.name),
            str(one.resource_type),
            str(one.physical_resource_id or ""),
            str(one.status),
            str(one.status_reason or ""),
            nested,
        )
        if nested and depth > 0 and one.physical_resource_id:
            yield from resources(connection, str(one.physical_resource_id), depth - 1)


def servers(connection: openstack.connection.Connection, stack: str) -> list[Any]:
    """Return Nova's servers in a stack, by name."""
    ids = [one.id for one in resources(connection, stack) if one.kind == SERVER and one.id] if stack else []
    found = [connection.compute.find_server(one, ignore_missing=True) for one in ids]
    return sorted((one for one in found if one is not None), key=lambda one: (str(one.name), str(one.created_at)))


def instances(
    connection: openstack.connection.Connection, stack: str, path: tuple[str, ...]
) -> tuple[PlacedInstance, ...]:
    """Return where a stack's servers are, with their ports.

    Args:
        connection: to the stack's project.
        stack: the stack's id.
        path: networks in the order of the path; ports on others come last, by name.
    """
    names = {str(one.id): str(one.name) for one in connection.network.networks()}
    return tuple(_placed(connection, server, names, path) for server in servers(connection, stack))


def _placed(
    connection: openstack.connection.Connection, server: Any, names: dict[str, str], path: tuple[str, ...]
) -> PlacedInstance:
    listed = connection.network.ports(device_id=server.id)
    known = names | {identifier: identifier for identifier in path}  # a path may name networks by their ids
    ports = [
        InstancePort(str(p.id), known.get(str(p.network_id), str(p.network_id)), str(p.mac_address)) for p in listed
    ]
    order = {network: number for number, network in enumerate(path)}
    ports.sort(key=lambda port: (order.get(port.network, len(path)), port.network))
    # Hosts are shown to administrators alone; without that role the measurement is elsewhere than on the host.
    host = str(server.compute_host or server.hypervisor_hostname or "")
    return PlacedInstance(str(server.id), str(server.name), host, tuple(ports))


def delete(connection: openstack.connection.Connection, stack: str) -> WaitOutcome:
    """Delete a stack with all that is in it, and wait until it is gone."""
    connection.orchestration.delete_stack(stack, ignore_missing=True)
    return wait("stack", lambda: not find(connection, stack))
