"""Descriptors of the mobile core, as commands make them."""

from dataclasses import replace
from pathlib import Path

from nfvbed.spec.document import parse_document, read_document
from nfvbed.vnfs.descriptors import legacy
from nfvbed.vnfs.descriptors.cloudimage import CloudImage
from nfvbed.vnfs.descriptors.machines.descriptor import DeploymentInputs, descriptor_of
from nfvbed.vnfs.descriptors.yamltext import dump
from tests.unit.vnfs.descriptors.requests import PROJECT

EIGHT, TWO = "default", "two-guests"
ZONES = {"core": "left", "edge": "right"}
IMAGE = CloudImage("vepc", None, {"sha256": "a" * 64, "sha512": "b" * 128}, "1-abc")
FLAVORS = {name: PROJECT.load_flavor(name) for name in PROJECT.flavor_names}
FILE = read_document(PROJECT.vnfs_folder / "vepc" / "vnf.yml")


def vepc(**changes):
    """Return the file of the mobile core."""
    return PROJECT.load_vnf("vepc").model_copy(update=changes)


def request(*flavours, vnf=None, changes=None, **given):
    """Return the descriptor of the mobile core; all that is not given is as a command leaves it."""
    made = descriptor_of(vnf or vepc(), DeploymentInputs(**{"flavors": FLAVORS, "image": IMAGE} | given), flavours)
    return replace(made, **changes or {})


def template(flavour, **keys):
    """Return the legacy template of a deployment flavour."""
    made = request(**keys)
    return legacy.template(made, made.flavour(flavour))


def legacy_document(flavour, **keys):
    """Return a legacy descriptor as it is read from a file."""
    return parse_document(Path("vepc.yaml"), dump(template(flavour, **keys)))
