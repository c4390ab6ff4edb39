"""Runs tiers of tests, in the order given, and sums them up: `python tests/tiers.py unit functional`.

The one place that says what a tier is; `make test`, `make test-<tier>` and tox all call it. Every tier runs even when
an earlier one failed; the exit status is 0 only when all passed. Nothing is written outside the checkout.

Tiers that share nothing run together on all cores, before those that need the machine to themselves.
"""

import os
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / ".nfvbed" / "tiers"
BYTECODE = ROOT / ".nfvbed" / "cache" / "bytecode"
PYTHON = sys.executable

TIERS = (
    *("lint", "image", "unit", "golden", "contract", "functional", "browser"),
    *("dashboard-path", "openstack-path", "kolla-path"),
    *("slow", "dashboard", "node", "kolla", "kolla-all", "openstack", "openstack-all"),
)
"""`make check` runs lint and contract, `make test` the others of the first line, `make test-paths` the second. Those of
the third take up to 18 minutes, 7, 20 to 60, up to 8, 70 minutes, 12 minutes, and one to two hours."""
SIDE_BY_SIDE = ("lint", "image", "browser", "unit", "golden", "contract")
"""Tiers whose tests share nothing and need no core to themselves; those that take longest come first."""
FOLDERS = {
    "slow": ("image", "functional"),
    "dashboard": ("browser", "unit/dashboard", "functional"),
    "dashboard-path": ("functional",),
    "openstack-path": ("openstack",),
    "kolla-path": ("kolla",),
    "kolla-all": ("kolla",),
    "openstack-all": ("openstack",),
}
"""Of tiers whose tests are not in a folder of their name."""
CHOSEN = {
    **{"slow": "slow", "dashboard": "dashboard", "node": ""},
    **dict.fromkeys(("dashboard-path", "openstack-path", "kolla-path"), "path"),
    **{"kolla": "not on_demand", "kolla-all": "", "openstack": "not on_demand", "openstack-all": ""},
}
"""Which tests of a folder, by their marks."""
ALL_OTHERS = "not dashboard and not slow"
TELLS_NAMES = (
    *("image", "functional", "slow", "browser", "dashboard", "node"),
    *("dashboard-path", "openstack-path", "kolla-path"),
    *("kolla", "kolla-all", "openstack", "openstack-all"),
)
"""Their tests are few and slow, and are named while they run; those of the others are dots."""


@dataclass
class Outcome:
    """What a tier gave."""

    tier: str
    passed: int = 0
    failed: int = 0
    skipped: list[str] = field(default_factory=list)
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    """Tests that made something again, how often, and how much time was stolen from the host meanwhile."""


def main(names: list[str]) -> int:
    """Run the named tiers and print the summary."""
    unknown = sorted(set(names) - set(TIERS))
    if unknown or not names:
        print(f"usage: tests/tiers.py TIER...   tiers: {' '.join(TIERS)}", file=sys.stderr)
        return 2
    together = [tier for tier in SIDE_BY_SIDE if tier in names]
    groups = ([together] if together else []) + [[name] for name in names if name not in SIDE_BY_SIDE]
    outcomes, started = list[Outcome](), time.monotonic()
    for place, group in enumerate(groups, 1):
        print(f"\n=== {', '.join(group)} ({place} of {len(groups)})", flush=True)
        outcomes += _pytest(group)
    _summarise(outcomes, time.monotonic() - started)
    return 1 if any(outcome.failed for outcome in outcomes) else 0


def _environment(work: Path) -> dict[str, str]:
    """Keep what tests and browsers write (profiles, sockets, caches) inside the checkout."""
    home = work / "home"
    home.mkdir(parents=True)
    places = {"HOME": home, "TMPDIR": work, "XDG_RUNTIME_DIR": work, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}
    # nfvbed is started hundreds of times, also where the processor is emulated: what is compiled once is kept, also by
    # a user who wants no bytecode beside sources.
    places["PYTHONPYCACHEPREFIX"] = BYTECODE
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {name: str(place) for name, place in places.items()}


def _pytest(tiers: list[str]) -> list[Outcome]:
    outcomes = {tier: Outcome(tier) for tier in tiers}
    folders = {tier: [ROOT / "tests" / name for name in FOLDERS.get(tier, (tier,))] for tier in tiers}
    for tier, places in folders.items():
        if not all(any(folder.rglob("test_*.py")) for folder in places):
            outcomes[tier].failed = 1
            outcomes[tier].notes.append("the tier has no tests")
    work, report = WORK / "now", WORK / f"{tiers[0]}.xml"
    _clear(work)
    report.unlink(missing_ok=True)
    every = [str(folder) for places in folders.values() for folder in places]
    argv = [PYTHON, "-m", "pytest", *every, f"--basetemp={WORK / 't'}", f"--junitxml={report}"]
    argv.append("-v" if tiers[0] in TELLS_NAMES else "-q")
    argv += ["-m", CHOSEN.get(tiers[0], ALL_OTHERS)]
    if tiers[0] in SIDE_BY_SIDE:
        # Tests that share a guest or a browser (`xdist_group`) stay together, and the larger groups begin first.
        # One more than there are cores: tests wait for guests that boot, pages that are drawn, and deadlines.
        argv += ["-n", str(len(os.sched_getaffinity(0)) + 1), "--dist", "loadgroup"]
    started = time.monotonic()
    status = subprocess.run(argv, cwd=ROOT, env=_environment(work), stdin=subprocess.DEVNULL, check=False).returncode
    outcomes[tiers[0]].seconds = time.monotonic() - started
    _clear(work)
    _count(report, outcomes)
    if status != 0 and not any(outcome.failed for outcome in outcomes.values()):
        outcomes[tiers[0]].failed = 1
        outcomes[tiers[0]].notes.append(f"pytest ended with exit status {status}")
    return list(outcomes.values())


def _clear(work: Path) -> None:
    # Names of Unix sockets, which tests make in there, have at most 107 characters: the folder's own is short.
    for folder in (work, WORK / "t"):
        shutil.rmtree(folder, ignore_errors=True)


def _count(report: Path, outcomes: dict[str, Outcome]) -> None:
    if not report.exists():
        return
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname', '')}::{case.get('name', '')}"
        outcome = next((found for tier, found in outcomes.items() if name.startswith(f"tests.{tier}.")), None)
        # What cannot be collected has no class; it counts where the tiers begin.
        outcome = outcome or next(iter(outcomes.values()))
        skip = case.find("skipped")
        outcome.again += [f"{name}: {p.get('value')}" for p in case.iter("property") if p.get("name") == "again"]
        if case.find("failure") is not None or case.find("error") is not None:
            outcome.failed += 1
            outcome.notes.append(name)
        elif skip is not None:
            outcome.skipped.append(f"{name}: {skip.get('message', 'no reason')}")
        else:
            outcome.passed += 1


def _summarise(outcomes: list[Outcome], total: float) -> None:
    print("\n=== summary")
    for outcome in outcomes:
        counts = f"{outcome.passed:4} passed  {outcome.failed:3} failed  {len(outcome.skipped):3} skipped"
        print(
            f"{outcome.tier:12} {counts}  " + (f"{outcome.seconds:6.1f} s" if outcome.seconds else "  with the above")
        )
    for outcome in outcomes:
        for note in outcome.notes:
            print(f"failed   {outcome.tier}: {note}")
        for reason in outcome.skipped:
            print(f"skipped  {outcome.tier}: {reason}")
        for reported in outcome.again:
            print(f"again    {outcome.tier}: {reported}")
    failed = sum(outcome.failed for outcome in outcomes)
    print(f"{'FAILED' if failed else 'passed'} after {total:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
