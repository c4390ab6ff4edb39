"""Rules that need more than one key or more than one file, each a function with a name."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nfvbed.errors import ConfigurationError, InternalError
from nfvbed.records import Sessions
from nfvbed.spec.document import Document, KeyPath
from nfvbed.spec.experiment import Experiment
from nfvbed.spec.gateway import GATEWAYS
from nfvbed.spec.layout import VEPC, layout, offers
from nfvbed.spec.options import kinds_named
from nfvbed.spec.pcrf import NEXTEPC, STAND_IN, PcrfKind, most_attached
from nfvbed.spec.site import SiteSpec
from nfvbed.spec.testkinds.attaches import CoreTest
from nfvbed.spec.tests import label_of, of_core
from nfvbed.spec.validate import suggestion
from nfvbed.spec.variant import Variant, VariantFile
from nfvbed.spec.vnf import NATIVE, VnfChoice
from nfvbed.units import MIN_FRAME_SIZE_BYTES, frame_mix

IPV6_EXTRA_BYTES = 20
"""An IPv6 header is 40 bytes, an IPv4 header 20; the payload of 18 bytes stays."""
VLAN_TAG_BYTES = 4
SWAPS_TUPLES = "5tswap"
"""The forwarding that makes a frame of each frame's reply."""
PORT_KIND = "port_kind"
"""The key that variants' files had for how the generator is attached."""


@dataclass(frozen=True)
class Study:
    """An experiment with all that it names: everything that a run needs from the files."""

    experiment: Experiment
    variants: tuple[Variant, ...]
    """Variants in the experiment's order."""
    site: SiteSpec
    choices: Mapping[tuple[str, str], VnfChoice] = field(default_factory=dict)
    """(variant, label of a VNF) -> the VNF as it will run; a variant without a native one lacks that."""

    def choice(self, variant: str, label: str) -> VnfChoice | None:
        """Return the VNF of a cell; None for a cell without (an empty label).

        Raises:
            InternalError: the variant has none of that label, so it has no such cell either.
        """
        if not label:
            return None
        if (variant, label) not in self.choices:
            raise InternalError(f"variant {variant} has no VNF {label!r}", where=f"experiment {self.experiment.name}")
        return self.choices[variant, label]

    @property
    def simulated(self) -> bool:
        """Whether nothing in it is measured."""
        return all(variant.options.is_simulated for variant in self.variants)


def name_is_the_folders_name(document: Document, name: str) -> None:
    """Make sure that a VNF has its folder's name, by which it is found."""
    if document.path.parent.name != name:
        raise ConfigurationError(
            "the name in vnf.yml differs from its folder's name",
            where=document.where(("name",)),
            observed=repr(name),
            fix=f"write `name: {document.path.parent.name}`, or rename the folder to {name}",
        )


def name_is_the_files_name(document: Document, name: str) -> None:
    """Make sure that a file has the name that is in it, by which it is found."""
    if document.path.stem != name:
        raise ConfigurationError(
            f"the name in {document.path.name} differs from the file's name",
            where=document.where(("name",)),
            observed=repr(name),
            fix=f"write `name: {document.path.stem}`, or rename the file to {name}.yml",
        )


def frames_pass_every_path(
    experiment: Experiment, variants: Sequence[Variant], found: Mapping[tuple[str, str], VnfChoice]
) -> None:
    """Refuse jumbo frames, before anything is deployed, where a part of a path is known not to take them.

    Raises:
        UnsupportedError: with the variant, the part and what it takes.
    """
    for variant in variants:
        for topology in experiment.laid_out:
            if variant.lacks(topology) or variant.misfit(topology) or variant.options.is_simulated:
                continue
            for label in [use.label for use in experiment.uses_in(topology)] or [""]:
                choice = found.get((variant.name, label))
                for size in (
                    () if choice is not None and variant.without_gateway(choice) else experiment.sizes_in(topology)
                ):
                    variant.require_frames(size, topology, choice)


def names_are_known(document: Document, key: str, names: Sequence[str], known: Sequence[str]) -> None:
    """Refuse a variant (or site) without a file."""
    for index, name in enumerate(names):
        if name not in known:
            place = (key, index) if isinstance(document.data.get(key), list) else (key,)
            raise ConfigurationError(
                f"unknown {key.removesuffix('s')} {name!r} in {document.path.name}",
                where=document.where(place),
                observed=repr(name),
                fix=suggestion(name, known),
            )


def variants_are_known(document: Document, key: str, names: Iterable[str], known: Sequence[str]) -> None:
    """Refuse a site's file that says something of a variant without a file."""
    for name in names:
        if name not in known:
            raise ConfigurationError(
                f"unknown variant {name!r} in {document.path.name}",
                where=document.where((key, name)),
                observed=repr(name),
                fix=suggestion(name, known),
            )


def release_is_known(document: Document, key: KeyPath, name: str, known: Sequence[str]) -> None:
    """Refuse a release profile that refers to a release without one."""
    if name not in known:
        raise ConfigurationError(
            f"unknown release {name!r} in {document.path.name}",
            where=document.where(key),
            observed=repr(name),
            fix=suggestion(name, known),
        )


def without_port_kind(document: Document) -> Document:
    """Return a variant's file without the port kind key of older files; now the site decides how generators attach."""
    if not isinstance(document.data, dict):
        return document
    return replace(document, data={key: value for key, value in document.data.items() if key != PORT_KIND})


def port_kind_is_the_sites(document: Document, variant: VariantFile) -> None:
    """Refuse a key for the generator's ports: their kind follows from the site and the data plane's options."""
    if PORT_KIND not in document.data:
        return
    seen, offered, plane = document.data[PORT_KIND], variant.options.port_kinds, variant.options.dataplane
    fix = f"delete the line; with these options {plane} has ports of kind {kinds_named(offered)}"
    if seen != offered[0] and seen in offered:
        fix += f", and a site's file says which: generator_port_kinds: {{{variant.name}: {seen}}}"
    if seen != offered[0] and "port_type" in type(variant.options).model_fields:
        fix += f"; those of its switch are chosen by options.port_type: {seen}"
    raise ConfigurationError(
        f"{PORT_KIND} is no longer a key of a variant's file ({document.path.name})",
        where=document.where((PORT_KIND,)),
        observed=repr(seen),
        fix=fix,
    )


def simulated_is_not_mixed_with_real(document: Document, variants: Sequence[Variant]) -> None:
    """Refuse simulated variants beside measured ones."""
    simulated = [v.name for v in variants if v.options.is_simulated]
    real = [v.name for v in variants if not v.options.is_simulated]
    if simulated and real:
        raise ConfigurationError(
            f"{document.path.name} mixes simulated and real variants",
            where=document.where(("variants",)),
            observed=f"simulated: {', '.join(simulated)}; real: {', '.join(real)}",
            fix="put them into two experiments",
        )


def topologies_are_offered(document: Document, experiment: Experiment, variants: Sequence[Variant]) -> None:
    """Refuse a topology that all variants lack; one that some lack makes cells `not-applicable`."""
    for index, topology in enumerate(experiment.laid_out):
        if not any(offers(variant.topologies, topology) for variant in variants):
            offered = sorted({t for variant in variants for t in variant.topologies})
            raise ConfigurationError(
                f"no variant of {document.path.name} has the topology {topology!r}",
                where=document.where(("topologies", index)),
                observed=repr(topology),
                fix=f"one of: {', '.join(offered)}" if offered else "give the variants topologies",
            )


def flows_reach_every_vnf(document: Document, experiment: Experiment) -> None:
    """Refuse fewer flows than VNFs side by side: one would idle, and the rate would be that of fewer VNFs."""
    flows = experiment.traffic.flows
    for topology in experiment.laid_out:
        ways = layout(topology).ways
        if flows < ways:
            raise ConfigurationError(
                f"topology {topology} of {document.path.name} needs at least {ways} flows",
                where=document.where(("traffic", "flows")),
                observed=f"flows: {flows}; {ways} VNFs side by side take a share of them each",
                fix=f"write `traffic: {{flows: {ways}}}` or more (--flows {ways}), or choose a chain",
            )


def with_sessions(experiment: Experiment, variants: Sequence[Variant]) -> Experiment:
    """Return an experiment with its sessions filled in: mirrored where one of its variants tracks connections.

    All variants count, as those that are compared must have the same traffic.
    """
    if experiment.traffic.sessions is not None:
        return experiment
    tracks = any(variant.options.tracks_connections for variant in variants)
    sessions = Sessions.MIRRORED if tracks else Sessions.UNREPLIED
    return experiment.model_copy(update={"traffic": experiment.traffic.model_copy(update={"sessions": sessions})})


def replies_come_back(document: Document, experiment: Experiment, choices: Iterable[VnfChoice]) -> None:
    """Refuse mirrored sessions over bearers, which have own addresses, or a VNF that turns replies into requests."""
    if experiment.traffic.sessions is not Sessions.MIRRORED:
        return
    swapping = sorted({choice.label for choice in choices if choice.forwarding == SWAPS_TUPLES})
    found = [f"topology {VEPC}"] * (VEPC in experiment.laid_out) + [f"VNF {label}" for label in swapping]
    if found:
        raise ConfigurationError(
            f"mirrored sessions of {document.path.name} do not come back as replies",
            where=document.where(("traffic", "sessions")),
            observed=", ".join(found),
            fix="traffic: {sessions: unreplied}, or another VNF (io, mac, macswap)",
        )


def core_tests_have_a_core(document: Document, experiment: Experiment) -> None:
    """Refuse a test of a mobile core without topology `vepc`, the only one in which it is measured."""
    for index, test in enumerate(experiment.tests):
        if of_core(test) and VEPC not in experiment.laid_out:
            raise ConfigurationError(
                f"test {label_of(test)} of {document.path.name} needs a mobile core, which only topology {VEPC} has",
                where=document.where(("tests", index)),
                observed=f"topologies: {', '.join(experiment.laid_out)}",
                fix=f"write `topologies: [{VEPC}]` and `vnfs: [{{vnf: {VEPC}, forwarding: nextepc}}]`, or leave it out",
            )


def ues_fit_the_core(document: Document, experiment: Experiment, choices: Iterable[VnfChoice]) -> None:
    """Refuse a test with more UEs than the mobile core's functions attach in one start, which depends on its PCRF."""
    cores = {choice.pcrf or NEXTEPC: choice for choice in choices if choice.forwarding in GATEWAYS}
    for index, test in enumerate(experiment.tests):
        for pcrf, choice in cores.items():
            if isinstance(test, CoreTest) and test.most_ues > most_attached(pcrf):
                raise ConfigurationError(
                    f"test {label_of(test)} of {document.path.name} attaches more UEs than {choice.label} takes",
                    where=document.where(("tests", index)),
                    observed=f"{test.most_ues} UEs between two starts of the functions; with pcrf: {pcrf} they take"
                    f" {most_attached(pcrf)}",
                    fix=_fewer_ues(test, pcrf),
                )


def _fewer_ues(test: CoreTest, pcrf: PcrfKind) -> str:
    most, other = most_attached(pcrf), most_attached(STAND_IN)
    fewer = f"{test.limited_by} for at most {most}"
    return fewer if test.most_ues > other else f"{fewer}; or write `pcrf: {STAND_IN}` in vnfs, which takes {other}"


def native_is_somewhere(document: Document, experiment: Experiment, variants: Sequence[Variant]) -> None:
    """Refuse `native` where no variant has a VNF of its own; a variant without one only lacks those cells."""
    if any(use.forwarding == NATIVE for use in experiment.uses) and not any(variant.native_vnf for variant in variants):
        raise ConfigurationError(
            f"no variant of {document.path.name} has a native VNF",
            where=document.where(("vnfs",)),
            observed=", ".join(variant.name for variant in variants),
            fix="name the VNF: vnfs: [{kind: process, forwarding: io}]",
        )


def frames_hold_their_headers(document: Document, experiment: Experiment) -> None:
    """Make sure that the smallest frame holds the headers and the 18 bytes of payload with sequence and time."""
    traffic = experiment.traffic
    smallest = MIN_FRAME_SIZE_BYTES
    smallest += IPV6_EXTRA_BYTES if traffic.ip == 6 else 0
    smallest += VLAN_TAG_BYTES if traffic.vlan is not None else 0
    of_vnfs = experiment.vnf_frame_sizes or ()
    places = [("frame_sizes", index, size) for index, size in enumerate(experiment.frame_sizes)]
    places += [("vnf_frame_sizes", index, size) for index, size in enumerate(of_vnfs)]
    of_chains = experiment.chains.frame_sizes if experiment.chains else ()
    places += [("chains", index, size) for index, size in enumerate(of_chains)]
    for key, index, size in places:
        if min(length for length, _ in frame_mix(size)) < smallest:
            raise ConfigurationError(
                f"frame size {size} of {document.path.name} is too small for its headers",
                where=document.where((key, index)),
                observed=f"{size}, with IPv{traffic.ip}{' and a VLAN tag' if traffic.vlan is not None else ''}",
                fix=f"give frames of at least {smallest} bytes, or plainer traffic",
            )
