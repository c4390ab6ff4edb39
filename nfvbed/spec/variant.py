"""`deploy/variants/*.yml`: one data plane each.

What its options may say is in the room of its data plane (`nfvbed/dataplanes`), of which nothing is known here: what
reads variants is given the model of those that there are.
"""

from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import Annotated, Any, Self, TypeVar

from pydantic import Field, SerializeAsAny, create_model, model_validator

from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.records import CellRole, PortKind, VnfKind
from nfvbed.spec.framelimits import FrameLimit, narrowest, of_ports, of_vnf
from nfvbed.spec.gateway import GATEWAYS, require_ports
from nfvbed.spec.layout import OfferedTopology, each_of, family_of, layout, offers
from nfvbed.spec.model import MisfitError, SpecModel
from nfvbed.spec.options import REFERENCE_IO_PATHS, DataPlaneOptions, kinds_named, names_of
from nfvbed.spec.vnf import NATIVE, VnfChoice, VnfUse
from nfvbed.units import USUAL_FRAME_BYTES, USUAL_MTU, FrameSize, mtu_for

_Options = TypeVar("_Options", bound=DataPlaneOptions)
_Model = TypeVar("_Model", bound="VariantFile")


class VariantFile(SpecModel):
    """One data plane, as its file declares it."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")
    title: str
    summary: str = ""
    topologies: tuple[OfferedTopology, ...]
    """Paths that it can have; `pvNp`: chains of every length."""
    not_applicable: dict[OfferedTopology, str] = Field(default_factory=dict)
    """Reasons why it has not this topology or that one, by name: shown in place of its results."""
    native_vnf: VnfUse | None = None
    """VNF that belongs to it: what `forwarding: native` means in an experiment."""
    hugepages_mib: int = Field(0, ge=0)
    """Hugepage memory of its own."""
    options: SerializeAsAny[DataPlaneOptions]
    """Options of its data plane: see the table above."""

    @model_validator(mode="after")
    def reasons_are_of_what_it_lacks(self) -> Self:
        both = sorted(set(self.not_applicable) & set(self.topologies))
        if both:
            raise ValueError(f"not_applicable names {', '.join(both)}, which is among topologies")
        return self

    @model_validator(mode="after")
    def its_vnf_is_named(self) -> Self:
        if self.native_vnf is not None and self.native_vnf.forwarding == NATIVE:
            raise ValueError("native_vnf says what native is; give it a forwarding of its own")
        return self


class Variant(VariantFile):
    """One data plane as a site's generator attaches to it: what is planned, deployed and stored."""

    port_kind: PortKind
    """Kind of port by which the generator is attached: as the site says, one of those that the data plane has."""
    mtu: int = Field(USUAL_MTU, ge=USUAL_MTU, exclude_if=lambda value: value == USUAL_MTU)
    """MTU that is asked of every port of its paths, where a deployment is for jumbo frames."""

    def as_asked(self) -> Self:
        """Return it with those options set that its file may have named, where it was read from what was stored.

        What is stored has all options. A site refuses some only where a file names them (`flows` on a cloud), and has
        refused them before anything was stored: an option that has its default was not named, or is not refused.
        """
        options = self.options
        named = {"dataplane": options.dataplane, **options.model_dump(exclude_defaults=True)}
        return self.model_copy(update={"options": type(options).model_validate(named)})

    def carrying(self, mtu: int) -> Self:
        """Return the variant with ports of an MTU."""
        return self.model_copy(update={"mtu": mtu})

    @property
    def ports(self) -> str:
        """What keeps ceilings apart: the kind of the generator's ports, and settings few have (`veth-no-offloads`)."""
        return "-".join((self.port_kind.value, *self.options.port_settings(self.port_kind)))

    def io_path(self, role: CellRole = CellRole.SUBJECT) -> str:
        """Return the way by which frames pass the ports outside: the data plane's, or that of what replaces it.

        The generator looped back on these ports (and a VNF with it) passes them as it does for the data plane.
        """
        if role is CellRole.REFERENCE:
            return REFERENCE_IO_PATHS.get(self.port_kind, "")
        return self.options.io_path(self.port_kind)

    def frame_limit(self, topology: str, choice: VnfChoice | None = None) -> FrameLimit | None:
        """Return the longest frame that a path through the variant takes, as far as is known; None: every frame.

        Args:
            topology: one that the variant has.
            choice: the VNF of all places on the path.
        """
        plan, options = layout(topology), self.options
        limits: list[FrameLimit | None] = [*options.frame_limits(self.port_kind, plan)]
        if plan.outside:
            limits.append(of_ports(self.port_kind, "the generator's"))
        if choice is not None and plan.vnfs:
            limits.append(of_vnf(choice, options.vnf_port_kind(choice), options.cloud_tunnel))
        return narrowest(limits)

    def require_frames(self, size: FrameSize, topology: str, choice: VnfChoice | None = None) -> None:
        """Refuse frames that a path through the variant is known not to take.

        Raises:
            UnsupportedError: with what does not take them, and what it takes.
        """
        tunnelled = choice is not None and choice.row is not None and bool(choice.row.tunnels)
        if mtu_for(size) == USUAL_MTU and not tunnelled:
            return
        longest = USUAL_FRAME_BYTES if isinstance(size, str) else size  # of a mix
        limit = self.frame_limit(topology, choice)
        if limit is not None and (mtu_for(size) > mtu_for(limit.largest) or (tunnelled and longest > limit.largest)):
            raise UnsupportedError(
                f"frames of {size} bytes do not pass {self.name} ({topology}): {limit.part} take {limit.largest} bytes"
                " at most",
                where=f"variant {self.name}, ports of kind {self.port_kind.value}",
                observed=limit.why,
                fix="; or ".join(filter(None, (f"frames of at most {limit.largest} bytes", limit.fix))),
            )

    def lacks(self, topology: str) -> str:
        """Return why the variant does not offer this topology; empty where it does."""
        if offers(self.topologies, topology):
            return ""
        why = self.not_applicable.get(topology) or self.not_applicable.get(family_of(topology), "")
        offered = ", ".join(self.topologies) or "none"
        return f"variant {self.name} has no topology {topology}{f': {why}' if why else f'; it has {offered}'}"

    def misfit(self, topology: str) -> UnsupportedError | None:
        """Return the error of options that do not fit a topology that it offers; None where they do."""
        try:
            self.options.check_layout(layout(topology))
        except UnsupportedError as failure:
            return failure
        return None

    def without_gateway(self, choice: VnfChoice) -> UnsupportedError | None:
        """Return the error of a mobile core's gateway that cannot be on its ports; None for all else."""
        if choice.kind is VnfKind.VM or choice.forwarding not in GATEWAYS:
            return None
        try:
            require_ports(choice.forwarding, self.options.vnf_port_kind(choice))
        except UnsupportedError as failure:
            return failure
        return None

    @property
    def misfits(self) -> dict[str, UnsupportedError]:
        """The errors of its topologies that its options do not fit, by topology; chains of every length apart."""
        found = {name: self.misfit(name) for name in each_of(self.topologies)}
        return {name: failure for name, failure in found.items() if failure is not None}

    @model_validator(mode="after")
    def its_ports_are_the_data_planes(self) -> Self:
        kinds = self.options.port_kinds
        if self.port_kind not in kinds:
            only = f"{self.options.dataplane} with these options has ports of kind {kinds_named(kinds)}"
            raise MisfitError("port_kind", only)
        return self


def options_of(variant: Variant, kind: type[_Options]) -> _Options:
    """Return a variant's options, which must be those of one kind of data plane.

    Raises:
        ConfigurationError: they are those of another.
    """
    if not isinstance(variant.options, kind):
        raise ConfigurationError(
            f"variant {variant.name} has another data plane than {' or '.join(names_of(kind))}",
            where=f"deploy/variants/{variant.name}.yml options",
            observed=f"dataplane: {variant.options.dataplane}",
            fix="name a variant that has",
        )
    return variant.options


def variant_model(options: Sequence[type[DataPlaneOptions]], base: type[_Model]) -> type[_Model]:
    """Return a model of variants whose options are of one of several kinds, chosen by `dataplane`.

    Args:
        options: of two kinds or more.
        base: the model of variants' files, or of variants to which a site attaches.
    """
    of_one_kind: Any = Annotated[reduce(or_, options), Field(discriminator="dataplane")]
    return create_model(Variant.__name__, __base__=base, __doc__=base.__doc__, options=(of_one_kind, ...))
