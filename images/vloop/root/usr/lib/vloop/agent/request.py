"""Reads the keys of a request: unknown ones and wrong types are refused."""

from agent.refusal import Refusal

MODES = ("io", "mac", "macswap", "5tswap", "source", "sink", "bridge", "router", "raw")
TESTPMD_MODES = ("io", "mac", "macswap", "5tswap", "source", "sink", "raw")
DRIVERS = ("auto", "dpdk", "af_packet")

FORWARD_KEYS = {
    "mode": str,
    "ports": list,
    "driver": str,
    "burst": int,
    "descriptors": int,
    "queues": int,
    "retry": int,
    "frame_size_bytes": int,
    "flows": int,
    "peers": list,
    "offloads": bool,
    "addresses": list,
    "routes": list,
    "neighbours": list,
}
DEFAULTS = {
    "ports": None,
    "driver": "auto",
    "burst": 32,
    "descriptors": 256,
    "queues": 1,
    "retry": 0,
    "frame_size_bytes": 64,
    "flows": 1,
    "peers": [],
    "offloads": True,
    "addresses": [],
    "routes": [],
    "neighbours": [],
}
LIMITS = {
    "burst": (1, 512),
    "descriptors": (64, 4096),
    "queues": (1, 64),
    "retry": (0, 1024),
    "frame_size_bytes": (64, 1518),
    "flows": (1, 65536),
}


def keys(document: dict, allowed: dict) -> dict:
    """Return the request's own keys, checked against the allowed ones and their types."""
    found = {key: value for key, value in document.items() if key not in ("schema", "id", "do")}
    for key, value in found.items():
        if key not in allowed:
            raise Refusal(f"{document.get('do')} knows no key {key}", observed=f"it knows {', '.join(sorted(allowed))}")
        wanted = allowed[key]
        if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
            raise Refusal(f"{key} is not of type {wanted.__name__}", observed=repr(value))
    return found


def checked(document: dict, allowed: dict, defaults: dict, limits: dict) -> dict:
    """Return a whole request, defaults filled in, its numbers within their limits."""
    request = {**defaults, **keys(document, allowed)}
    for key, (least, most) in limits.items():
        if not least <= request[key] <= most:
            raise Refusal(f"{key} is out of range", observed=str(request[key]), fix=f"{least} to {most}")
    return request


def forward(document: dict) -> dict:
    """Return the whole request for forwarding, defaults filled in."""
    request = checked(document, FORWARD_KEYS, DEFAULTS, LIMITS)
    if request.get("mode") not in MODES:
        raise Refusal("forward needs a mode", observed=repr(request.get("mode")), fix=f"one of {', '.join(MODES)}")
    if request["driver"] not in DRIVERS:
        raise Refusal("there is no such driver", observed=repr(request["driver"]), fix=f"one of {', '.join(DRIVERS)}")
    if request["mode"] == "raw" and request["driver"] == "dpdk":
        raise Refusal("raw goes over AF_PACKET", observed="driver dpdk", fix="leave driver out")
    return request


def lead(document: dict) -> dict:
    """Return the whole request for the way to a peer."""
    text = ("address", "peer", "peer_mac")
    request = checked(
        document, {**dict.fromkeys(text, str), "mtu": int, "ports": list}, {"mtu": 1500}, {"mtu": (68, 9216)}
    )
    missing = [key for key in (*text, "ports") if not request.get(key)]
    if missing:
        raise Refusal(f"lead needs {', '.join(text)} and ports", observed=f"no {', '.join(missing)}")
    return request
