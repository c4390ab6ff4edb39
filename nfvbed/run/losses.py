"""A path that returns nothing: no figure of it is a result, so what was to be measured on it failed."""

from collections.abc import Iterable

from nfvbed.errors import TotalLossError
from nfvbed.plan.cells import CellPlan
from nfvbed.plan.plan import Plan
from nfvbed.records import CellRole, PortKind, TrialRecord
from nfvbed.sites.site import Site
from nfvbed.spec.commands import TracedPath, trace_command


def nothing_came(trials: Iterable[TrialRecord]) -> str:
    """Return a sentence where none of the frames that trials sent came back; empty: some did, or none were sent.

    Frames that were late are not among them, and no excuse.
    """
    ways = [way for trial in trials for way in trial.directions]
    sent = sum(way.sent for way in ways)
    if not sent or any(way.received for way in ways):
        return ""
    return f"none of {sent} sent frames came back"


def total_loss(plan: Plan, cell: CellPlan, observed: str, site: Site) -> TotalLossError:
    """Return the error of a cell that returned nothing, with the command that shows where its frames are lost."""
    size = cell.frame_size if cell.frame_size == "imix" else f"frames of {cell.frame_size} bytes"
    return TotalLossError(
        observed,
        where=f"{cell.id}: variant {cell.variant}, topology {cell.topology}, {size}",
        fix=next_step(plan, cell, site),
    )


def next_step(plan: Plan, cell: CellPlan, site: Site) -> str:
    """Return how to find out where a cell's frames are lost."""
    altered = plan.experiment.altered.get(cell.variant)
    name = cell.variant if altered is None else altered.variant
    if cell.port_kind is PortKind.SIMULATED:
        return f"what a simulated system loses is written in its options: deploy/variants/{name}.yml"
    vnf = plan.choice(cell.deployment)
    command = trace_command(TracedPath(name, cell.topology, cell.frame_size, vnf, site.name))
    left_out = [] if altered is None else [f"what the experiment alters ({cell.variant})"]
    left_out += [f"its flavor {vnf.flavor.name}"] if vnf is not None and vnf.own_flavor else []
    without = f", without {' and '.join(left_out)}" if left_out else ""
    if cell.role is not CellRole.SUBJECT:
        return f"the ports themselves do not carry such frames; {command} shows the whole path{without}"
    return f"{command} shows the hop that loses them{without}"
