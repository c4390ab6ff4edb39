"""The forms of VSPERF up to colorado (2016), with traffic in keywords and other names of parameters.

Both become what VSPERF has had since danube: parts of TRAFFIC, and settings.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from nfvbed.vsperf.conf.placed import Place, PlacedDict, places_of

TRAFFIC_KEYWORDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "Traffic Type": "traffic_type",
        "biDirectional": "bidir",
        "iLoad": "frame_rate",
        "MultiStream": "multistream",
        "Stream Type": "stream_type",
        "Flow Type": "flow_type",
        "Pre-installed Flows": "pre_installed_flows",
    }
)
"""Keyword of a test: the key of TRAFFIC that it became."""
_TRAFFIC_TYPES: Final = {
    "rfc2544": "rfc2544_throughput",
    "continuous": "rfc2544_continuous",
    "back2back": "rfc2544_back2back",
}
_DEFAULT_BIDIR: Final = "False"
"""Value of `bidir` for a test of this form that does not give it; since danube it is True."""


def _number(value: Any) -> Any:
    if isinstance(value, str):
        text = value.strip()
        return int(text) if text.isdecimal() else float(text) if text.replace(".", "", 1).isdecimal() else value
    return value


def _sizes(value: Any) -> Any:
    if isinstance(value, str):
        return tuple(_number(part) for part in value.split(",") if part.strip())
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _same(value: Any) -> Any:
    return value


def _traffic_type(value: Any) -> Any:
    return _TRAFFIC_TYPES.get(str(value), value)


_OF_TRAFFIC: Final[Mapping[str, Callable[[Any], Any]]] = {
    "traffic_type": _traffic_type,
    "frame_rate": _number,
    "multistream": _number,
}
"""How the value of a key of TRAFFIC is written today; others are as they were."""
_TRAFFIC_PARAMETERS: Final = {
    "traffic_type": "traffic_type",
    "bidirectional": "bidir",
    "iload": "frame_rate",
    "multistream": "multistream",
    "stream_type": "stream_type",
    "pre-installed_flows": "pre_installed_flows",
}
_PARAMETERS: Final[Mapping[str, tuple[str, Callable[[Any], Any]]]] = {
    "duration": ("TRAFFICGEN_DURATION", _number),
    "pkt_sizes": ("TRAFFICGEN_PKT_SIZES", _sizes),
    "lossrate": ("TRAFFICGEN_LOSSRATE", _number),
    "rfc2544_tests": ("TRAFFICGEN_RFC2544_TESTS", _number),
    "rfc2544_trials": ("TRAFFICGEN_RFC2544_TESTS", _number),
    "guest_loopback": ("GUEST_LOOPBACK", lambda value: [value]),
    "tunnel_type": ("TUNNEL_TYPE", _same),
    "guest_nic1_name": ("GUEST_NIC1_NAME", _same),
    "guest_nic2_name": ("GUEST_NIC2_NAME", _same),
    "vanilla_tgen_port1_ip": ("VANILLA_TGEN_PORT1_IP", _same),
    "vanilla_tgen_port1_mac": ("VANILLA_TGEN_PORT1_MAC", _same),
    "vanilla_tgen_port2_ip": ("VANILLA_TGEN_PORT2_IP", _same),
    "vanilla_tgen_port2_mac": ("VANILLA_TGEN_PORT2_MAC", _same),
}
UNREAD: Final = frozenset(("packet_sizes",))
"""Brahmaputra's own conf/10_custom.conf gives it in TEST_PARAMS; no release reads it."""
PARAMETERS: Final = frozenset((*_PARAMETERS, *_TRAFFIC_PARAMETERS, *UNREAD))
"""Names of parameters that are no settings."""


def renamed(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return parameters under the names of settings; those of today have priority.

    Args:
        parameters: TEST_PARAMS, the Parameters of a test, or --test-params.
    """
    if not PARAMETERS & parameters.keys():
        return parameters
    found, traffic, places = PlacedDict(), PlacedDict(), places_of(parameters)
    for name, value in parameters.items():
        if name in _TRAFFIC_PARAMETERS:
            key = _TRAFFIC_PARAMETERS[name]
            _put(traffic, key, _OF_TRAFFIC.get(key, _same)(value), places.get(name))
        elif name in _PARAMETERS:
            setting, read = _PARAMETERS[name]
            if setting not in parameters:
                _put(found, setting, read(value), places.get(name))
        else:
            _put(found, name, value, places.get(name))
    return _with_traffic(found, traffic)


def traffic_of(case: Mapping[str, Any]) -> PlacedDict:
    """Return the parts of TRAFFIC that a test gives in keywords; none where there are no such keywords."""
    traffic, places = PlacedDict(), places_of(case)
    for keyword, key in TRAFFIC_KEYWORDS.items():
        if keyword in case:
            _put(traffic, key, _OF_TRAFFIC.get(key, _same)(case[keyword]), places.get(keyword))
    if traffic:
        traffic.setdefault("bidir", _DEFAULT_BIDIR)
    return traffic


def parameters_of(case: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters of a test in today's form, with those from keywords."""
    given = case.get("Parameters", {})
    found = renamed(given) if isinstance(given, Mapping) else {}
    traffic = traffic_of(case)
    return _with_traffic(PlacedDict(found), traffic) if traffic else found


def _with_traffic(parameters: PlacedDict, traffic: PlacedDict) -> PlacedDict:
    """Return TRAFFIC with its old parts below those in today's form."""
    given = parameters.get("TRAFFIC", {})
    if traffic and isinstance(given, Mapping):
        traffic.update(given)
        parameters["TRAFFIC"] = traffic
        first = next(iter(traffic.places.values()), None)
        if first is not None:
            parameters.places.setdefault("TRAFFIC", first)
    return parameters


def _put(target: PlacedDict, key: str, value: Any, place: Place | None) -> None:
    target[key] = value
    if place is not None:
        target.places[key] = place
