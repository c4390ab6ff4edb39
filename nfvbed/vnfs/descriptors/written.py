"""Requests to Tacker, whatever their source: a descriptor in the form of one API, and the request's own values."""

from collections.abc import Mapping
from typing import Any

from nfvbed.cloud.tacker.api import OnboardRequest, VnfIdentity
from nfvbed.vnfs.descriptors import csar, hot, legacy, sol
from nfvbed.vnfs.descriptors.model import Flavour, VnfDescriptor
from nfvbed.vnfs.descriptors.solvnfd import LEVEL
from nfvbed.vnfs.descriptors.yamltext import dump


def for_api(
    identity: VnfIdentity,
    descriptor: VnfDescriptor,
    form: str,
    *,
    has_inputs: bool = True,
    parameters: Mapping[str, Any] | None = None,
) -> OnboardRequest:
    """Return the request for a descriptor's only flavour, in the form of one of Tacker's APIs.

    Args:
        form: `legacy`, `sol` or `sol-v2`.
        has_inputs: legacy: whether image, flavor and zone of each machine are inputs with defaults.
        parameters: SOL: values of the request beside those by which the base HOT is read.

    Raises:
        ConfigurationError: an image cannot be read, or its SHA-512 is not known.
        PrerequisiteError: ETSI's type files are missing.
    """
    flavour = descriptor.only
    template = legacy.template(descriptor, flavour, has_inputs=has_inputs) if form == "legacy" else None
    return OnboardRequest(
        identity.name,
        identity.owner,
        descriptor=csar.write(sol.files(descriptor)) if template is None else template,
        networks=tuple((port.name, port.network) for port in flavour.outer),
        flavour=flavour.name,
        level=LEVEL if flavour.most_instances is not None else "",
        # Version 2 fills in the base HOT by itself.
        parameters={**(sol.SCRIPT if form == "sol" else {}), **(parameters or {})},
    )


def as_file(descriptor: VnfDescriptor, form: str, flavour: Flavour | None = None) -> bytes:
    """Return the content of a descriptor's file.

    Args:
        form: `legacy`, `sol` or `hot`.
        flavour: flavour of a template; None: the descriptor's only one. A package has all flavours.

    Raises:
        ConfigurationError, PrerequisiteError: as `for_api`.
    """
    if form == "sol":
        return csar.write(sol.files(descriptor))
    if form == "legacy":
        return dump(legacy.template(descriptor, flavour)).encode()
    stack = hot.stack(descriptor, flavour or descriptor.only)
    nested = [f"# {name}\n{dump(one)}" for name, one in stack.nested.items()]
    return "---\n".join([dump(stack.template), *nested]).encode()
