"""`nfvbed run`: execute an experiment, or go on with one that stopped."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nfvbed.cli.completion import EXPERIMENT, RUN
from nfvbed.cli.console import Console
from nfvbed.cli.entering import site_of
from nfvbed.cli.listing import whole
from nfvbed.cli.overrides import collect, override_options
from nfvbed.cli.plan import show_plan
from nfvbed.cli.progress import progress_on
from nfvbed.cli.rack_options import CONFIRMED, EVICT, confirm
from nfvbed.cli.settings import json_option, open_store, root_option, store_option
from nfvbed.cli.study_on_site import load_on_site, show_left_out
from nfvbed.cli.vsperf_options import VSPERF, chosen_driver, native_name, native_study, vsperf_options
from nfvbed.compare.agreement import disagreements, outcomes_of, supports_of
from nfvbed.dataplanes.catalogue import VariantModel, open_project
from nfvbed.errors import NfvbedError, UnsupportedError, UsageError
from nfvbed.plan.stored import never_reached, require_own_commands, stored_study
from nfvbed.records import CellRecord, RunRecord, Status
from nfvbed.records.results import ResultRecord
from nfvbed.records.selection import MEASURED, SIMULATED
from nfvbed.report.wording import short_run
from nfvbed.run.observer import Observer
from nfvbed.signals import end_like_interrupt
from nfvbed.sites.catalogue import machine_of
from nfvbed.sites.ownmachine import Boot
from nfvbed.sites.site import Site
from nfvbed.spec.commands import TracedPath, on_site, trace_command
from nfvbed.spec.loader import Project
from nfvbed.spec.rules import Study
from nfvbed.spec.site import SiteSpec
from nfvbed.store import Store

if TYPE_CHECKING:
    from nfvbed.run.runner import Runner

UNFINISHED = "latest"
"""`--resume` without a run: the newest one that can be resumed."""

Ended = tuple[RunRecord, NfvbedError | None]
"""A run as it ended, and why cells of it were given up, if some were."""


@click.command(name="run")
@click.argument("experiment", type=EXPERIMENT, required=False)
@click.option(
    "--resume",
    is_flag=False,
    flag_value=UNFINISHED,
    type=RUN,
    metavar="[RUN]",
    help="Go on with RUN (id, its first or last digits, or label; default: the newest that did not end ok, a "
    "measured one before simulated ones). Repeats nothing.",
)
@click.option("--dry-run", is_flag=True, help="Show the plan and its length; deploy nothing.")
@click.option("--no-doctor", is_flag=True, help="Do not examine the site first; the findings are missing then.")
@root_option
@store_option
@override_options
@vsperf_options
@CONFIRMED
@EVICT
@json_option
def command(
    experiment: str | None, resume: str | None, root: Path | None, store: str | None, as_json: bool, **options: Any
) -> None:
    """Run EXPERIMENT, a name in vsperf-conf/experiments or a file; or with --vsperf a test of VSPERF.

    Every trial is stored when it ends, so an interrupted run loses nothing: `--resume` goes on with it.
    """
    project = open_project(root)
    confirmed, evict = options.pop("confirmed"), options.pop("evict")
    overrides = collect(options)
    driver = chosen_driver(options)
    if resume is None:
        name = _required(experiment)
        if driver == VSPERF:
            _through_vsperf(project, name, (options, overrides), store, as_json)
            return
        if driver:
            study, left_out = native_study(project, name, options, overrides)
        else:
            study, left_out = load_on_site(project, name, overrides)
        if options["dry_run"]:
            show_plan(study, project.root, whole(as_json), left_out)
            return
        show_left_out(study, left_out)
        boot = machine_of(study.site, project.root)
        if boot is not None:
            with open_store(project, store, read_only=False) as opened:
                _in_node(project, study.site.name, boot, opened, as_json)
            return
        with open_store(project, store, read_only=False) as opened:
            _summarize(
                opened,
                *_start(_StartedRun(project, opened, confirmed, evict), study, not options["no_doctor"]),
                as_json,
            )
        return
    if overrides or options["dry_run"] or options["conf"] or options["test_params"] or options["vnf_kind"]:
        raise UsageError(
            "a resumed run keeps its plan", observed="options that change it, or --dry-run", fix="give --resume alone"
        )
    with open_store(project, store, read_only=False) as opened:
        if driver == VSPERF:
            raise UsageError("VSPERF cannot go on with a run", observed="--resume", fix="run the test again")
        wanted = native_name(experiment) if driver and experiment else experiment
        _summarize(
            opened,
            *_resume(_StartedRun(project, opened, confirmed, evict), _resumable(opened, resume, wanted)),
            as_json,
        )


def _in_node(project: Project, site: str, boot: Boot, store: Store, as_json: bool) -> None:
    """Run the same command in a guest node, show what came of it here, and end as it ended."""
    from nfvbed.cli.guest_node import passed_on, run_in_node

    context = click.get_current_context()
    run, status = run_in_node(site, boot, project, passed_on(context, ("as_json",)), store)
    if run is not None:
        _show(store, run, as_json)
    context.exit(status)


def _through_vsperf(
    project: Project, test: str, chosen: tuple[dict[str, Any], dict[str, Any]], store: str | None, as_json: bool
) -> None:
    """Have the user's own VSPERF run a test of its, and store what it says."""
    from nfvbed.cli.vsperf_driver import make_request, run_request, show_request

    options, overrides = chosen
    request = make_request(project, test, options, overrides)
    if options["dry_run"]:
        show_request(request, as_json)
        return
    with open_store(project, store, read_only=False) as opened:
        _show(opened, run_request(request, opened), as_json)


def _required(experiment: str | None) -> str:
    if experiment is None:
        raise click.UsageError("Missing argument 'EXPERIMENT' (or --resume).")
    return experiment


@dataclass(frozen=True)
class _StartedRun:
    """A run as its command begins it.

    Args:
        store: open for writing.
        confirmed: name of the site that may be deployed again, where it was given.
        evict: whether what others have on that site goes with it.
    """

    project: Project
    store: Store
    confirmed: str | None
    evict: bool = False


def _start(begun: _StartedRun, study: Study, with_doctor: bool) -> Ended:
    end_like_interrupt()
    _confirm_swap(begun, study.site)
    console = Console(stderr=True)
    with progress_on(console) as observer:
        doctor = _doctor(begun.project, study) if with_doctor and not study.simulated else None
        runner = _runner(begun, observer)
        return runner.start(study, doctor), runner.failure


def _resume(begun: _StartedRun, run: RunRecord) -> Ended:
    end_like_interrupt()
    study, _ = stored_study(begun.store.get_blob(run.plan_hash), VariantModel)
    require_own_commands(study, begun.project)
    _confirm_swap(begun, study.site)
    with progress_on(Console(stderr=True)) as observer:
        runner = _runner(begun, observer)
        return runner.resume(run), runner.failure


def _confirm_swap(begun: _StartedRun, site: SiteSpec) -> None:
    """Ask for the name of a site that is deployed again between rounds; other sites need none.

    Raises:
        UsageError: the name is not that of the site.
    """
    if site.exchanges:
        confirm(site.name, begun.confirmed)


def _runner(begun: _StartedRun, observer: Observer) -> "Runner":
    # What measures: not there where stores are looked at alone, which asks this verb what a command would measure.
    from nfvbed.run.runner import Runner

    def open_site(study: Study, done: int) -> Site:
        site = site_of(study, begun.project.root, done)
        site.evicts = begun.evict
        # Before the run is written: a host that is busy must not leave an empty run behind.
        site.begin(many=True)
        return site

    return Runner(begun.store, open_site, observer=observer)


def _doctor(project: Project, study: Study) -> dict[str, Any]:
    from nfvbed.sites.doctor import examine

    return examine(site_of(study, project.root, 0), project).model_dump(mode="json")


def _resumable(store: Store, name: str, experiment: str | None) -> RunRecord:
    if name != UNFINISHED:
        run = store.run(name)
        if run.site == VSPERF:
            fix = "run the test again"
            raise UsageError("VSPERF cannot go on with a run", observed=f"run {run.id} was VSPERF's", fix=fix)
        return run
    final = (Status.OK, Status.UNSUPPORTED)
    for run in (*store.runs(MEASURED), *store.runs(SIMULATED)):
        if run.status not in final and run.site != VSPERF and experiment in (None, run.experiment):
            return run
    raise UsageError(
        "there is no run to resume",
        where=str(store.location),
        observed=f"every run{' of ' + experiment if experiment else ''} ended ok, or there is none",
        fix=f"begin one: nfvbed run {experiment or 'EXPERIMENT'}",
    )


def _summarize(store: Store, run: RunRecord, failure: NfvbedError | None, as_json: bool) -> None:
    """Show the run's cells; then end as the VNFs did, if cells were given up for them."""
    _show(store, run, as_json)
    if failure is not None:
        raise failure
    _require_agreement(store, run)


def _require_agreement(store: Store, run: RunRecord) -> None:
    """Raise where a run that ended well disagrees with the doctor's report on its host.

    Raises:
        UnsupportedError: a variant that the doctor calls ready did not run, or one that it does not did.
    """
    doctor = store.get_blob(run.doctor_hash) if run.doctor_hash else {}
    happened = outcomes_of(store.cells(run.id), store.trials(run.id))
    found = disagreements(supports_of(doctor), happened) if doctor else ()
    if found:
        raise UnsupportedError(
            "the doctor and this run disagree",
            where=f"run {run.id}",
            observed="; ".join(found),
            fix="; ".join(_looked_into(cell, run.site) for cell in _disagreeing(store.cells(run.id), found)),
        )


def _disagreeing(cells: Sequence[CellRecord], found: Sequence[str]) -> Iterable[CellRecord]:
    """Return a cell of each variant that is named where the doctor and a run disagree."""
    first = {cell.variant: cell for cell in reversed(cells)}
    return (cell for name, cell in first.items() if any(text.startswith(f"{name}:") for text in found))


def _looked_into(cell: CellRecord, site: str) -> str:
    command = trace_command(TracedPath(cell.variant, cell.topology, cell.frame_size, site=site))
    return f"nfvbed doctor --variant {cell.variant}{on_site(site)}; {command} shows where frames get to"


def _show(store: Store, run: RunRecord, as_json: bool) -> None:
    cells, trials, results = store.cells(run.id), store.trials(run.id), store.results(run.id)
    cells += never_reached(run, store.get_blob(run.plan_hash), cells, VariantModel)
    if as_json:
        document: dict[str, Any] = {"run": run.model_dump(mode="json"), "trials": len(trials)}
        document["results"] = [result.model_dump(mode="json") for result in results]
        click.echo(json.dumps({**document, "cells": [cell.model_dump(mode="json") for cell in cells]}, indent=2))
        return
    console = Console(highlight=False)
    for line in _reported(cells):
        console.print(line, markup=False, soft_wrap=True)
    for line in _tests_ended(results) if results else ():
        console.print(line, markup=False, soft_wrap=True)
    if any(cell.simulated for cell in cells):
        console.print("simulated: none of this was measured")
    ok, short = sum(trial.status is Status.OK for trial in trials), short_run(run.id)
    console.print(
        f"run {run.id}: {ok} trials of {len(cells)} cells; next: nfvbed compare {short}; nfvbed report {short}",
        soft_wrap=True,
    )


def _reported(cells: Sequence[CellRecord]) -> list[str]:
    """Return what did not end ok, cells of one reason together; the rest is what `compare` shows."""
    return _together((cell.status, cell.reason, cell.id) for cell in cells if cell.status is not Status.OK)


def _tests_ended(results: Sequence[ResultRecord]) -> list[str]:
    """Return how the tests beside the MRR ended, those of one reason together; what they found `compare` shows."""
    ok = sum(result.status is Status.OK for result in results)
    lines = _together(
        (result.status, result.reason, f"{result.cell} {result.test} (round {result.round})")
        for result in results
        if result.status is not Status.OK or result.reason
    )
    return [f"tests beside the MRR: {ok} of {len(results)} ended ok", *(f"test {line}" for line in lines)]


def _together(ended: Iterable[tuple[Status, str | None, str]]) -> list[str]:
    """Return a line for each status and first line of a reason, with the names of what ended so."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for status, reason, name in ended:
        by_reason.setdefault((status.value, reason.splitlines()[0] if reason else ""), []).append(name)
    return [
        f"{status}: {', '.join(names)}{': ' if reason else ''}{reason}" for (status, reason), names in by_reason.items()
    ]
