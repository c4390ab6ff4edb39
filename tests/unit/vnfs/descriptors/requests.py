"""Requests for descriptors, as commands make them."""

from dataclasses import replace
from pathlib import Path

from nfvbed.cloud.novaflavor import extra_specs
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.records import VnfKind
from nfvbed.spec.document import parse_document
from nfvbed.spec.vnf import VnfChoice, VnfPortSpec
from nfvbed.vnfs.descriptors import legacy
from nfvbed.vnfs.descriptors.model import CloudImage, request_of
from nfvbed.vnfs.descriptors.yamltext import dump

PROJECT = open_project()
NETWORKS = {"in": "data0", "out": "data1"}
IMAGE = CloudImage("vloop", None, {"sha256": "a" * 64, "sha512": "b" * 128}, "1-abc")


def choice_of(flavor="hugepages", forwarding="io", *, management=False):
    """Return vloop in a virtual machine; with a management port where that is wanted."""
    vnf = PROJECT.load_vnf("vloop")
    if management:
        port = VnfPortSpec(name="mgmt", role="management")
        vnf = vnf.model_copy(update={"ports": (port, *vnf.ports)})
    size = PROJECT.load_flavor(flavor)
    return VnfChoice(label="", vnf=vnf, kind=VnfKind.VM, forwarding=forwarding, flavor=size, image=vnf.image)


def request(flavor="hugepages", forwarding="io", *, management=False, direct=False, **changes):
    """Return the request of a descriptor of vloop."""
    choice = choice_of(flavor, forwarding, management=management)
    networks = NETWORKS | ({"mgmt": "mgmt"} if management else {})
    made = request_of(choice, networks, IMAGE, extra_specs(choice.flavor), direct=direct)
    return replace(made, **changes)


def legacy_text(**keys):
    """Return a legacy descriptor as text."""
    return dump(legacy.template(request(**keys)))


def legacy_document(text=None):
    """Return a legacy descriptor as it is read from a file."""
    return parse_document(Path("vloop.yaml"), legacy_text() if text is None else text)
