"""ONOS's REST API, as far as steering needs it: devices, flows, statistics.

Formats: `web/api/src/main/resources/definitions` of ONOS 2, and the wiki's "Flow Rule Criteria" and "Flow Rule
Instructions".
"""

import base64
import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from nfvbed.dataplanes.ovs.openflow import Rule
from nfvbed.errors import ConfigurationError, DeployError, PrerequisiteError
from nfvbed.spec.onos import OnosSpec

PATIENCE_S = 10.0
_ETH_TYPES = {4: "0x800", 6: "0x86dd"}
_IP_PROTO_UDP = 17
_SAFE = ":"
"""Part of every device's name, and allowed in a path (RFC 3986, section 3.3)."""

_HANDLERS = (
    urllib.request.HTTPHandler,
    urllib.request.HTTPSHandler,
    urllib.request.HTTPErrorProcessor,
    urllib.request.HTTPDefaultErrorHandler,
)


@dataclass(frozen=True)
class OnosFlow:
    """A flow rule as ONOS knows it; its counters are up to five seconds old."""

    id: str
    application: str
    state: str
    """`PENDING_ADD`, `ADDED`, ..."""
    packets: int
    octets: int


class OnosClient:
    """Requests to one ONOS. The password is read at each request and kept nowhere."""

    def __init__(self, spec: OnosSpec, environment: Mapping[str, str] = os.environ) -> None:
        self._spec = spec
        self._environment = environment
        # Neither redirects nor proxies: the password goes to the address in the site's file and to no other.
        self._opener = urllib.request.OpenerDirector()
        for handler in _HANDLERS:
            self._opener.add_handler(handler())

    def devices(self) -> dict[str, bool]:
        """Return the switches that ONOS knows, and whether each is available."""
        return {str(device["id"]): bool(device["available"]) for device in self._get("devices", "devices")}

    def add_flows(self, device: str, rules: Sequence[Rule]) -> tuple[str, ...]:
        """Request rules, and return their ids; the rules are not in force yet."""
        path = f"flows?appId={quote(self._spec.application)}"
        body = {"flows": [flow_json(device, rule) for rule in rules]}
        answer = self._request("POST", path, body)
        return tuple(str(flow["flowId"]) for flow in _list(answer, "flows", self._spec.url))

    def flows(self, device: str) -> tuple[OnosFlow, ...]:
        """Return the rules of a switch that ONOS has or wants; none for a switch that it does not know."""
        # ONOS answers 404 also for a switch that it knows and that has no rules.
        found = self._request("GET", f"flows/{quote(device, safe=_SAFE)}", absent={"flows": []})
        return tuple(
            OnosFlow(
                id=str(flow["id"]),
                application=str(flow["appId"]),
                state=str(flow["state"]),
                packets=int(flow["packets"]),
                octets=int(flow["bytes"]),
            )
            for flow in _list(found, "flows", self._spec.url)
        )

    def remove_flows(self, device: str, ids: Sequence[str]) -> None:
        """Remove rules of a switch."""
        self._request("DELETE", "flows", {"flows": [{"deviceId": device, "flowId": flow} for flow in ids]})

    def _get(self, path: str, key: str) -> list[dict[str, Any]]:
        return _list(self._request("GET", path), key, self._spec.url)

    def _request(self, method: str, path: str, body: dict[str, Any] | None = None, absent: Any = None) -> Any:
        """Send a request, and return the answer; `absent`, if it is not None, for what is not found (404)."""
        request = urllib.request.Request(f"{self._spec.url}/onos/v1/{path}", method=method)
        request.add_header("Authorization", self._authorization())
        request.add_header("Accept", "application/json")
        if body is not None:
            request.add_header("Content-Type", "application/json")
            request.data = json.dumps(body).encode()
        where = f"{method} {request.full_url}"
        try:
            with self._opener.open(request, timeout=PATIENCE_S) as response:
                text = response.read()
        except urllib.error.HTTPError as failure:
            with failure:
                if failure.code == 404 and absent is not None:
                    return absent
                raise self._refused(where, failure.code, failure.read(2000)) from None
        except OSError as failure:
            raise DeployError(
                "ONOS does not answer",
                where=where,
                observed=str(getattr(failure, "reason", failure)),
                fix="see that it runs, and `onos.url` of the site's file",
            ) from failure
        try:
            return json.loads(text) if text else {}
        except ValueError:
            raise DeployError("ONOS answers what is not JSON", where=where, observed=repr(text[:200])) from None

    def _authorization(self) -> str:
        name = self._spec.password_env
        password = self._environment.get(name, "")
        if not password:
            raise PrerequisiteError(
                "the password for ONOS is not there",
                where=f"environment variable {name}",
                observed="not set, or empty",
                fix=f"export {name} before nfvbed is started",
            )
        return "Basic " + base64.b64encode(f"{self._spec.user}:{password}".encode()).decode()

    def _refused(self, where: str, code: int, text: bytes) -> DeployError | ConfigurationError:
        observed = f"HTTP {code} {text.decode(errors='replace')}".strip()
        if code in (401, 403):
            fix = f"see `onos.user` of the site's file, and the variable {self._spec.password_env}"
            return ConfigurationError(
                f"ONOS does not accept user {self._spec.user}", where=where, observed=observed, fix=fix
            )
        return DeployError("ONOS refuses a request", where=where, observed=observed)


def flow_json(device: str, rule: Rule) -> dict[str, Any]:
    """Return a rule as ONOS reads it."""
    criteria: list[dict[str, Any]] = [{"type": "IN_PORT", "port": rule.in_port}] if rule.in_port is not None else []
    if (source := rule.udp_source) is not None:
        criteria.append({"type": "ETH_TYPE", "ethType": _ETH_TYPES[source.ip_version]})
        criteria.append({"type": "IP_PROTO", "protocol": _IP_PROTO_UDP})
        criteria.append({"type": "UDP_SRC_MASKED", "udpPort": source.value, "udpMask": source.mask})
    return {
        "priority": rule.priority,
        "timeout": 0,
        "isPermanent": True,
        "deviceId": device,
        "tableId": 0,
        "treatment": {"instructions": [{"type": "OUTPUT", "port": str(rule.output)}]},
        "selector": {"criteria": criteria},
    }


def _list(answer: Any, key: str, where: str) -> list[dict[str, Any]]:
    found = answer.get(key) if isinstance(answer, dict) else None
    if not isinstance(found, list):
        raise DeployError("ONOS answers in a form that is not known", where=where, observed=f"no list {key!r}")
    return found
