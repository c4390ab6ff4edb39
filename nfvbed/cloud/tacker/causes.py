"""Why an onboarding failed: from Tacker's operation down to the instance that Nova could not boot."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import openstack.connection
from keystoneauth1 import exceptions as keystone
from openstack import exceptions as sdk

from nfvbed.cloud.tacker import console, stacks
from nfvbed.cloud.tacker.reasons import Cause, advice_on, causes_in
from nfvbed.errors import NfvbedError

_CONSOLE_LINES = 5
_FAILED = "_FAILED"
_UNBOUND = ("binding_failed", "unbound")


def told(failure: NfvbedError, chain: tuple[str, ...], stays: bool = False) -> NfvbedError:
    """Return an error with its chain of causes.

    Args:
        stays: whether the VNF is still there; otherwise what was made of it is removed.
    """
    observed = "; ".join(dict.fromkeys(text for text in (failure.observed, *chain) if text))
    state = "the VNF is as the failure left it: heal or remove it" if stays else "what was made of it is removed"
    known = advice_on((failure.observed, *chain))
    fix = failure.fix or (f"{known}; {state}" if known else f"correct the cause and onboard again; {state}")
    return type(failure)(failure.what, where=failure.where, observed=observed, fix=fix)


def of_stack(connection: openstack.connection.Connection, stack: str) -> tuple[str, ...]:
    """Return the causes below Tacker: Heat's failed leaf resources, Nova's faults, ports that were not bound, consoles.

    The chain also says what cannot be asked: an error on the way to a cause must not hide it.
    """
    if not stack:
        return ()
    try:
        found = list(stacks.resources(connection, stack))
        chain = list(_heat(found))
        for one in found:
            if one.kind == stacks.SERVER and one.id:
                chain += _nova(connection, one.id)
        return (*chain, *(_zones(connection) if Cause.ZONE in causes_in(chain) else ()))
    except (sdk.SDKException, keystone.ClientException) as failure:
        return (f"the causes could not be read: {' '.join(str(failure).split())}",)


def _zones(connection: openstack.connection.Connection) -> Iterator[str]:
    """Yield words about the availability zones, where Nova lists them."""
    with suppress(sdk.SDKException, keystone.ClientException):
        compute: Any = connection.compute
        zones = [zone.name for zone in compute.availability_zones() if (zone.state or {}).get("available", True)]
        yield f"Nova: its availability zones are {', '.join(sorted(zones)) or 'none'}"


def _heat(found: list[stacks.StackResource]) -> Iterator[str]:
    """Yield words about failed leaf resources; outer resources only repeat what these say."""
    failed = [one for one in found if one.status.endswith(_FAILED)]
    leaves = [one for one in failed if not one.nested] or failed
    for one in leaves:
        yield f"Heat: {one.kind} {one.name} {one.status}: {one.reason}"
    if not failed:
        for one in found:
            if one.status.endswith("_IN_PROGRESS") and not one.nested:
                yield f"Heat: {one.kind} {one.name} is {one.status}"


def _nova(connection: openstack.connection.Connection, server: str) -> list[str]:
    found: Any = connection.compute.find_server(server, ignore_missing=True)
    if found is None:
        return []
    if found.status == "ACTIVE":
        return []
    fault = (found.fault or {}).get("message", "")
    task = f", task {found.task_state}" if found.task_state else ""
    chain = [f"Nova: server {found.name} is {found.status}{task}" + (f": {fault}" if fault else "")]
    for port in connection.network.ports(device_id=server):
        if port.binding_vif_type in _UNBOUND:
            host = port.binding_host_id or "no host"
            chain.append(f"Neutron: port {port.name or port.id} on {host}: {port.binding_vif_type}")
    if lines := console.last_lines(connection, server, _CONSOLE_LINES):
        chain.append(f"console: {' | '.join(lines)}")
    return chain
