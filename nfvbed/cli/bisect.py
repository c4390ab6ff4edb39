"""`nfvbed bisect`: which step of an ordered list made a variant slower."""

import shlex
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import exp
from pathlib import Path
from typing import Any, Final

import click
from rich.text import Text

from nfvbed.cli.completion import FRAME_SIZE, SITE, TOPOLOGY, VARIANT
from nfvbed.cli.console import Console
from nfvbed.cli.gate import Duration, Part, measured
from nfvbed.cli.listing import whole
from nfvbed.cli.plan import show_plan
from nfvbed.cli.results import text_width
from nfvbed.cli.settings import json_option, open_store, root_option, store_option
from nfvbed.compare.bisection import Bisection, BisectionRules, BisectionVerdict, Rounds, bisect
from nfvbed.compare.comparison import Comparison, compare
from nfvbed.compare.gating import BASELINE, LOOKS, GateRules
from nfvbed.compare.rows.visits import pair
from nfvbed.dataplanes.catalogue import VariantModel, open_project
from nfvbed.errors import HostMovedError, PrerequisiteError, UndecidedError, UsageError
from nfvbed.report.gate import points_of
from nfvbed.report.load import LoadedRuns, load, make_options
from nfvbed.report.newest import AS_STORED
from nfvbed.report.terminal.columns import Cell, Column, Row, lay_out, paragraph
from nfvbed.report.terminal.screen import WIDTH
from nfvbed.run.gatestudy import FORM, GateSpec, OptionSet, read_option_set, study_of_gate, study_of_levels
from nfvbed.spec.loader import Project
from nfvbed.spec.rules import Study
from nfvbed.store import Store

BUILD_S: Final = 3600
"""Longest time that a build may take, s."""
SHOWN: Final = 300
"""Characters of a build's output that a message quotes."""
WORDS: Final = {
    BisectionVerdict.STEP: "one step",
    BisectionVerdict.EQUAL_ENDS: "the ends are equal",
    BisectionVerdict.NO_SINGLE_STEP: "no single step",
    BisectionVerdict.HOST_MOVED: "the host moved",
    BisectionVerdict.UNDECIDED: "undecided",
}


@click.command(name="bisect")
@click.argument("variant", type=VARIANT)
@click.option("--over", metavar="KEY=V1,V2,...", help="Values of one option, in order; the first is the good one.")
@click.option("--revision", "revisions", multiple=True, metavar="OPTIONS", help=f"One step: {FORM}; in order.")
@click.option(
    "--build",
    metavar="COMMAND",
    help="Builds a revision: it is called with its name as last argument, and prints the variant's options on its "
    "last line, KEY=VALUE[,KEY=VALUE]. Each revision is built once, when it is needed.",
)
@click.option("--of", "names", metavar="A,B,...", help="Names of the revisions that --build takes, in order.")
@click.option(
    "--noise",
    type=Part(),
    help="Part by which code layout alone may change a build, either way. Default: 2% with --build, else none.",
)
@click.option("--margin", type=Part(), default="3%", show_default=True, help="Ends that differ by less are equal.")
@click.option(
    "--budget",
    type=Duration(),
    default="60m",
    show_default=True,
    metavar="TIME",
    help="No comparison starts later; a step that is not found by then is undecided.",
)
@click.option("--topology", type=TOPOLOGY, default="p2p", show_default=True, help="Path.")
@click.option(
    "--frame-size", type=FRAME_SIZE, default="64", show_default=True, metavar="BYTES|imix", help="Size with the FCS."
)
@click.option("--site", type=SITE, default="lab", show_default=True, help="Site: a name in deploy/sites.")
@click.option("--dry-run", is_flag=True, help="Show the plan of the first question and its length; deploy nothing.")
@json_option
@root_option
@store_option
def command(variant: str, as_json: bool, root: Path | None, store: str | None, **options: Any) -> None:
    """Find the step of an ordered list that made VARIANT slower: option values, releases, or revisions to build.

    The ends are compared first, and equal ends stop. The search measures revisions next to the first one, and goes
    back when later rounds contradict. At last the two neighbours are measured in fresh rounds; only these convict.

    Exit code 0: it has an answer (one step, equal ends, no single step). 42: undecided. 43: the host moved.
    """
    project = open_project(root)
    project.load_variant(variant)
    listed = _Revisions(variant, _steps(options), options["build"], project)
    noise = options["noise"] if options["noise"] is not None else 0.02 if options["build"] else 0.0
    rules = BisectionRules(noise=noise, gate=GateRules(margin=options["margin"]))
    size = int(options["frame_size"]) if options["frame_size"].isdigit() else options["frame_size"]
    last = len(listed) - 1
    if options["dry_run"]:
        around = _RevisionMeasurer(project, None, listed, options, size)
        show_plan(study_of_gate(project, around.spec(0, last, LOOKS)), project.root, whole(as_json))
        return
    with open_store(project, store, read_only=False) as opened:
        around = _RevisionMeasurer(project, opened, listed, options, size)
        found = bisect(len(listed), around.gate, around.ask, rules)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        _show(found, listed)
    kind = {BisectionVerdict.UNDECIDED: UndecidedError, BisectionVerdict.HOST_MOVED: HostMovedError}.get(found.verdict)
    if kind is not None:
        fix = "a longer --budget, or a quieter host; nfvbed doctor looks for what else uses the cores"
        raise kind(f"the bisection: {WORDS[found.verdict]}", observed=found.reason, fix=fix)


def _steps(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the steps as they were given: options, or names that a command builds.

    Raises:
        UsageError: no list, several, or one of less than two.
    """
    given = {key: options[key] for key in ("over", "revisions", "names") if options[key]}
    if len(given) != 1 or bool(options["names"]) != bool(options["build"]):
        raise UsageError(
            "a bisection is over one ordered list",
            observed=f"{', '.join(given) or 'no list'}{' and a build' if options['build'] else ''}",
            fix="give --over KEY=V1,V2,..., --revision OPTIONS more than once, or --build COMMAND --of A,B,...",
        )
    if options["over"]:
        key, separator, values = options["over"].partition("=")
        found = tuple(f"{key}={value}" for value in values.split(",")) if separator else ()
    else:
        found = tuple(options["revisions"]) or tuple(options["names"].split(","))
    if len(found) < 2 or len(set(found)) != len(found):
        observed = ", ".join(found) or "none"
        raise UsageError("a bisection needs two steps at least, all different", observed=observed, fix=f"give {FORM}")
    return found


@dataclass
class _Revisions:
    """The steps of the list; those that a command builds are built when they are asked for."""

    variant: str
    steps: tuple[str, ...]
    build: str | None
    project: Project
    _known: dict[int, OptionSet] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, place: int) -> OptionSet:
        if place not in self._known:
            text = self._built(self.steps[place]) if self.build else self.steps[place]
            found = read_option_set(text, self.variant, self.project)
            self._known[place] = found.model_copy(update={"text": self.steps[place]})
        return self._known[place]

    def _built(self, name: str) -> str:
        """Return the options that the command prints for a revision.

        Raises:
            PrerequisiteError: it failed, or printed nothing.
        """
        words = [*shlex.split(self.build or ""), name]
        click.echo(f"building {name}: {shlex.join(words)}", err=True)
        try:
            ended = subprocess.run(words, capture_output=True, text=True, timeout=BUILD_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise PrerequisiteError(f"revision {name} was not built", where=words[0], observed=str(error)) from error
        lines = ended.stdout.strip().splitlines()
        if ended.returncode or not lines:
            said = (ended.stderr.strip() or ended.stdout.strip())[-SHOWN:]
            raise PrerequisiteError(
                f"revision {name} was not built",
                where=shlex.join(words),
                observed=f"exit status {ended.returncode}: {said or 'no output'}",
                fix="it has to print the variant's options on its last line: KEY=VALUE[,KEY=VALUE]",
            )
        return lines[-1].strip()


class _RevisionMeasurer:
    """Measures what a bisection asks, each time in a run of its own."""

    def __init__(
        self, project: Project, store: Store | None, revisions: _Revisions, options: Mapping[str, Any], size: int | str
    ) -> None:
        self._project = project
        self._store = store
        self._revisions = revisions
        self._options = options
        self._size = size
        self._ends = time.monotonic() + options["budget"]

    def spec(self, baseline: int, candidate: int, looks: tuple[int, ...]) -> GateSpec:
        """Return what one question measures."""
        return GateSpec(
            variant=self._revisions.variant,
            baseline=self._revisions[baseline],
            candidate=self._revisions[candidate],
            looks=looks,
            budget_s=max(1.0, self._ends - time.monotonic()),
            topologies=(self._options["topology"],),
            frame_sizes=(self._size,),
            site=self._options["site"],
        )

    def gate(self, baseline: int, candidate: int, rules: GateRules) -> Rounds:
        """Measure two revisions as a gate does."""
        self._require_time()
        study = study_of_gate(self._project, self.spec(baseline, candidate, rules.looks))
        loaded, comparison = self._run(study, rules)
        (point,) = points_of(loaded, comparison, "mrr")
        return Rounds(pairs=point.pairs, reference=point.reference)

    def ask(self, revisions: Sequence[int], rounds: int) -> Mapping[int, Sequence[float]]:
        """Measure revisions next to the first one."""
        self._require_time()
        others = {f"revision-{place}": self._revisions[place] for place in revisions}
        study = study_of_levels(self._project, self.spec(0, revisions[0], (rounds,)), others)
        _, comparison = self._run(study, None)
        rates = {row.variant: row.mrr for row in comparison.rows}
        found = {}
        for place in revisions:
            own, anchor = rates.get(f"revision-{place}"), rates.get(BASELINE)
            pairs = pair(own.visits, anchor.visits) if own and anchor else ()
            if not pairs:
                raise UndecidedError("a revision was not measured", observed=self._revisions[place].text)
            found[place] = [entry.log_ratio for entry in pairs]
        return found

    def _run(self, study: Study, rules: GateRules | None) -> tuple[LoadedRuns, Comparison]:
        assert self._store is not None, "nothing is measured without a store"
        run = measured(self._project, self._store, study, rules)
        loaded = load(self._store, [run.id], VariantModel)
        return loaded, compare(loaded.data, make_options(loaded, {**AS_STORED, "margin": self._options["margin"]}))

    def _require_time(self) -> None:
        if time.monotonic() >= self._ends:
            raise UndecidedError(
                "the bisection is undecided",
                observed=f"its budget of {self._options['budget']:.0f} s is spent",
                fix="a longer --budget; the runs so far are stored (nfvbed runs)",
            )


def _show(found: Bisection, revisions: _Revisions) -> None:
    width = min(WIDTH, text_width(WIDTH))
    name = "" if found.revision is None else f": {revisions.steps[found.revision]}"
    lines = [Text(line, "bold") for line in paragraph(f"{WORDS[found.verdict]}{name}", width)]
    lines += [Text(line) for line in paragraph(f"{found.reason}.", width)]
    if found.levels:
        figures = (Column(name, right=True) for name in ("ratio", "±", "rounds"))
        columns = [Column("revision", right=True), Column("is"), *figures]
        rows = [
            Row(
                (
                    Cell(str(level.revision)),
                    Cell(revisions.steps[level.revision]),
                    Cell(f"×{exp(level.log_ratio):.3f}"),
                    Cell(f"{level.error:.3f}" if level.rounds else "anchor"),
                    Cell(str(level.rounds) if level.rounds else ""),
                )
            )
            for level in found.levels
        ]
        lines += [Text(""), *lay_out(columns, rows, width)]
    console = Console(highlight=False, width=width)
    for line in lines:
        console.print(line, soft_wrap=True)
