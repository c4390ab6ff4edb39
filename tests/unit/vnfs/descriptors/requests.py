"""Descriptors of vloop, as commands make them."""

from dataclasses import replace
from pathlib import Path

from nfvbed.cloud import novaflavor
from nfvbed.cloud.devcloud.contents import SMALL
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.records import VnfKind
from nfvbed.spec.document import parse_document
from nfvbed.spec.vnf import VnfChoice, VnfPortSpec
from nfvbed.vnfs.descriptors import legacy
from nfvbed.vnfs.descriptors.cloudimage import CloudImage
from nfvbed.vnfs.descriptors.onemachine import descriptor_of
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


OF_THE_IMAGE = {"image": "name", "image_file": "file", "checksums": "checksums", "version": "version"}
"""Fields of an image, by what changes them."""


def request(flavor="hugepages", forwarding="io", *, management=False, extra_specs=None, **changes):
    """Return the descriptor of vloop.

    Args:
        flavor: name in `flavors/`.
        forwarding: what it does with frames.
        management: whether it has a management port.
        extra_specs: Nova's of the flavor; None: its own.
        changes: of the image (`OF_THE_IMAGE`), of what a cloud gives (`direct`, `zone`, `most_instances`), and of the
            descriptor.
    """
    choice = choice_of(flavor, forwarding, management=management)
    networks = NETWORKS | ({"mgmt": "mgmt"} if management else {})
    image = replace(IMAGE, **{OF_THE_IMAGE[key]: changes.pop(key) for key in OF_THE_IMAGE if key in changes})
    specs = novaflavor.extra_specs(choice.flavor) if extra_specs is None else extra_specs
    given = {key: changes.pop(key) for key in ("direct", "zone", "most_instances") if key in changes}
    return replace(descriptor_of(choice, networks, image, specs, **given), **changes)


def described(image):
    """Return the descriptor of vloop that boots an image in the smallest flavor, and can be scaled to two."""
    choice = choice_of().model_copy(update={"flavor": SMALL})
    return descriptor_of(choice, NETWORKS, image, novaflavor.extra_specs(SMALL), most_instances=2)


def monitored():
    """Return the descriptor of the VNF that Tacker monitors."""
    vnf = PROJECT.load_vnf("vloop-monitored")
    size = PROJECT.load_flavor(vnf.flavor)
    choice = VnfChoice(label="", vnf=vnf, kind=VnfKind.VM, forwarding="io", flavor=size, image=vnf.image)
    return descriptor_of(choice, NETWORKS | {"management": "mgmt"}, IMAGE, novaflavor.extra_specs(size))


def legacy_text(**keys):
    """Return a legacy descriptor as text."""
    return dump(legacy.template(request(**keys)))


def legacy_document(text=None):
    """Return a legacy descriptor as it is read from a file."""
    return parse_document(Path("vloop.yaml"), legacy_text() if text is None else text)
