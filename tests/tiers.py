"""Runs tiers of tests, in the order given, and sums them up: `python tests/tiers.py unit functional`.

The one place that says what a tier is; `make test`, `make test-<tier>` and tox all call it. Every tier runs even when
an earlier one failed; the exit status is 0 only when all passed. Nothing is written outside the checkout.
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
PYTHON = sys.executable

PYTEST_TIERS = ("unit", "golden", "contract", "functional", "browser", "node")
"""`node` is no part of `make test`: it takes about an hour."""
SIDE_BY_SIDE = ("unit",)
"""Tiers whose tests share nothing, and so run on all cores."""
LINTS = {
    "ruff check": [PYTHON, "-m", "ruff", "check", "."],
    "mypy": [PYTHON, "-m", "mypy"],
    "clang-format": ["clang-format", "--dry-run", "--Werror"],
    "reference": [PYTHON, "docs/generate.py", "--check"],
}
TIERS = (*PYTEST_TIERS, "lint")


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
    outcomes = []
    for place, name in enumerate(names, 1):
        print(f"\n=== {name} ({place} of {len(names)})", flush=True)
        started = time.monotonic()
        outcome = _lint() if name == "lint" else _pytest(name)
        outcome.seconds = time.monotonic() - started
        outcomes.append(outcome)
    _summarise(outcomes)
    return 1 if any(outcome.failed for outcome in outcomes) else 0


def _environment(work: Path) -> dict[str, str]:
    """Keep what tests and browsers write (profiles, sockets, caches) inside the checkout."""
    home = work / "home"
    home.mkdir(parents=True)
    places = {"HOME": home, "TMPDIR": work, "XDG_RUNTIME_DIR": work, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}
    return os.environ | {name: str(place) for name, place in places.items()} | {"PYTHONDONTWRITEBYTECODE": "1"}


def _pytest(tier: str) -> Outcome:
    outcome = Outcome(tier)
    folder, work, report = ROOT / "tests" / tier, WORK / tier, WORK / f"{tier}.xml"
    if not any(folder.rglob("test_*.py")):
        outcome.failed = 1
        outcome.notes.append("the tier has no tests")
        return outcome
    shutil.rmtree(work, ignore_errors=True)
    report.unlink(missing_ok=True)
    argv = [PYTHON, "-m", "pytest", str(folder), f"--basetemp={work / 't'}", f"--junitxml={report}"]
    # Few and slow tests are named while they run, many and fast ones are dots.
    argv.append("-v" if tier in ("functional", "browser", "node") else "-q")
    if tier in SIDE_BY_SIDE:
        argv += ["-n", str(len(os.sched_getaffinity(0)))]
    status = subprocess.run(argv, cwd=ROOT, env=_environment(work), stdin=subprocess.DEVNULL, check=False).returncode
    shutil.rmtree(work, ignore_errors=True)
    _count(report, outcome)
    if status != 0 and not outcome.failed:
        outcome.failed = 1
        outcome.notes.append(f"pytest ended with exit status {status}")
    return outcome


def _count(report: Path, outcome: Outcome) -> None:
    if not report.exists():
        return
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = f"{case.get('classname', '')}::{case.get('name', '')}"
        skip = case.find("skipped")
        outcome.again += [f"{name}: {p.get('value')}" for p in case.iter("property") if p.get("name") == "again"]
        if case.find("failure") is not None or case.find("error") is not None:
            outcome.failed += 1
            outcome.notes.append(name)
        elif skip is not None:
            outcome.skipped.append(f"{name}: {skip.get('message', 'no reason')}")
        else:
            outcome.passed += 1


def _lint() -> Outcome:
    outcome = Outcome("lint")
    sources = [str(path) for path in sorted((ROOT / "native").rglob("*.[ch]")) if "build" not in path.parts]
    for name, argv in LINTS.items():
        print(f"{name}:", flush=True)
        full = argv + sources if name == "clang-format" else argv
        try:
            status = subprocess.run(full, cwd=ROOT, stdin=subprocess.DEVNULL, check=False).returncode
        except FileNotFoundError:
            print(f"  {argv[0]} is missing: make setup-test")
            status = 127
        if status:
            outcome.failed += 1
            outcome.notes.append(f"{name}: exit status {status}")
        else:
            outcome.passed += 1
    return outcome


def _summarise(outcomes: list[Outcome]) -> None:
    print("\n=== summary")
    for outcome in outcomes:
        counts = f"{outcome.passed:4} passed  {outcome.failed:3} failed  {len(outcome.skipped):3} skipped"
        print(f"{outcome.tier:12} {counts}  {outcome.seconds:6.1f} s")
    for outcome in outcomes:
        for note in outcome.notes:
            print(f"failed   {outcome.tier}: {note}")
        for reason in outcome.skipped:
            print(f"skipped  {outcome.tier}: {reason}")
        for told in outcome.again:
            print(f"again    {outcome.tier}: {told}")
    total = sum(outcome.seconds for outcome in outcomes)
    failed = sum(outcome.failed for outcome in outcomes)
    print(f"{'FAILED' if failed else 'passed'} after {total:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
