"""What Keystone must know before other services start: their users, their endpoints, Heat's domain."""

from concurrent.futures import ThreadPoolExecutor

from nfvbed.cloud.devcloud.rest import ApiError, CloudApi
from nfvbed.cloud.devcloud.services import heat
from nfvbed.cloud.devcloud.services.catalogue import OPENSTACK
from nfvbed.cloud.devcloud.services.service import Endpoint, Service
from nfvbed.cloud.devcloud.services.settings import LOOPBACK, REGION, Secrets

_INTERFACES = ("public", "internal", "admin")
_CONFLICT = 409


def register(api: CloudApi, secret: Secrets) -> None:
    """Register users, endpoints and Heat's domain; what is there already is left as it is."""
    project = _make(api, "project", {"name": "service", "domain_id": "default"})
    roles = {one["name"]: one["id"] for one in api.get("keystone", "/v3/roles")["roles"]}
    for name in ("heat_stack_owner", "heat_stack_user", "service"):
        roles.setdefault(name, _make(api, "role", {"name": name}))
    types = {one["id"]: one["type"] for one in api.get("keystone", "/v3/services")["services"]}
    endpoints = api.get("keystone", "/v3/endpoints")["endpoints"]
    known = {(types[one["service_id"]], one["interface"]) for one in endpoints}
    services = {kind: identifier for identifier, kind in types.items()}
    with ThreadPoolExecutor(max_workers=4) as executor:
        jobs = [executor.submit(_user, api, service, project, roles, secret) for service in OPENSTACK if service.user]
        jobs += [
            executor.submit(
                _endpoint, api, services.get(endpoint.type) or (service.name, endpoint.type), endpoint, missing
            )
            for service in OPENSTACK
            for endpoint in service.endpoints
            if (missing := [one for one in _INTERFACES if (endpoint.type, one) not in known])
        ]
        jobs.append(executor.submit(_stack_domain, api, roles["admin"], secret))
        for job in jobs:
            job.result()


def _user(api: CloudApi, service: Service, project: str, roles: dict[str, str], secret: Secrets) -> None:
    body = {"name": service.name, "domain_id": "default", "password": secret(f"keystone {service.name}")}
    user = _make(api, "user", body)
    for role in ("admin", "service"):
        api.put("keystone", f"/v3/projects/{project}/users/{user}/roles/{roles[role]}")


def _endpoint(api: CloudApi, service: str | tuple[str, str], endpoint: Endpoint, interfaces: list[str]) -> None:
    """Make a service's endpoints; and the service, where it is given by name and not by id."""
    if isinstance(service, tuple):
        service = _make(api, "service", {"name": service[0], "type": service[1]})
    url = f"http://{LOOPBACK}:{endpoint.port}{endpoint.path}"
    for interface in interfaces:
        body = {"service_id": service, "interface": interface, "region": REGION, "url": url}
        api.post("keystone", "/v3/endpoints", {"endpoint": body})


def _stack_domain(api: CloudApi, admin_role: str, secret: Secrets) -> None:
    """Make the domain in which Heat keeps the users of its stacks."""
    domain = _make(api, "domain", {"name": heat.DOMAIN})
    password = secret(f"keystone {heat.DOMAIN_ADMIN}")
    user = _make(api, "user", {"name": heat.DOMAIN_ADMIN, "domain_id": domain, "password": password})
    api.put("keystone", f"/v3/domains/{domain}/users/{user}/roles/{admin_role}")


def _make(api: CloudApi, kind: str, body: dict[str, str]) -> str:
    """Make one thing and return its id; where it is there already, return the id of that."""
    try:
        created: str = api.post("keystone", f"/v3/{kind}s", {kind: body})[kind]["id"]
        return created
    except ApiError as failure:
        if failure.status != _CONFLICT:
            raise
    query = f"?name={body['name']}" + (f"&domain_id={body['domain_id']}" if "domain_id" in body else "")
    found: str = api.get("keystone", f"/v3/{kind}s{query}")[f"{kind}s"][0]["id"]
    return found
