"""Why an onboarding failed: from Tacker's operation down to the instance that Nova could not boot."""

from collections.abc import Iterator
from typing import Any

import openstack.connection
from keystoneauth1 import exceptions as keystone
from openstack import exceptions as sdk

from nfvbed.errors import NfvbedError, OnboardError
from nfvbed.sites.openstack.tacker import stacks

_CONSOLE_LINES = 5
_FAILED = "_FAILED"
_UNBOUND = ("binding_failed", "unbound")


def told(failure: NfvbedError, chain: tuple[str, ...]) -> NfvbedError:
    """Return an error with its chain of causes."""
    observed = "; ".join(dict.fromkeys(text for text in (failure.observed, *chain) if text))
    kind = type(failure) if chain == () else OnboardError
    fix = failure.fix or "nothing of it is left; correct the cause and onboard again"
    return kind(failure.what, where=failure.where, observed=observed, fix=fix)


def of_stack(connection: openstack.connection.Connection, stack: str) -> tuple[str, ...]:
    """Return the causes below Tacker: Heat's failed leaf resources, Nova's faults, ports that were not bound, consoles.

    What cannot be asked is said in the chain: a cause must not be hidden by an error on the way to it.
    """
    if not stack:
        return ()
    try:
        found = list(stacks.resources(connection, stack))
        chain = list(_heat(found))
        for one in found:
            if one.kind == stacks.SERVER and one.id:
                chain += _nova(connection, one.id)
        return tuple(chain)
    except (sdk.SDKException, keystone.ClientException) as failure:
        return (f"the causes could not be read: {' '.join(str(failure).split())}",)


def _heat(found: list[stacks.StackResource]) -> Iterator[str]:
    """Say which leaf resources failed; outer ones only repeat what theirs say."""
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
    chain += _console(connection, server)
    return chain


def _console(connection: openstack.connection.Connection, server: str) -> list[str]:
    try:
        answer = connection.compute.get_server_console_output(server, length=_CONSOLE_LINES)
    except sdk.SDKException:
        return []  # it has none before it is on a host
    text = answer.get("output") if isinstance(answer, dict) else str(answer or "")
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    return [f"console: {' | '.join(lines[-_CONSOLE_LINES:])}"] if lines else []
