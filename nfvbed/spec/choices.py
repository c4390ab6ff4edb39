"""From how an experiment or a variant uses a VNF to the VNF as it will run."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from nfvbed.errors import ConfigurationError
from nfvbed.records import VnfKind
from nfvbed.spec.document import Document, KeyPath
from nfvbed.spec.experiment import Experiment
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.gateway import refused_bearers, refused_pcrf
from nfvbed.spec.machines import MachinesVnfSpec
from nfvbed.spec.validate import name_is_known
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import AS_THE_IMAGE, NATIVE, Forwarding, VnfChoice, VnfSpec, VnfUse


class Catalogue(Protocol):
    """A source of VNFs and flavors by name."""

    @property
    def vnf_names(self) -> tuple[str, ...]:
        """Names of all VNFs, sorted."""

    @property
    def own_flavors(self) -> Mapping[str, Flavor]:
        """Flavors of an experiment alone, by name."""

    @property
    def flavor_names(self) -> tuple[str, ...]:
        """Names of all flavors, sorted."""

    def load_vnf(self, name: str) -> VnfSpec:
        """Load one VNF."""

    def load_flavor(self, name: str) -> Flavor:
        """Load one flavor."""

    def require_usual_network(self, vnf: VnfSpec) -> None:
        """Refuse a mobile core of another network than that of the image of its guests."""


def resolve(use: VnfUse, variant: Variant, catalogue: Catalogue) -> VnfChoice | None:
    """Return the VNF that a use stands for on a variant; None where it is `native` and the variant has none.

    The use must have passed `use_is_possible`.

    Raises:
        ConfigurationError: a file that it names is not valid.
    """
    native = use.forwarding == NATIVE
    wanted = variant.native_vnf if native else use
    if wanted is None:
        return None
    declared = catalogue.load_vnf(wanted.vnf)
    forwarding = wanted.forwarding or default_forwarding(wanted, declared)
    if forwarding == NATIVE:
        return None
    vnf = _on_path(declared, wanted.kind)
    return VnfChoice(
        label=use.label,
        vnf=vnf,
        kind=wanted.kind,
        forwarding=forwarding,
        flavor=catalogue.load_flavor(wanted.flavor or vnf.flavor),
        own_flavor=wanted.flavor in catalogue.own_flavors,
        vnic=wanted.vnic,
        image=(wanted.image or vnf.image) if wanted.kind is VnfKind.VM else None,
        offloads=wanted.offloads,
        native=native,
        bearers=wanted.bearers,
        pcrf=wanted.pcrf,
        core=declared.network,
        row=declared.row if wanted.kind is VnfKind.VM else None,
    )


def _on_path(vnf: VnfSpec, kind: VnfKind) -> VnfSpec:
    if kind is not VnfKind.VM:
        return vnf.without_machines()
    return vnf.on_path() if isinstance(vnf, MachinesVnfSpec) else vnf


def resolve_all(
    experiment: Experiment, variants: Sequence[Variant], catalogue: Catalogue
) -> dict[tuple[str, str], VnfChoice]:
    """Return the VNFs of all variants by (variant, label)."""
    found = ((variant.name, use, resolve(use, variant, catalogue)) for variant in variants for use in experiment.uses)
    return {(name, use.label): choice for name, use, choice in found if choice is not None}


def explicit_label(choice: VnfChoice) -> str:
    """Return the label that says what runs, for `native` too: `process-bridge`."""
    return use_of(choice).label


def use_of(choice: VnfChoice) -> VnfUse:
    """Return the use that stands for a VNF, whatever it was asked for by."""
    return VnfUse(
        vnf=choice.vnf.name,
        kind=choice.kind,
        forwarding=choice.forwarding,
        flavor=choice.flavor.name if choice.flavor.name != choice.vnf.flavor else None,
        vnic=choice.vnic,
        image=choice.image if choice.image != choice.vnf.image else None,
        offloads=choice.offloads,
        bearers=choice.bearers,
        pcrf=choice.pcrf,
    )


def with_forwarding(experiment: Experiment, catalogue: Catalogue) -> Experiment:
    """Write the VNFs' defaults where the file leaves the forwarding out, so that labels say what runs."""
    if not experiment.uses:
        return experiment
    uses = (
        use if use.forwarding else use.model_copy(update={"forwarding": _default(use, catalogue)})
        for use in experiment.uses
    )
    return Experiment.model_validate({**experiment.model_dump(), "vnfs": [use.model_dump() for use in uses]})


def default_forwarding(use: VnfUse, vnf: VnfSpec) -> Forwarding:
    """Return what a VNF does by default: its first way, or its image's own where it cannot be chosen."""
    return AS_THE_IMAGE if _goes_its_own_way(use, vnf) else vnf.forwarding[0]


def possible_forwarding(use: VnfUse, vnf: VnfSpec) -> tuple[str, ...]:
    """Return what a VNF can be asked to do: an image without nfvbed's agent cannot be asked, any other image can."""
    if _goes_its_own_way(use, vnf):
        return (AS_THE_IMAGE,)
    return (*vnf.forwarding, AS_THE_IMAGE) if use.kind is VnfKind.VM else vnf.forwarding


def _default(use: VnfUse, catalogue: Catalogue) -> Forwarding:
    return default_forwarding(use, catalogue.load_vnf(use.vnf))


def _goes_its_own_way(use: VnfUse, vnf: VnfSpec) -> bool:
    image = (use.image or vnf.image) if use.kind is VnfKind.VM else None
    return image is not None and not image.agent


def use_is_possible(document: Document, key: KeyPath, use: VnfUse, catalogue: Catalogue) -> None:
    """Check that VNF and flavor have files, and that the VNF can be of that kind and forward so.

    Args:
        document: the experiment's or the variant's.
        key: where it describes the use.

    Raises:
        ConfigurationError: with the place of the key, and what there is.
    """
    if use.forwarding == NATIVE:
        return
    name_is_known(document, (*key, "vnf"), ("VNF", use.vnf), catalogue.vnf_names)
    if use.flavor is not None:
        name_is_known(document, (*key, "flavor"), ("flavor", use.flavor), catalogue.flavor_names)
    vnf = catalogue.load_vnf(use.vnf)
    name_is_known(document, (*key, "kind"), (f"kind of {vnf.name}", use.kind.value), [kind.value for kind in vnf.kinds])
    refused = why_not_machines(use, vnf)
    if refused:
        observed, fix = refused
        raise ConfigurationError(
            f"VNF {vnf.name} is of several machines, and cannot be on a path so",
            where=document.where((*key, "vnf")),
            observed=observed,
            fix=fix,
        )
    if use.kind is VnfKind.VM:
        catalogue.require_usual_network(vnf)
    if use.forwarding is not None:
        known = possible_forwarding(use, vnf)
        named = f"forwarding of {vnf.name}" + (", whose image has no agent" if known == (AS_THE_IMAGE,) else "")
        name_is_known(document, (*key, "forwarding"), (named, use.forwarding), known)
    _core_is_possible(document, key, use, default_forwarding(use, vnf))
    if use.image is not None and use.kind is not VnfKind.VM:
        raise ConfigurationError(
            f"a VNF of kind {use.kind.value} in {document.path.name} has an image",
            where=document.where((*key, "image")),
            observed=f"kind: {use.kind.value}",
            fix="write `kind: vm`, or leave the image out",
        )


def why_not_machines(use: VnfUse, vnf: VnfSpec) -> tuple[str, str] | None:
    """Return why a use cannot have a VNF of several machines on a path, and what to do; None: it can."""
    if not isinstance(vnf, MachinesVnfSpec) or use.kind is not VnfKind.VM:
        return None
    machines = ", ".join(one.name for one in vnf.machines)
    if vnf.measured is None and vnf.row is None:
        return f"no form of it is measured: {machines}", "name a VNF of one machine, as vloop is"
    own_way = () if vnf.row else ("forwarding",)  # machines in a row are asked to forward, as a single one
    given = [key for key in ("flavor", "image", "bearers") if getattr(use, key) is not None]
    given += [key for key in own_way if getattr(use, key) not in (None, vnf.forwarding[0])]
    if given:
        return f"{', '.join(given)}: of its machines ({machines})", f"leave them out; forwarding: {vnf.forwarding[0]}"
    return None


def uses_of(experiment: Experiment) -> Iterator[tuple[KeyPath, VnfUse]]:
    """Yield the uses of an experiment with their places; those that the file leaves out have the list's."""
    for index, use in enumerate(experiment.vnfs or experiment.uses):
        yield (("vnfs", index) if experiment.vnfs else ("vnfs",)), use


def _core_is_possible(document: Document, key: KeyPath, use: VnfUse, usual: Forwarding) -> None:
    """Check that bearers and PCRF are given for a mobile core alone, and that it can have them."""
    does = use.forwarding or usual
    refusals = {
        "bearers": ("these bearers", refused_bearers(does, use.bearers, use.pcrf)),
        "pcrf": ("this PCRF", refused_pcrf(does, use.pcrf)),
    }
    for name, (what, (why, fix)) in refusals.items():
        if why:
            raise ConfigurationError(
                f"VNF {use.vnf} in {document.path.name} cannot have {what}",
                where=document.where((*key, name)),
                observed=why,
                fix=fix,
            )
