"""Which steerings there are; each is imported only when it is asked for, as one needs a library of its own."""

from importlib import import_module

from nfvbed.dataplanes.ovs.steering.steering import Steering
from nfvbed.errors import ConfigurationError, PrerequisiteError
from nfvbed.spec.onos import OnosSpec

_STEERINGS = {
    "static": "nfvbed.dataplanes.ovs.steering.static:StaticSteering",
    "controller": "nfvbed.dataplanes.ovs.steering.controller:ControllerSteering",
    "onos": "nfvbed.dataplanes.ovs.steering.onos:OnosSteering",
}


def steering(kind: str, onos: OnosSpec | None = None) -> Steering:
    """Return a steering.

    Args:
        kind: `static`, `controller` or `onos`.
        onos: the site's, which only `onos` needs.

    Raises:
        ConfigurationError: there is none of that name, or the site has no ONOS.
        PrerequisiteError: a library that it needs is missing.
    """
    place = _STEERINGS.get(kind)
    if place is None:
        known = ", ".join(_STEERINGS)
        raise ConfigurationError(f"there is no steering {kind!r}", where="steering", observed=f"there are {known}")
    module_name, _, class_name = place.partition(":")
    try:
        module = import_module(module_name)
    except ImportError as failure:
        raise PrerequisiteError(
            f"steering {kind} needs a Python library", where=module_name, observed=str(failure), fix="make setup"
        ) from failure
    made: Steering = getattr(module, class_name)(onos) if kind == "onos" else getattr(module, class_name)()
    return made
