"""`nfvbed doctor`: what a site has, and which variants it can run."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

import click
from rich import box
from rich.table import Table
from rich.text import Text

from nfvbed.cli.completion import RELEASE, SITE, VARIANT
from nfvbed.cli.console import Console
from nfvbed.cli.entering import enter_box, find_site
from nfvbed.cli.settings import json_option, root_option
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import UnsupportedError, UsageError
from nfvbed.records import Readiness
from nfvbed.records.findings import Finding, SiteReport, State
from nfvbed.sites.catalogue import machine_of
from nfvbed.sites.doctor import examine
from nfvbed.sites.ownmachine import Boot
from nfvbed.spec.kollarelease import NEWEST
from nfvbed.spec.loader import Project

STATE_STYLES = {State.PRESENT: "green", State.LIMITED: "yellow", State.ABSENT: "red", State.UNKNOWN: "dim"}
READINESS_STYLES = {Readiness.READY: "green", Readiness.DEGRADED: "yellow", Readiness.UNSUPPORTED: "red"}


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
@click.option("--read-only", is_flag=True, help="Change nothing: do not reserve lacking hugepages for a moment.")
@click.option(
    "--release", type=RELEASE, metavar="NAME", help=f"Of a rack: a name in kolla/releases. Default: {NEWEST}."
)
@click.option("--try", "try_functions", is_flag=True, help="Of a rack: make its virtual functions for a moment.")
@root_option
@json_option
def command(
    site: str,
    names: tuple[str, ...],
    read_only: bool,
    release: str | None,
    try_functions: bool,
    root: Path | None,
    as_json: bool,
) -> None:
    """Examine a site: what it has for packet work, and what every variant can do on it.

    The site answers for itself: the lab with this host, a guest node with its own, another one with what it is. Of a
    rack all machines are asked over SSH, and all faults are listed that keep a variant from being deployed.

    Exit status 0 when at least one real variant can be measured here, else 11.
    """
    project = open_project(root)
    simulated = {v.name for v in project.list_variants() if v.options.is_simulated}
    for name in names:
        project.load_variant(name)  # an unknown name is answered before the probes run
    where = project.load_site(site)
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
    if as_json:
        click.echo(json.dumps(report.model_dump(mode="json"), indent=2))
    else:
        _print(report)
    if not set(report.ready) - (simulated - set(names)):
        raise UnsupportedError(
            f"no real variant can be measured on site {site}",
            observed="; ".join(f"{s.variant}: {s.reason}" for s in report.variants if s.variant not in report.ready),
            fix="see the last column of the table of variants",
        )


def _examine_node(project: Project, boot: Boot) -> NoReturn:
    """Examine a guest node from inside, and end as that ended."""
    from nfvbed.cli.guest_node import doctor_in_node, passed_on

    context = click.get_current_context()
    context.exit(doctor_in_node(boot, project, passed_on(context)))


def findings_table(title: str, findings: Iterable[Finding]) -> Table:
    """Return findings as a table, in their order."""
    found = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for heading in ("topic", "state", "observed (how it was found out)"):
        found.add_column(heading, overflow="fold", no_wrap=heading != "observed (how it was found out)")
    for finding in findings:
        observed = Text.assemble(finding.summary, (f" ({finding.probed})", "dim"))
        if finding.fix:
            observed.append(f"\nto change it: {finding.fix}", "italic")
        found.add_row(finding.topic, Text(finding.state, STATE_STYLES[finding.state]), observed)
    return found


def _print(report: SiteReport) -> None:
    console = Console()
    console.print(report.title, highlight=False)
    variants = Table(title="Variants", title_justify="left", box=box.SIMPLE_HEAD)
    for heading in ("variant", "readiness", "why", "to fix it"):
        variants.add_column(heading, overflow="fold")
    for support in report.variants:
        readiness = Text(support.readiness, READINESS_STYLES[support.readiness])
        variants.add_row(support.variant, readiness, Text(support.reason), Text(support.fix))
    console.print(findings_table("What it has", report.findings))
    console.print(variants)
