"""`nfvbed doctor`: what a site has, and which variants it can run."""

from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

import click

from nfvbed.cli.completion import RELEASE, SITE, VARIANT
from nfvbed.cli.console import Console
from nfvbed.cli.entering import enter_box, find_site
from nfvbed.cli.listing import Output, Row, listing_options
from nfvbed.cli.preparation import Preparation, prepare_host
from nfvbed.cli.readiness import findings_table, print_variants, summary
from nfvbed.cli.settings import root_option
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UnsupportedError, UsageError
from nfvbed.records.findings import SiteReport, State
from nfvbed.sites.catalogue import machine_of
from nfvbed.sites.doctor import examine
from nfvbed.sites.ownmachine import Boot
from nfvbed.spec.kollarelease import NEWEST
from nfvbed.spec.loader import Project


@click.command(name="doctor")
@click.option("--site", type=SITE, default="lab", show_default=True, help="What is examined: a name in deploy/sites.")
@click.option(
    "--variant",
    "names",
    type=VARIANT,
    multiple=True,
    metavar="NAME",
    help="Only this variant; repeatable. Default: all.",
)
@click.option(
    "--read-only",
    is_flag=True,
    help="Do not reserve lacking hugepages for a moment; what data planes need is tried in namespaces of their own.",
)
@click.option(
    "--release", type=RELEASE, metavar="NAME", help=f"Of a rack: a name in kolla/releases. Default: {NEWEST}."
)
@click.option("--try", "try_functions", is_flag=True, help="Of a rack: make its virtual functions for a moment.")
@click.option(
    "--prepare", is_flag=True, help="Prepare the host for measuring until COMMAND, or Ctrl-C, ends; then undo it."
)
@click.option(
    "--gain",
    type=click.IntRange(min=1, max=100),
    metavar="ROUNDS",
    help="With --prepare: measure in so many pairs of rounds how long a polling thread waits, prepared and not.",
)
@click.option("--details", is_flag=True, help="Print every topic and variant. Default: a summary of ten lines.")
@click.argument("argv", metavar="[COMMAND]...", nargs=-1, type=click.UNPROCESSED)
@root_option
@listing_options("kind", "name", "state", "observed", "fix", "probed")
def command(
    site: str,
    names: tuple[str, ...],
    read_only: bool,
    release: str | None,
    try_functions: bool,
    prepare: bool,
    gain: int | None,
    details: bool,
    argv: tuple[str, ...],
    root: Path | None,
    output: Output,
) -> None:
    """Examine a site: what it has for packet work, and what every variant can do on it.

    The site answers for itself: the lab with this host, a guest node with its own, another one with what it is. Of a
    rack all machines are asked over SSH, and all faults are listed that keep a variant from being deployed.

    With --prepare the host is set as for a measurement while COMMAND runs: governor, idle states, interrupts,
    workqueues, page merging, NUMA balancing, watchdogs, each where the host has it. Exit status is the command's.

    Exit status 0 when at least one real variant can be measured here, else 11.
    """
    project = open_project(root)
    simulated = {v.name for v in project.list_variants() if v.options.is_simulated}
    for name in names:
        project.load_variant(name)  # an unknown name is answered before the probes run
    where = project.load_site(site)
    if prepare:
        prepare_host(find_site(where, project.root), output, Preparation(argv, gain, read_only=read_only))
        return
    if argv or gain:
        raise UsageError("COMMAND and --gain are of --prepare", fix="nfvbed doctor --prepare COMMAND")
    boot = machine_of(where, project.root)
    if boot is not None:
        _examine_node(project, boot)
    enter_box(where, project.root, needed=True)
    place = find_site(where, project.root)
    cloud = place.staged_cloud()
    if cloud is not None:
        asked = [v for v in project.list_variants(where) if v.name not in simulated and (not names or v.name in names)]
        report = cloud.examine(asked, release, try_functions=try_functions)
    elif release or try_functions:
        raise UsageError(
            "--release and --try are of a rack",
            where=f"deploy/sites/{site}.yml kind",
            observed=where.kind,
            fix="leave them out, or name a site of kind kolla with --site",
        )
    else:
        report = examine(place, project, read_only=read_only)
    if names:
        report = report.model_copy(update={"variants": tuple(s for s in report.variants if s.variant in names)})
    output.show(
        lambda: _rows(report),
        lambda: report.model_dump(mode="json"),
        lambda: _print(report, details=details, variants=bool(names)),
    )
    if not set(report.ready) - (simulated - set(names)):
        raise UnsupportedError(
            f"no real variant can be measured on site {site}",
            observed="; ".join(f"{s.variant}: {s.reason}" for s in report.variants if s.variant not in report.ready),
            fix=f"nfvbed doctor --site {site} --details says what each of them needs",
        )


def _examine_node(project: Project, boot: Boot) -> NoReturn:
    """Examine a guest node from inside, and end as that ended."""
    from nfvbed.cli.guest_node import doctor_in_node, passed_on

    context = click.get_current_context()
    context.exit(doctor_in_node(boot, project, passed_on(context)))


def _rows(report: SiteReport) -> Iterable[Row]:
    for finding in report.findings:
        yield {
            "kind": "topic",
            "name": finding.topic,
            "state": finding.state.value,
            "observed": finding.summary,
            "fix": finding.fix,
            "probed": finding.probed,
        }
    for support in report.variants:
        yield {
            "kind": "variant",
            "name": support.variant,
            "state": support.readiness.value,
            "observed": support.reason,
            "fix": support.fix,
        }


def _print(report: SiteReport, *, details: bool, variants: bool) -> None:
    """Print a report.

    Args:
        details: all of it, not the part that fits a screen.
        variants: whether variants were named: each of them is shown in full.
    """
    console = Console(highlight=False)
    short = variants and not details
    for line in [report.title] if short else summary(report, console.width):
        console.print(line)
    if details:
        console.print(findings_table("What it has", report.findings))
    elif variants:
        # Why a variant does not run may be said where the site looked.
        lacking = [finding for finding in report.findings if finding.state is not State.PRESENT]
        console.print(findings_table("What it lacks, or has in part", lacking))
    if details or variants:
        print_variants(console, report.variants)
