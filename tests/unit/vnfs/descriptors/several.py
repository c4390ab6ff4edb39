"""Requests for descriptors of VNFs of several machines, as commands make them."""

from dataclasses import replace
from pathlib import Path

from nfvbed.spec.document import parse_document, read_document
from nfvbed.vnfs.descriptors.machines import legacy
from nfvbed.vnfs.descriptors.machines import userdata as userdata  # Others import it from here.
from nfvbed.vnfs.descriptors.machines.model import Given
from nfvbed.vnfs.descriptors.machines.request import request_of
from nfvbed.vnfs.descriptors.model import CloudImage
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
    """Return the request of a descriptor of the mobile core; all that is not given is as a command leaves it."""
    made = request_of(vnf or vepc(), Given(**{"flavors": FLAVORS, "image": IMAGE} | given), flavours, version="1-abc")
    return replace(made, **changes or {})


def legacy_document(flavour, **keys):
    """Return a legacy descriptor as it is read from a file."""
    return parse_document(Path("vepc.yaml"), dump(legacy.template(request(**keys), flavour)))
