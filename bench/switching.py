"""`make switch-all`: from variant to variant, twice: what comes through, what is left, and how long a switch takes.

Each variant that has a file is deployed, frames go through it, and it is taken down; then the machine must be as it
was before.
The exit status is 1 where the passes differ, something is left behind, or the doctor (or the manifest given) says
something else of a variant than what happened.
"""

import argparse
import json
import os
import sys
from pathlib import Path

import program
import yaml
from rich.console import Console
from rich.table import Table
from rich.text import Text

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.host.workspace.footprint import Footprint
from nfvbed.records import Readiness
from nfvbed.run.switching import Candidate, SwitchLoop, SwitchLoopReport, Visit, topology_for, unlike_manifest
from nfvbed.sites.catalogue import open_site
from nfvbed.sites.doctor import examine_variants
from nfvbed.spec.choices import resolve
from nfvbed.spec.layout import layout
from nfvbed.spec.loader import Project
from nfvbed.spec.vnf import NATIVE, VnfUse

ROOT = Path(__file__).resolve().parents[1]
MARK = "NFVBED_SWITCHING"
AIM_S = 3.0
"""What a switch to a variant without a virtual machine should take at most."""
TOPOLOGIES = ("p2p", "pvp")


def candidates_of(project: Project, names: list[str], topologies: list[str]) -> list[Candidate]:
    """Return the real variants with what the doctor says of each, without those that have none of the topologies."""
    variants = [variant for variant in project.list_variants() if not variant.options.is_simulated]
    variants = [variant for variant in variants if not names or variant.name in names]
    found = []
    for support, variant in zip(
        examine_variants(tuple(variants), open_site(project.load_site("lab"), project.root)), variants, strict=True
    ):
        topology = topology_for(variant, topologies)
        if not topology:
            print(f"{variant.name} is left out: it has none of {', '.join(topologies)}")
            continue
        use = VnfUse(forwarding=NATIVE)
        vnf = resolve(use, variant, project) if layout(topology).vnfs else None
        found.append(Candidate(variant=variant, topology=topology, vnf=vnf, support=support))
    return found


def loop(project: Project, candidates: list[Candidate], passes: int) -> SwitchLoopReport:
    """Take the host, look, go round, and let it go."""
    os.environ[MARK] = str(os.getpid())
    site = open_site(project.load_site("lab"), project.root)
    site.begin()
    try:
        before = Footprint.take(f"{MARK}={os.getpid()}")
        return SwitchLoop(site, before, heard=tell).run(candidates, passes)
    finally:
        site.close()


def tell(visit: Visit) -> None:
    """Say how a visit ended."""
    came = f"{' and '.join(map(str, visit.received))} frames" if visit.worked else f"does not work: {visit.reason}"
    took = f", up in {visit.deploy_ns / 1e9:.2f} s, down in {visit.destroy_ns / 1e9:.2f} s" if visit.worked else ""
    print(f"pass {visit.number}: {visit.variant} ({visit.topology}): {came}{took}", flush=True)


def show(switching: SwitchLoopReport, candidates: list[Candidate]) -> None:
    """Print a line for each variant, and what is wrong."""
    table = Table(
        title="switching: the last one's destruction until a frame comes through this one", title_justify="left"
    )
    for heading in ("variant", "doctor", "path", "through", "switch, s", "least - most", "slowest steps, s"):
        table.add_column(heading, justify="right" if heading in ("switch, s", "least - most") else "left")
    for candidate in candidates:
        name = candidate.variant.name
        visits = [visit for visit in switching.visits if visit.variant == name]
        times, middle = switching.times_s(name), switching.median_s(name)
        through = "; ".join(sorted({_through(visit) for visit in visits}))
        style = "yellow" if middle is not None and middle > AIM_S and not candidate.boots else ""
        table.add_row(
            name,
            candidate.support.readiness.value,
            candidate.topology,
            Text(through),
            Text("" if middle is None else f"{middle:.2f}", style=style),
            f"{times[0]:.2f} - {times[-1]:.2f}" if times else "",
            _slowest(visits),
        )
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(table)
    for problem in switching.problems:
        console.print(Text(problem, style="red"), soft_wrap=True)


def _through(visit: Visit) -> str:
    return " + ".join(map(str, visit.received)) if visit.worked else "none"


def _slowest(visits: list[Visit]) -> str:
    steps = dict(visits[-1].steps) if visits else {}
    slowest = sorted(steps.items(), key=lambda step: -step[1])[:3]
    return ", ".join(f"{name.removeprefix('deploy.')} {spent / 1e9:.2f}" for name, spent in slowest)


def main() -> int:
    """Go round, print, write the raw figures; 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variant", action="append", default=[], help="only this one; repeatable (default: all)")
    parser.add_argument("--topology", action="append", default=[], help="the first that a variant has of p2p, pvp")
    parser.add_argument("--passes", type=int, default=2, help="how often through all (default: 2)")
    parser.add_argument("--manifest", type=Path, help="a file like tests/support.yml that the doctor must agree with")
    program.add_smoke(parser)
    parser.add_argument("--json", type=Path, default=ROOT / "results/bench/switching.json", help="raw figures")
    arguments = parser.parse_args()
    if arguments.smoke:
        arguments.passes = 1
        arguments.variant = arguments.variant or ["linux-bridge"]
    project = open_project(ROOT)
    candidates = candidates_of(project, arguments.variant, arguments.topology or list(TOPOLOGIES))
    switching = loop(project, candidates, arguments.passes)
    if arguments.manifest:
        wanted = {
            name: entry["readiness"]
            for name, entry in yaml.safe_load(arguments.manifest.read_text())["variants"].items()
        }
        unlike = unlike_manifest([candidate.support for candidate in candidates], wanted)
        switching = switching.model_copy(update={"problems": (*switching.problems, *unlike)})
    show(switching, candidates)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(switching.model_dump(mode="json"), indent=2) + "\n")
    unsupported = [c.variant.name for c in candidates if c.support.readiness is Readiness.UNSUPPORTED]
    print(f"unsupported here, tried and found so: {', '.join(unsupported) or 'none'}")
    return 1 if switching.problems else 0


if __name__ == "__main__":
    program.run(main)
