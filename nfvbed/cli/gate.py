"""`nfvbed gate`: may a change go in? Interleaved rounds, and a verdict as exit code."""

import re
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from nfvbed.cli.completion import FRAME_SIZE, RUN, SITE, TOPOLOGY, VARIANT
from nfvbed.cli.console import Console
from nfvbed.cli.entering import site_of
from nfvbed.cli.listing import whole
from nfvbed.cli.plan import show_plan
from nfvbed.cli.progress import progress_on
from nfvbed.cli.results import selected, simulated_option, text_width
from nfvbed.cli.settings import json_option, open_store, root_option, store_option
from nfvbed.compare.comparison import compare
from nfvbed.compare.gating import LOOKS, GateResult, GateRules, judge_gate
from nfvbed.dataplanes.catalogue import VariantModel, open_project
from nfvbed.errors import UsageError
from nfvbed.records import RunRecord
from nfvbed.report.gate import (
    HEADING,
    cases_of,
    error_of,
    estimand_of,
    head,
    levels,
    markdown,
    points_of,
    row_of,
    title_of,
)
from nfvbed.report.junit import junit_xml
from nfvbed.report.load import LoadedRuns, load, make_options
from nfvbed.report.newest import AS_STORED
from nfvbed.report.terminal.columns import Cell, Column, Row, lay_out, paragraph
from nfvbed.report.terminal.screen import WIDTH
from nfvbed.run.gatestudy import BUDGET_S, FORM, OWN, PDR_LOOKS, GateSpec, read_option_set, study_of_gate
from nfvbed.signals import end_like_interrupt
from nfvbed.sites.site import Site
from nfvbed.spec.loader import Project
from nfvbed.spec.rules import Study
from nfvbed.store import Store
from nfvbed.wholefile import not_written, write_whole

_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600}


class Duration(click.ParamType[float]):
    """Seconds: `90`, `90s`, `10m`, `1.5h`."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return seconds."""
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", str(value))
        if found is None or not float(found[1]):
            self.fail(f"{value!r} is no duration: write 90s, 10m or 1.5h", param, ctx)
        return float(found[1]) * _SECONDS[found[2]]


class Part(click.ParamType[float]):
    """A part of one: `3%`, `0.03`."""

    name = "part"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return a number between 0 and 1."""
        found = re.fullmatch(r"(\d+(?:\.\d+)?)(%?)", str(value))
        part = float(found[1]) / (100 if found[2] else 1) if found else 0.0
        if not 0 < part < 1:
            self.fail(f"{value!r} is no part between 0 and 1: write 3% or 0.03", param, ctx)
        return part


@click.command(name="gate")
@click.argument("variant", type=VARIANT)
@click.option("--baseline", default=OWN, show_default=True, metavar="OPTIONS", help=f"Options of the baseline: {FORM}.")
@click.option("--candidate", metavar="OPTIONS", help="Options of the candidate, in the same form.")
@click.option("--margin", type=Part(), default="3%", show_default=True, help="A loss up to this part passes.")
@click.option(
    "--budget",
    type=Duration(),
    metavar="TIME",
    help="No round is begun that would end later. Default: 10m, of PDR 60m; never less than the first look needs.",
)
@click.option(
    "--estimand",
    type=click.Choice(list(BUDGET_S)),
    default="mrr",
    show_default=True,
    help="mrr: rate at maximum load; pdr: throughput at a loss of 0.5 %.",
)
@click.option(
    "--look",
    "looks",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="ROUNDS",
    help=f"Rounds after which there is a verdict; repeatable. Default: {', '.join(map(str, LOOKS))}; of PDR 8.",
)
@click.option("--topology", type=TOPOLOGY, multiple=True, help="Path; repeatable. Default: p2p.")
@click.option(
    "--frame-size",
    type=FRAME_SIZE,
    multiple=True,
    metavar="BYTES|imix",
    help="Repeatable. Default: 64 and 1518; of PDR 64.",
)
@click.option("--site", type=SITE, default="lab", show_default=True, help="Site: a name in deploy/sites.")
@click.option("--judge", "judged", type=RUN, metavar="RUN", help="Measure nothing: judge the run of an earlier gate.")
@click.option("--dry-run", is_flag=True, help="Show the plan and its length; deploy nothing.")
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), help="Write the verdicts as JUnit's XML.")
@click.option("--markdown", "as_markdown", type=click.Path(dir_okay=False, path_type=Path), help="Write them as text.")
@simulated_option
@json_option
@root_option
@store_option
def command(variant: str, root: Path | None, store: str | None, **options: Any) -> None:
    """Find out whether a change makes VARIANT slower: baseline and candidate in interleaved rounds.

    The baseline is visited twice in each round; the second time it is the reference that acquits the host.

    Exit code 0: not slower, at every traffic point by less than the margin. 41: slower at one of them. 42: undecided.
    43: the host moved, as the baseline differs from itself. What the run itself ends with comes before these.
    """
    project = open_project(root)
    if options["judged"]:
        with open_store(project, store) as opened:
            loaded = load(opened, [options["judged"]], VariantModel, selection=selected(options["simulated"]))
        _end(loaded, options)
        return
    study = study_of_gate(project, _spec(project, variant, options))
    if options["dry_run"]:
        show_plan(study, project.root, whole(options["as_json"]))
        return
    rules = _rules(study, options["margin"])
    with open_store(project, store, read_only=False) as opened:
        run = measured(project, opened, study, rules)
        loaded = load(opened, [run.id], VariantModel)
    _end(loaded, options)


def _spec(project: Project, variant: str, options: dict[str, Any]) -> GateSpec:
    if options["candidate"] is None:
        raise UsageError("a gate needs a candidate", observed="no --candidate", fix=f"--candidate: {FORM}")
    project.load_variant(variant)
    sides = [read_option_set(options[side], variant, project) for side in ("baseline", "candidate")]
    estimand = options["estimand"]
    sizes = (int(size) if str(size).isdigit() else size for size in options["frame_size"])
    return GateSpec(
        variant=variant,
        baseline=sides[0],
        candidate=sides[1],
        estimand=estimand,
        looks=tuple(sorted(options["looks"])) or (LOOKS if estimand == "mrr" else PDR_LOOKS),
        budget_s=options["budget"] or BUDGET_S[estimand],
        topologies=options["topology"],
        frame_sizes=tuple(sizes),
        site=options["site"],
    )


def _rules(study: Study, margin: float) -> GateRules:
    return GateRules(margin=margin, looks=study.experiment.repetitions.looks)


def measured(project: Project, store: Store, study: Study, rules: GateRules | None) -> RunRecord:
    """Run a study, and return how its run ended.

    Args:
        rules: rules of the gate; None: it is no gate, and has the rounds of its looks.

    Raises:
        NfvbedError: as `Runner.start`; or cells were given up.
    """
    from nfvbed.run.gatestopping import GateStoppingRule
    from nfvbed.run.runner import Runner
    from nfvbed.run.tools import Tools

    end_like_interrupt()
    # A bisection measures again and again, each time on a site of its own: it is released when the run has ended.
    with ExitStack() as opened, progress_on(Console(stderr=True)) as observer:

        def open_site(study: Study, done: int) -> Site:
            site = site_of(study, project.root, done)
            opened.callback(site.close)
            site.begin(many=True)
            return site

        tools = Tools() if rules is None else Tools(decide=GateStoppingRule(rules))
        runner = Runner(store, open_site, tools, observer)
        run = runner.start(study)
    if runner.failure is not None:
        raise runner.failure
    return run


def _end(loaded: LoadedRuns, options: dict[str, Any]) -> None:
    """Judge a gate's run, show and write what was found, and end by it."""
    estimand = estimand_of(loaded)
    comparison = compare(loaded.data, make_options(loaded, {**AS_STORED, "margin": options["margin"]}))
    looks = loaded.looks or LOOKS
    result = judge_gate(
        points_of(loaded, comparison, estimand), GateRules(margin=options["margin"], looks=looks), estimand
    )
    run, title = loaded.data[0].run, title_of(loaded)
    _write(options["junit"], junit_xml(title, "nfvbed.gate", cases_of(result), _length_s(run)))
    _write(options["as_markdown"], markdown(result, title, run.id))
    if options["as_json"]:
        click.echo(result.model_dump_json(indent=2))
    else:
        _show(result, title, comparison.simulated)
    error = error_of(result, run.id)
    if error is not None:
        raise error


def _write(path: Path | None, text: str) -> None:
    if path is None:
        return
    try:
        write_whole(path, text)
    except OSError as error:
        raise not_written("the verdicts", error, "name a file that can be written") from error


def _length_s(run: RunRecord) -> float:
    if run.ended_at is None:
        return 0.0
    return (datetime.fromisoformat(run.ended_at) - datetime.fromisoformat(run.started_at)).total_seconds()


def _show(result: GateResult, title: str, simulated: bool) -> None:
    width = min(WIDTH, text_width(WIDTH))
    columns = [Column(name, right=0 < place < len(HEADING) - 1) for place, name in enumerate(HEADING)]
    lines = [Text(line, "bold") for line in paragraph(head(result, title), width)]
    if simulated:
        lines.insert(0, Text(" SIMULATED - NOT A MEASUREMENT ", "bold white on red"))
    lines += [Text(""), *lay_out(columns, [Row(tuple(map(Cell, row_of(entry)))) for entry in result.points], width)]
    lines += [Text(""), *map(Text, paragraph(f"{result.reason}.", width))]
    lines += [Text(line, "dim") for line in paragraph(levels(result), width)]
    console = Console(highlight=False, width=width)
    for line in lines:
        console.print(line, soft_wrap=True)
