"""`nfvbed recommend`: which data plane the stored results of a host speak for."""

import json
from pathlib import Path
from typing import Any

import click

from nfvbed.cli.completion import FRAME_SIZE, SITE, TOPOLOGY
from nfvbed.cli.console import Console
from nfvbed.cli.entering import open_site
from nfvbed.cli.proposals import measures_in
from nfvbed.cli.results import text_width
from nfvbed.cli.settings import json_option, open_store, root_option, store_option
from nfvbed.compare.recommendation.needs import WITH_LATENCY, Need
from nfvbed.compare.recommendation.recommendation import Recommendation, RecommendationRequest, recommend
from nfvbed.compare.verdict import Rules
from nfvbed.dataplanes.catalogue import VariantModel, open_project
from nfvbed.errors import UnknownNameError, UsageError
from nfvbed.records import RunRecord
from nfvbed.records.selection import MEASURED
from nfvbed.report.load import described
from nfvbed.report.newest import RUNS, examine_runs, newest_by_host, newest_of
from nfvbed.report.page.head import machine
from nfvbed.report.recommendation import headline
from nfvbed.report.terminal.recommendation import screen, shown_host
from nfvbed.report.terminal.screen import WIDTH
from nfvbed.spec.layout import layout
from nfvbed.spec.loader import Project
from nfvbed.spec.root import is_installed
from nfvbed.store import Store
from nfvbed.store.canonical import content_hash
from nfvbed.units import MAX_FRAME_SIZE_BYTES, MIN_FRAME_SIZE_BYTES

NEWEST = "newest"
MOST_HOSTS = 5


@click.command(name="recommend")
@click.option(
    "--need",
    type=click.Choice([need.value for need in Need]),
    required=True,
    help="What the data plane is for. throughput: the maximum receive rate; latency: P99, jitter: P99 less the least "
    "delay, cpu: busy cores, all at one load for all; raw-ethernet: VNFs that read and write whole frames.",
)
@click.option(
    "--topology", type=TOPOLOGY, metavar="NAME", help="Only this path. Default: the traffic point with most variants."
)
@click.option("--vnf", metavar="LABEL", help="Only through the VNF of this label (`process-io`, `native`).")
@click.option("--frame-size", type=FRAME_SIZE, metavar="BYTES|imix", help="Only this frame size.")
@click.option("--flows", type=click.IntRange(min=1), help="Only so many flows.")
@click.option("--site", type=SITE, default="lab", show_default=True, metavar="NAME", help="Site whose host is meant.")
@click.option(
    "--host",
    metavar="HASH|newest",
    help="Another host, by the beginning of its hash; newest: of the newest run, the default without a checkout.",
)
@click.option(
    "--runs",
    "most",
    type=click.IntRange(min=1),
    default=RUNS,
    show_default=True,
    help="Newest runs that are looked at.",
)
@click.option(
    "--margin",
    type=click.FloatRange(min=0, min_open=True, max=1, max_open=True),
    default=Rules().margin,
    show_default=True,
    help="Figures are the same where they are shown to differ by less than this part.",
)
@json_option
@root_option
@store_option
def command(root: Path | None, store: str | None, as_json: bool, **chosen: Any) -> None:
    """Recommend a data plane for a need, from the stored results of this host; nothing is measured.

    Variants share a place where no verdict tells them apart. Simulated systems and emulated guests have none, and runs
    that people have hidden are left out. Where there is not enough data, or the first place is undecided, the command
    that would change that is printed.
    """
    project = open_project(root)
    wanted = RecommendationRequest(
        need=Need(chosen["need"]),
        topology=_topology(chosen["topology"]),
        vnf=chosen["vnf"],
        frame_size=_frame_size(chosen["frame_size"]),
        flows=chosen["flows"],
    )
    with open_store(project, store) as opened:
        runs, left_out = opened.runs(MEASURED), opened.left_out()
        host = _host(project, runs, chosen["site"], chosen["host"])
        newest = newest_of(runs, host, chosen["most"])
        latency_of = None if wanted.need in WITH_LATENCY else ()
        examined = examine_runs(opened, newest, VariantModel, chosen["margin"], latency_of)
        found = recommend(examined, wanted, host, measures_in(project))
        others = [] if found.runs else _other_hosts(opened, runs)
        about = machine(described(opened, host)) if newest else ""
    if as_json:
        click.echo(json.dumps({"headline": headline(found), **found.model_dump(mode="json")}, indent=2))
        return
    _print(found, about, others)
    if left_out and not runs:
        click.echo(f"Not looked at: {left_out.words}.")


def _print(found: Recommendation, about: str, others: list[str]) -> None:
    width = min(WIDTH, text_width(WIDTH))
    console = Console(highlight=False, width=width, markup=False)
    for line in screen(found, about, width):
        console.print(line, soft_wrap=True)
    if others:
        console.print("Other hosts have runs here (--host):")
        for text in others:
            console.print(text, soft_wrap=True)


def _frame_size(text: str | None) -> int | str | None:
    if text is None or text == "imix":
        return text
    if not text.isdigit() or not MIN_FRAME_SIZE_BYTES <= int(text) <= MAX_FRAME_SIZE_BYTES:
        fix = f"give bytes, from {MIN_FRAME_SIZE_BYTES} to {MAX_FRAME_SIZE_BYTES}, or imix"
        raise UsageError(f"{text!r} is no frame size", where="--frame-size", fix=fix)
    return int(text)


def _topology(name: str | None) -> str | None:
    """Return the topology that is asked for; None: any.

    Raises:
        UnknownNameError: there is none of that name.
    """
    if name is not None:
        try:
            layout(name)
        except ValueError as error:
            seen = repr(name)
            raise UnknownNameError("unknown topology", where="--topology", observed=seen, fix=str(error)) from error
    return name


def _host(project: Project, runs: list[RunRecord], site: str, wanted: str | None) -> str:
    """Return the hash of the host that is asked for.

    Raises:
        UsageError: no host of which runs are stored, or several, begin so.
    """
    if wanted is None and is_installed(project.root):
        wanted = NEWEST  # Nothing was measured where stores are looked at alone.
    if wanted is None:
        return content_hash(open_site(project.load_site(site), project.root).facts())
    if wanted == NEWEST:
        if not runs:
            raise UsageError("there are no measured runs yet", where="--host newest", fix="nfvbed run demo")
        return runs[0].host_hash
    known = list(newest_by_host(runs))
    fitting = [digest for digest in known if digest.startswith(wanted)]
    if len(fitting) != 1:
        raise UnknownNameError(
            f"{'several hosts begin' if fitting else 'no host begins'} with {wanted!r}",
            where="--host",
            observed=f"hosts with runs: {', '.join(digest[:12] for digest in known) or 'none'}",
            fix="give more of one of them, or newest",
        )
    return fitting[0]


def _other_hosts(store: Store, runs: list[RunRecord]) -> list[str]:
    hosts = list(newest_by_host(runs).items())[:MOST_HOSTS]
    return [shown_host(digest, machine(described(store, digest)), started) for digest, started in hosts]
