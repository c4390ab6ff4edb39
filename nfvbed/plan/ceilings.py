"""The ceilings of a plan: generator, ports and VNFs on their own, each measured once for all cells that it bounds."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from nfvbed.errors import InternalError
from nfvbed.plan.cells import CellPlan, DeploymentKey, cell_id, shared_mtu
from nfvbed.records import CellRole, VnfKind
from nfvbed.spec.choices import explicit_label
from nfvbed.spec.experiment import Experiment
from nfvbed.spec.layout import layout, offers
from nfvbed.spec.testkinds.loads import SearchTest
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.units import FrameSize

Choices = Mapping[tuple[str, str], VnfChoice]
"""(variant, label) -> the VNF as it will run."""

OF_THE_PORTS = (CellRole.LOOPBACK, CellRole.REFERENCE)
PORT_TO_PORT = "p2p"
"""The layout of a ceiling of the ports: generator, ports, nothing between them, whatever the cells' topologies are."""
ONE_VNF = "pvp"
LOOPED_KINDS = (VnfKind.PROCESS, VnfKind.CONTAINER)
"""Kinds whose ceiling is measured; a guest's would be that of its emulation where there is no accelerator."""


def planned_ceilings(
    experiment: Experiment, variants: Sequence[Variant], subjects: Sequence[CellPlan], choices: Choices
) -> list[CellPlan]:
    """Plan the ceilings that could change a verdict, each for the first variant that has such ports.

    The generator bounds every rate, so it is looped back on all ports that are set alike. The ports with testpmd in the
    switch's place bound a comparison only where both sides have ports of one kind, and only data planes that pass them
    as testpmd does; else they belong to what is compared, as a variant's own VNF does. A survey, and a single variant,
    are shown with the bare ports all the same.
    """
    first = {variant.ports: variant for variant in reversed(variants)}
    used = _used_sizes(cell for cell in subjects if not layout(cell.topology).one_way)
    bounding = _ports_that_bound(variants)
    if experiment.purpose != "compare" or len(variants) == 1:
        bounding = frozenset(first)
    bounding |= frozenset(variant.ports for variant in variants if wants_reference(experiment, variant))
    bare = [
        _ceiling(experiment, role, first[ports], (PORT_TO_PORT, ""), (size, used[ports]))
        for ports in dict.fromkeys(variant.ports for variant in variants)
        for role in OF_THE_PORTS
        for size in used.get(ports, ())
        if role is CellRole.LOOPBACK or ports in bounding
    ]
    by_name = {variant.name: variant for variant in variants}
    vnfs = {
        (cell.ports, cell.vnf_resolved): by_name[cell.variant]
        for cell in reversed(subjects)
        if is_bounded_by_its_vnf(cell, choices)
        and by_name[cell.variant].options.has_vnf_ceiling
        and offers(by_name[cell.variant].topologies, ONE_VNF)
    }
    alone = [
        _ceiling(experiment, CellRole.VNF, variant, (ONE_VNF, label), (size, experiment.sizes_in(ONE_VNF)))
        for (_, label), variant in reversed(vnfs.items())
        for size in experiment.sizes_in(ONE_VNF)
    ]
    return bare + alone


def wants_reference(experiment: Experiment, variant: Variant) -> bool:
    """Return whether a variant's search is relative to testpmd in its place, which passes its ports in the same way."""
    relative = any(isinstance(test, SearchTest) and test.relative for test in experiment.tests)
    return relative and bool(variant.io_path()) and variant.io_path() == variant.io_path(CellRole.REFERENCE)


def references(experiment: Experiment, variants: Sequence[Variant], cells: Sequence[CellPlan]) -> Mapping[str, str]:
    """Return the reference of each cell whose searches are relative, by their ids: port to port, no VNF between."""
    wanting = {variant.name for variant in variants if wants_reference(experiment, variant)}
    of_ports = {(cell.ports, cell.frame_size): cell.id for cell in cells if cell.role is CellRole.REFERENCE}
    return {
        cell.id: of_ports[cell.ports, cell.frame_size]
        for cell in cells
        if cell.role is CellRole.SUBJECT
        and cell.variant in wanting
        and cell.topology == PORT_TO_PORT
        and (cell.ports, cell.frame_size) in of_ports
    }


def _ports_that_bound(variants: Sequence[Variant]) -> frozenset[str]:
    """Return the ports whose reference can bound a comparison."""
    kinds = Counter(variant.port_kind for variant in variants)
    return frozenset(
        variant.ports
        for variant in variants
        if kinds[variant.port_kind] > 1 and variant.io_path() == variant.io_path(CellRole.REFERENCE)
    )


def is_bounded_by_its_vnf(cell: CellPlan, choices: Choices) -> bool:
    """Return whether the VNF of a cell passes frames on, can be measured alone, and is not the variant's own."""
    choice = choices.get((cell.variant, cell.vnf))
    return (
        choice is not None and not choice.native and not layout(cell.topology).one_way and choice.kind in LOOPED_KINDS
    )


def choice_of(choices: Choices, key: DeploymentKey) -> VnfChoice | None:
    """Return the VNF of a deployment; None where it has none.

    A ceiling is named by what runs, also where only a `native` cell asked for it.

    Raises:
        InternalError: the plan has a cell whose VNF was not resolved.
    """
    if not key.vnf:
        return None
    if key.role is CellRole.SUBJECT and (key.variant, key.vnf) in choices:
        return choices[key.variant, key.vnf]
    for (variant, _), choice in choices.items():
        if key.role is CellRole.VNF and variant == key.variant and explicit_label(choice) == key.vnf:
            return choice.model_copy(update={"label": key.vnf, "native": False})
    raise InternalError(f"variant {key.variant} has no VNF {key.vnf!r}", where="the plan")


def _used_sizes(subjects: Iterable[CellPlan]) -> dict[str, list[FrameSize]]:
    """Return the sizes of cells between two ports of the generator, by their ports: others have no such ceilings."""
    found: dict[str, list[FrameSize]] = {}
    for cell in subjects:
        sizes = found.setdefault(cell.ports, [])
        if cell.frame_size not in sizes:
            sizes.append(cell.frame_size)
    return found


def _ceiling(
    experiment: Experiment,
    role: CellRole,
    variant: Variant,
    path: tuple[str, str],
    sizes: tuple[FrameSize, Sequence[FrameSize]],
) -> CellPlan:
    """Plan a ceiling at the first of the sizes, one of all those that are measured of the path."""
    (topology, label), (size, others) = path, sizes
    return CellPlan(
        id=cell_id(role, variant.ports, path, size),
        variant=variant.name,
        role=role,
        topology=topology,
        vnf=label,
        vnf_resolved=label,
        frame_size=size,
        flows=experiment.traffic.flows,
        bidirectional=experiment.traffic.bidirectional,
        port_kind=variant.port_kind,
        ports=variant.ports,
        mtu=shared_mtu(size, others),
    )
