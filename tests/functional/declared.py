"""What the project declares, as tests change it: variants with other options, and the VNF vloop."""

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.records import VnfKind
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice

PROJECT = open_project()


def variant(name: str, **options: object) -> Variant:
    """A variant with other options than its file's; they are taken as they are."""
    loaded = PROJECT.load_variant(name)
    return loaded.model_copy(update={"options": loaded.options.model_copy(update=options)})


def validated(name: str, **options: object) -> Variant:
    """The same, its options read as those of a file."""
    loaded = PROJECT.load_variant(name)
    changed = type(loaded.options).model_validate(loaded.options.model_dump() | options)
    return loaded.model_copy(update={"options": changed})


def vnf(forwarding: str = "io", kind: VnfKind = VnfKind.PROCESS, **more: object) -> VnfChoice:
    """The VNF vloop with its own flavor."""
    spec = PROJECT.load_vnf("vloop")
    flavor = PROJECT.load_flavor(spec.flavor)
    return VnfChoice(label="test", vnf=spec, kind=kind, forwarding=forwarding, flavor=flavor, **more)
