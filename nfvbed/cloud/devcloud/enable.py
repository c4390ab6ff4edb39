"""Which compute node gets new instances: Nova's compute services of all others are disabled.

A service that an operator has disabled is left as it is. Those that this module disables have a reason that begins
with `nfvbed:`, and it enables only these again.
"""

from typing import Any

from nfvbed.cloud.devcloud.places import CONTROLLER
from nfvbed.cloud.devcloud.rest import CloudApi
from nfvbed.errors import DeployError

PREFIX = "nfvbed:"
_BINARY = "nova-compute"


def only(api: CloudApi, *hosts: str) -> None:
    """Enable these computes and disable all others; nothing to do where that is so.

    Raises:
        DeployError: Nova does not know it, or an operator has disabled it.
    """
    services = {one["host"]: one for one in _services(api)}
    lacking = [host for host in hosts if host not in services]
    if lacking:
        raise DeployError(
            f"Nova has no compute service of host {lacking[0]}",
            where="os-services",
            observed=f"there are {', '.join(sorted(services)) or 'none'}",
            fix="nfvbed devcloud status says which of its processes run",
        )
    for wanted in (services.pop(host) for host in hosts):
        if wanted["status"] != "enabled":
            _enable(api, wanted)
    for other, service in services.items():
        if service["status"] == "enabled":
            rest(api, other, f"{hosts[0]} is deployed")


def release(api: CloudApi) -> None:
    """Enable only the controller's compute, as when nothing is deployed; computes started on demand are disabled."""
    only(api, CONTROLLER)


def rest(api: CloudApi, host: str, reason: str) -> None:
    """Disable a compute; `openstack compute service list --long` shows the reason."""
    body = {"host": host, "binary": _BINARY, "disabled_reason": f"{PREFIX} {reason}"}
    api.put("nova", "/v2.1/os-services/disable-log-reason", body)


def _enable(api: CloudApi, service: dict[str, Any]) -> None:
    reason = service["disabled_reason"] or ""
    if not reason.startswith(PREFIX):
        raise DeployError(
            f"the compute service of host {service['host']} is disabled",
            where="os-services",
            observed=f"the reason given is {reason!r}, which is not nfvbed's",
            fix=f"openstack compute service set --enable {service['host']} {_BINARY}",
        )
    api.put("nova", "/v2.1/os-services/enable", {"host": service["host"], "binary": _BINARY})


def _services(api: CloudApi) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = api.get("nova", f"/v2.1/os-services?binary={_BINARY}")["services"]
    return found
