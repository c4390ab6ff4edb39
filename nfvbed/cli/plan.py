"""`nfvbed plan`: what an experiment would measure."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from nfvbed.cli.completion import EXPERIMENT
from nfvbed.cli.console import Console
from nfvbed.cli.listing import Output, Row, listing_options
from nfvbed.cli.overrides import collect, override_options
from nfvbed.cli.plan_on_site import impossible
from nfvbed.cli.progress import span
from nfvbed.cli.settings import root_option
from nfvbed.cli.study_on_site import load_on_site
from nfvbed.compare.advice.advice import ADVICE
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.plan.cells import CellPlan
from nfvbed.plan.estimate import SIMULATED, Overheads, length_s, shortest
from nfvbed.plan.order import is_exchanged
from nfvbed.plan.plan import Plan, Unit, expand
from nfvbed.records import CellRole
from nfvbed.records.quality import QualityWarning
from nfvbed.report.throughput import claim
from nfvbed.spec.conformance import conformance
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.neighbour import NeighbourSpec
from nfvbed.spec.rules import Study
from nfvbed.spec.search import Search
from nfvbed.spec.searchpresets import Goal
from nfvbed.spec.site import SiteSpec
from nfvbed.spec.testkinds.base import MRR
from nfvbed.spec.testkinds.loads import SearchTest
from nfvbed.spec.tests import expected_s


@click.command(name="plan")
@click.argument("experiment", type=EXPERIMENT)
@root_option
@override_options
@listing_options(
    "cell", "role", "variant", "topology", "vnf", "frame_size", "flows", "least_rounds", "most_rounds", "lacks"
)
def command(experiment: str, root: Path | None, output: Output, **overrides: Any) -> None:
    """Show the cells, their repetitions and the estimated length of EXPERIMENT (a name or a file)."""
    project = open_project(root)
    study, left_out = load_on_site(project, experiment, collect(overrides))
    show_plan(study, project.root, output, left_out)


def show_plan(study: Study, root: Path, output: Output, left_out: tuple[str, ...] = ()) -> None:
    """Print the plan of a study, with what its site can never have.

    Args:
        left_out: lines that say which parts of the experiment do not apply on its site.
    """
    plan = expand(study.experiment, study.variants, study.choices)
    lacking, not_asked = impossible(study, plan, root)
    overheads = SIMULATED if study.simulated else Overheads()
    least_s = length_s(plan, shortest(plan), overheads)
    # No round begins after the limit, and the last one is not cut off; a budget cuts it.
    repetitions = study.experiment.repetitions
    limit_s = repetitions.time_limit_s + length_s(plan, plan.round(1), overheads)
    every = [trial for trial in plan.trials if trial.round <= plan.rounds[1]]
    most_s = max(least_s, min(length_s(plan, every, overheads), limit_s))
    budget_s = None if study.simulated else repetitions.budget_s
    if budget_s is not None:
        least_s, most_s = min(least_s, budget_s), min(most_s, budget_s)
    figures = _Figures((least_s, most_s), budget_s, overheads)
    output.show(
        lambda: [_row(plan, cell, lacking.get(cell.id, "")) for cell in plan.cells],
        lambda: _document(plan, study, (least_s, most_s), (lacking, not_asked, left_out)),
        lambda: _print(plan, study, figures, (lacking, not_asked, left_out)),
    )


@dataclass(frozen=True)
class _Figures:
    """How long a plan takes.

    Args:
        length_s: at least, and at most.
        budget_s: None: there is none.
    """

    length_s: tuple[float, float]
    budget_s: float | None
    overheads: Overheads


def _row(plan: Plan, cell: CellPlan, lacks: str) -> Row:
    looks = plan.looks(cell.point) if plan.is_compared(cell.id) else (plan.needed(cell.id),)
    rounds = {"least_rounds": looks[0], "most_rounds": looks[-1]}
    return {"cell": cell.id, **cell.model_dump(mode="json", exclude={"id"}), **rounds, "lacks": lacks}


def _print(
    plan: Plan, study: Study, figures: _Figures, of_site: tuple[Mapping[str, str], str, tuple[str, ...]]
) -> None:
    (lacking, not_asked, left_out), (least_s, most_s) = of_site, figures.length_s
    table = Table()
    table.add_column("cell", no_wrap=True)
    for heading in ("rounds", "a visit"):
        table.add_column(heading)
    for cell in plan.cells:
        units = ", ".join(_named(plan, unit) for unit in plan.units(cell.id))
        table.add_row(cell.id, _rounds(plan, cell.id), units)
    console = Console()
    console.print(table)
    for flavor in study.experiment.flavors:
        console.print(f"flavor {flavor.name}, of this experiment: {size_of(flavor)}", highlight=False, soft_wrap=True)
    if (neighbour := study.experiment.neighbour) is not None:
        console.print(f"beside every trial: {disturbance(neighbour)}", highlight=False, soft_wrap=True)
    for search in _searches(study):
        console.print(f"search {search}", highlight=False, soft_wrap=True)
    for line in left_out:
        console.print(f"on site {study.site.name}: {line}", highlight=False, soft_wrap=True)
    for cell, reason in plan.absent:
        console.print(f"not applicable: {cell.id}: {reason}", highlight=False)
    for cell, reason in plan.skipped:
        console.print(f"skipped: {cell.id}: {reason}", highlight=False)
    for reason in dict.fromkeys(lacking.values()):
        named = ", ".join(cell for cell, why in lacking.items() if why == reason)
        console.print(f"not on site {study.site.name}: {named}: {reason}", highlight=False, soft_wrap=True)
    if not_asked:
        console.print(not_asked, highlight=False, soft_wrap=True)
    for cells in incomplete_checksums(plan, study).values():
        advice = ADVICE[QualityWarning.OFFLOADS_ON]
        told = f"{QualityWarning.OFFLOADS_ON.value}: {', '.join(cells)}: {advice.meaning} {advice.remedy}"
        console.print(told, highlight=False, soft_wrap=True)
    for line in _exchanges(plan, study.site):
        console.print(line, highlight=False, soft_wrap=True)
    whole_s = length_s(plan, shortest(plan), figures.overheads)
    if (budget_s := figures.budget_s) is not None:
        fits = "fits" if whole_s <= budget_s else "does not fit: what is left then is blocked (budget)"
        needs = f"all variants, if this host has them, need about {span(whole_s)}"
        console.print(f"budget {span(budget_s)}; {needs}, which {fits}", highlight=False, soft_wrap=True)
    virtual = " of virtual time" if study.simulated else ""
    console.print(
        f"about {span(least_s)}{virtual} for {plan.rounds[0]} rounds; at most {span(most_s)}: {plan.rounds[1]} rounds, "
        f"none begun after {span(study.experiment.repetitions.time_limit_s)}",
        highlight=False,
        soft_wrap=True,
    )


def disturbance(neighbour: NeighbourSpec) -> str:
    """Return what a noisy neighbour is asked for, in words; how many workers it has depends on the machine."""
    kinds = " and ".join(f"{part} of {kind}" for kind, part in neighbour.workers.items())
    cores = ", ".join(map(str, neighbour.cores)) or "without packet work, else all"
    memory = f", {neighbour.memory_percent:g} % of the memory" if neighbour.memory_percent is not None else ""
    reserved = f" less {neighbour.reserved_cores}" if neighbour.reserved_cores else ""
    return (
        f"stress-ng, {kinds}; workers for {neighbour.load_percent:g} % of the cores{reserved}{memory}; cores: {cores}"
    )


def size_of(flavor: Flavor) -> str:
    """Return what a flavor is, in words."""
    words = [f"{flavor.vcpus} vCPUs", f"{flavor.memory_mib} MiB{' in hugepages' if flavor.hugepages else ''}"]
    words += [f"{flavor.queues} queues a port"] if flavor.queues > 1 else []
    words += ["a core for each vCPU"] if flavor.cpu_policy == "dedicated" else []
    words += ["a core for QEMU's own threads"] if flavor.emulator_threads == "isolate" else []
    words += [f"{len(flavor.numa)} NUMA nodes"] if flavor.numa else []
    words += ["real-time vCPUs"] if flavor.realtime else []
    return ", ".join(words)


def incomplete_checksums(plan: Plan, study: Study) -> dict[str, list[str]]:
    """Return by variant the cells whose raw-Ethernet VNF will be given frames without complete checksums.

    Raises:
        UnsupportedError: a VNF and a variant's ports do not fit together.
    """
    found: dict[str, list[str]] = {}
    variants = {variant.name: variant for variant in study.variants}
    for cell in plan.cells:
        choice = study.choice(cell.variant, cell.vnf) if cell.role is CellRole.SUBJECT else None
        if choice is not None and variants[cell.variant].options.leaves_checksums_out(choice):
            found.setdefault(cell.variant, []).append(cell.id)
    return found


def _exchanges(plan: Plan, site: SiteSpec) -> list[str]:
    """Return in which rounds twins have each other's variant: before these, and after, the site is deployed again."""
    if not site.exchanges:
        return []
    rounds = [str(number) for number in range(1, plan.rounds[0] + 1) if is_exchanged(number)]
    held = ", ".join(f"{variant} on {compute}" for compute, variant in site.exchanges.items())
    return [f"rounds {', '.join(rounds) or 'none'}: {held} (swap: abba); the rack is deployed again at each exchange"]


def _named(plan: Plan, unit: Unit) -> str:
    """Return a unit in words: the MRR's trials by their number, any other test by its label."""
    label, preset = unit
    number = plan.trials_of(preset) if label == MRR else 1
    times = f"{number} x " if number > 1 else ""
    return f"{times}{preset.value}" if label in (MRR, preset.value) else f"{label} ({preset.value})"


def _rounds(plan: Plan, cell: str) -> str:
    """Return in how many rounds a cell is visited: where it is compared, until that is decided."""
    if not plan.is_compared(cell):
        return str(plan.needed(cell))
    looks = plan.looks(plan.cell_by_id[cell].point)
    return " or ".join(str(look) for look in looks)


def _searches(study: Study) -> list[str]:
    """Describe the searches: each takes what it needs, and at most its limit."""
    found = []
    for label, test, what in _searched(study):
        seconds, trials = expected_s(test, what)
        goals = ", ".join(f"{goal.name} (loss ratio {goal.loss_ratio:g})" for goal in what.goals)
        about = f"about {seconds:.0f} s and {trials} trials each, at most {what.time_limit_s:g} s"
        claims = (claim(what.preset, goal.name, conformance(what, goal), reasons=False) for goal in what.goals)
        found.append(f"{label}: {what.label}, {goals}; {about}. {' '.join(claims)}")
    return found


def _searched(study: Study) -> list[tuple[str, SearchTest, Search]]:
    """Return the searches of an experiment, with the labels of their tests."""
    experiment = study.experiment
    tests = experiment.labelled_tests.items()
    return [(label, test, experiment.search_of(test)) for label, test in tests if isinstance(test, SearchTest)]


def _judged(what: Search, goal: Goal) -> list[dict[str, Any]]:
    return [one.model_dump(mode="json") for one in conformance(what, goal)]


def _document(
    plan: Plan, study: Study, length: tuple[float, float], of_site: tuple[dict[str, str], str, tuple[str, ...]]
) -> dict[str, Any]:
    lacking, not_asked, left_out = of_site
    return {
        "experiment": study.experiment.model_dump(mode="json"),
        "simulated": study.simulated,
        "cells": [
            {**c.model_dump(mode="json"), "needed": plan.needed(c.id), "lacks": lacking.get(c.id, "")}
            for c in plan.cells
        ],
        "site_not_asked": not_asked,
        "left_out_on_site": list(left_out),
        "not_applicable": [{"cell": cell.id, "reason": reason} for cell, reason in plan.absent],
        "skipped": [{"cell": cell.id, "reason": reason} for cell, reason in plan.skipped],
        "offloads_on": [cell for cells in incomplete_checksums(plan, study).values() for cell in cells],
        "searches": [
            {
                "test": label,
                "search": what.label,
                "goals": [
                    {"goal": goal.model_dump(mode="json"), "conformance": _judged(what, goal)} for goal in what.goals
                ],
            }
            for label, _, what in _searched(study)
        ],
        "first_round": [
            {"sequence": trial.sequence, "cell": trial.cell, "preset": trial.preset.value, "test": trial.test}
            for trial in plan.round(1)
        ],
        "rounds": {"at_least": plan.rounds[0], "at_most": plan.rounds[1]},
        "trials_at_most": sum(plan.trials_of(t.preset) for t in plan.trials if t.round <= plan.rounds[1]),
        "estimate_s": {"at_least": round(length[0], 1), "at_most": round(length[1], 1)},
    }
