"""`nfvbed compare --published`: published figures and claims beside what the store has of their experiments."""

from collections.abc import Sequence
from pathlib import Path

import click

from nfvbed.cli.settings import open_store, store_location
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.plan.estimate import Overheads, length_s, shortest
from nfvbed.plan.plan import expand
from nfvbed.records.selection import MEASURED
from nfvbed.report.papers.breakdowns import breakdown_tables
from nfvbed.report.papers.claims import is_quick, judge_claims
from nfvbed.report.papers.figures import see_publications
from nfvbed.report.papers.text import Experiment, Paper, page
from nfvbed.spec.loader import SEEDS, Project
from nfvbed.spec.published import publications
from nfvbed.store import Store

NEWEST = 2
"""Runs of an experiment that are named."""


def show_published(root: Path | None, location: str | None, names: Sequence[str]) -> None:
    """Print everything published with what was measured here, as Markdown.

    Args:
        names: runs to look at; none: all.

    Raises:
        StoreError, UsageError: the store cannot be read, or has no such run.
    """
    project = open_project(root)
    where = store_location(project, location)
    if location is None and "://" not in where and not Path(where).exists():
        # A machine on which nothing has run yet: what was published is shown all the same.
        click.echo(_page(project, None, names), nl=False)
        return
    with open_store(project, location) as store:
        click.echo(_page(project, store, names), nl=False)


def _page(project: Project, store: Store | None, names: Sequence[str]) -> str:
    only = {store.run(name, MEASURED).id for name in names} if store and names else None
    known = publications()
    seen = see_publications(store, known, only)
    papers = [
        Paper(
            seen=one,
            claims=judge_claims(store, entry, only),
            breakdowns=breakdown_tables(store, entry, only),
            without_numbers=entry.without_numbers,
        )
        for one, entry in zip(seen, known, strict=True)
    ]
    return page(papers, _experiments(project, store))


def _experiments(project: Project, store: Store | None) -> list[Experiment]:
    runs = [run for run in store.runs(MEASURED) if run.status is not None] if store else []
    found = []
    for path in sorted((project.experiments_folder / SEEDS).glob("*.yml")):
        study = project.load_study(path.stem, {"quick": True})
        plan = expand(study.experiment, study.variants, study.choices)
        ran = [
            f"{run.started_at[:10]}{' (quick)' if store and is_quick(store, run) else ''}: {run.status.value}"
            for run in runs
            if run.experiment == path.stem and run.status is not None
        ]
        found.append(
            Experiment(
                name=path.stem,
                title=study.experiment.title,
                quick_s=length_s(plan, shortest(plan), Overheads()),
                ran=tuple(ran[:NEWEST]),
            )
        )
    return found
