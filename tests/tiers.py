"""Runs tiers of tests, in the order given, and sums them up: `python tests/tiers.py unit functional`.

The one place that says what a tier is; `make test`, `make test-<tier>` and tox all call it. Every tier runs even when
an earlier one failed; the exit status is 0 only when all passed. Nothing is written outside the checkout.

Tiers that share nothing run together on all cores, before those that need the machine to themselves; those that
wait for nothing but a core run beside all up to the functional tier, at idle priority. Functional tests that take no
hugepages run beside the others, on what is to them a machine of their own (`tests/apart`). Both unless
NFVBED_TESTS_BESIDE is 0.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / ".nfvbed" / "tiers"
BYTECODE = ROOT / ".nfvbed" / "cache" / "bytecode"
PYTHON = sys.executable
APART = ROOT / "tests" / "apart"

TIERS = (
    *("lint", "image", "unit", "golden", "contract", "functional", "browser"),
    *("dashboard-path", "openstack-path", "kolla-path"),
    *("vepc", "slow", "dashboard", "node", "kolla", "kolla-all", "kolla-box", "kolla-box-all"),
    *("openstack", "openstack-all"),
)
"""`make check` runs lint and contract, `make test` the others of the first line, `make test-paths` the second. Those of
the third take 5 minutes, up to 20, 7, 20 to 60, up to 8, 70 minutes, 10 minutes,
two hours, 12 minutes, and one to two hours."""
SIDE_BY_SIDE = ("lint", "image", "browser", "unit", "golden", "contract")
"""Tiers whose tests share nothing and need no core to themselves; those that take longest come first."""
IN_TURN = os.environ.get("NFVBED_TESTS_BESIDE") == "0"
BESIDE = () if IN_TURN else ("unit", "golden")
"""Tiers that run beside the functional one, which waits most of its time, and beside those before it: at a priority at
which they get a core only while nothing else wants it. Continuous integration, whose host is disturbed anyway and whose
time suffices, runs them one after the other (docs/evidence/tests.md)."""
TWO_LANES = () if IN_TURN else ("functional",)
"""Tiers whose tests with the mark `beside` run at the same time as their others, in a second lane."""
FOLDERS = {
    "vepc": ("functional",),
    "slow": ("image", "functional", "unit"),
    "dashboard": ("browser", "functional", "unit/dashboard"),
    "dashboard-path": ("functional",),
    "openstack-path": ("openstack",),
    "kolla-path": ("kolla",),
    "kolla-all": ("kolla",),
    "kolla-box": ("kolla_box",),
    "kolla-box-all": ("kolla_box",),
    "openstack-all": ("openstack",),
}
"""Folders of tiers whose tests are not in a folder of their name; unit tests come last, as they let nothing be deployed
on this host until their process ends."""
CHOSEN = {
    **{"vepc": "vepc and not slow", "slow": "slow", "dashboard": "dashboard", "node": ""},
    **dict.fromkeys(("dashboard-path", "openstack-path", "kolla-path"), "path"),
    **dict.fromkeys(("kolla", "kolla-box", "openstack"), "not on_demand"),
    **dict.fromkeys(("kolla-all", "kolla-box-all", "openstack-all"), ""),
}
"""Which tests of a folder, by their marks."""
OF_THE_CACHE = ("kolla-box", "kolla-box-all", "openstack-path", "openstack", "openstack-all")
"""Tiers whose clouds are made of what NFVBED_CACHE keeps. All others run without it: what tests make up is no entry."""
WITH_SCHEMATHESIS = ("dashboard",)
"""Tiers with tests of schemathesis; pytest would load it in all others, too, seconds of every worker."""
ALL_OTHERS = "not dashboard and not slow and not vepc"
TELLS_NAMES = (
    *("image", "functional", "vepc", "slow", "browser", "dashboard", "node"),
    *("dashboard-path", "openstack-path", "kolla-path"),
    *("kolla", "kolla-all", "kolla-box", "kolla-box-all", "openstack", "openstack-all"),
)
"""Their tests are few and slow, and are named while they run; those of the others are dots."""


SPEAKS_S = 20.0
"""Time after which workers that wait for an image to be built, and say nothing, are said to go on."""
GOES_S = 60
"""Seconds in which tests that are interrupted clear up."""
_INTERRUPTED_WITH_THIS = ("setpriv", "--pdeathsig", "INT")
"""Begins the command of tests that are interrupted, and clear up, where this program is killed."""
_LOOK_S = 0.2


@dataclass
class Outcome:
    """What a tier gave."""

    tier: str
    part: str = ""
    """Suffix for the lane of a tier that has two; empty: the lane on this machine, or the only one."""
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
    beside = [tier for tier in BESIDE if tier in names] if "functional" in names else []
    together = [tier for tier in SIDE_BY_SIDE if tier in names and tier not in beside]
    alone = [tier for tier in TIERS if tier in names and tier not in SIDE_BY_SIDE]
    groups = ([together] if together else []) + [[tier] for tier in alone]
    started = time.monotonic()
    until = groups.index(["functional"]) + 1 if beside else 0
    outcomes = _beside(groups[:until], beside) if beside else []
    outcomes += _each(groups[until:])
    _summarise(outcomes, time.monotonic() - started)
    return 1 if any(outcome.failed for outcome in outcomes) else 0


def _each(groups: list[list[str]]) -> list[Outcome]:
    """Run groups of tiers one after the other."""
    outcomes = list[Outcome]()
    for group in groups:
        print(f"\n=== {', '.join(group)}", flush=True)
        outcomes += _lanes(group) if group[0] in TWO_LANES else Session(group, "now").run()
    return outcomes


def _lanes(group: list[str]) -> list[Outcome]:
    """Run a tier in two lanes: what takes hugepages and cores on this machine, the rest on one of its own."""
    control_group = f"apart-{os.getpid()}"
    other = Session(group, "lane", "beside")
    try:
        with other.started([str(APART), control_group]):
            outcomes = Session(group, "now", "not beside").run()
            print(f"\n=== {group[0]}, what ran beside these", flush=True)
            return outcomes + other.ended()
    finally:
        subprocess.run([APART, control_group], check=False)


def _beside(groups: list[list[str]], others: list[str]) -> list[Outcome]:
    """Run groups one after the other while others' tests, which wait for nothing but a core, run at idle priority."""
    print(f"\n=== beside all that follows, shown when they have ended: {', '.join(others)}", flush=True)
    behind = Session(others, "idle")
    with behind.started(["chrt", "--idle", "0"], gives_way=True):
        outcomes = _each(groups)
        print(f"\n=== {', '.join(others)}", flush=True)
        return outcomes + behind.ended()


def _environment(work: Path, tier: str) -> dict[str, str]:
    """Keep what tests and browsers write (profiles, sockets, caches) inside the checkout."""
    home = work / "home"
    home.mkdir(parents=True)
    places = {"HOME": home, "TMPDIR": work, "XDG_RUNTIME_DIR": work, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home}
    # nfvbed is started hundreds of times, also where the processor is emulated: what is compiled once is kept, also by
    # a user who wants no bytecode beside sources.
    places["PYTHONPYCACHEPREFIX"] = BYTECODE
    dropped = {"PYTHONDONTWRITEBYTECODE", *(() if tier in OF_THE_CACHE else ("NFVBED_CACHE", "NFVBED_CACHE_COLD"))}
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return kept | {name: str(place) for name, place in places.items()}


class Session:
    """One run of pytest: over one tier, or over several whose tests share nothing."""

    def __init__(self, tiers: list[str], name: str, only: str = "") -> None:
        """Name its tiers, and the folder of what its tests write; and which of its tests, by marks, where not all."""
        self._tiers = tiers
        self._only = only
        suffix = "" if not only or only.startswith("not ") else f"-{only}"
        self._outcomes = {tier: Outcome(tier, suffix) for tier in tiers}
        # Names of Unix sockets, which tests make in there, have at most 107 characters: folders' own are short.
        self._work, self._base = WORK / name, WORK / name[0]
        self._report, self._log = WORK / f"{tiers[0]}{suffix}.xml", WORK / f"{tiers[0]}{suffix}.log"
        self._began = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> list[Outcome]:
        """Run it, its output as it comes."""
        argv = [*_INTERRUPTED_WITH_THIS, *self._prepare()]
        environment = _environment(self._work, self._tiers[0])
        with subprocess.Popen(argv, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL) as process:
            try:
                status = self._wait(process)
            except KeyboardInterrupt:
                # It was interrupted, too; `subprocess.run` would kill it while it removes what it has deployed.
                _clear_up(process)
                raise
        return self._outcome(status)

    def _wait(self, process: subprocess.Popen[bytes]) -> int:
        """Wait for its end; where lines of several workers come whole, say now and then that it goes on."""
        first = self._tiers[0]
        while True:
            try:
                return process.wait(SPEAKS_S if first in SIDE_BY_SIDE and first in TELLS_NAMES else None)
            except subprocess.TimeoutExpired:
                print(f"still {', '.join(self._tiers)} ({time.monotonic() - self._began:.0f} s)", flush=True)

    @contextmanager
    def started(self, by: list[str], gives_way: bool = False) -> Iterator[None]:
        """Run it by a program that runs another, its output into a file; what is left of it ends with the block.

        Args:
            by: the program and its arguments, before the command that it runs.
            gives_way: whether it gets a core only where no other session wants it. Linux may share cores out by session
                before it looks at priorities (`kernel.sched_autogroup_enabled`): idle tests in the session of others
                take half a core from a switch with a session of its own.
        """
        argv = [*_INTERRUPTED_WITH_THIS, *by, *self._prepare()]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                argv,
                cwd=ROOT,
                env=_environment(self._work, self._tiers[0]),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        if gives_way:
            _give_way(self._process.pid)
        try:
            yield
        finally:
            if self._process.poll() is None:
                # Ctrl-C comes to the terminal's session alone.
                os.killpg(self._process.pid, signal.SIGINT)
            _clear_up(self._process)

    def ended(self) -> list[Outcome]:
        """Print its output up to now, what comes until its end as it comes, and wait for that."""
        assert self._process is not None
        with self._log.open("rb") as log:
            while (status := self._process.poll()) is None:
                _show(log.read())
                time.sleep(_LOOK_S)
            _show(log.read())
        return self._outcome(status)

    def _prepare(self) -> list[str]:
        first = self._tiers[0]
        folders = {tier: [ROOT / "tests" / name for name in FOLDERS.get(tier, (tier,))] for tier in self._tiers}
        for tier, places in folders.items():
            if not all(any(folder.rglob("test_*.py")) for folder in places):
                self._outcomes[tier].failed = 1
                self._outcomes[tier].notes.append("the tier has no tests")
        self._clear()
        self._log.parent.mkdir(parents=True, exist_ok=True)  # In a clean clone nothing has made it.
        self._report.unlink(missing_ok=True)
        every = [str(folder) for places in folders.values() for folder in places]
        argv = [PYTHON, "-m", "pytest", *every, f"--basetemp={self._base}", f"--junitxml={self._report}"]
        argv.append("-v" if first in TELLS_NAMES else "-q")
        if first not in WITH_SCHEMATHESIS:
            argv += ["-p", "no:schemathesis"]
        chosen = CHOSEN.get(first, ALL_OTHERS)
        argv += ["-m", f"{chosen} and {self._only}" if self._only else chosen]
        if first in SIDE_BY_SIDE:
            # One more than there are cores: tests wait for guests that boot, pages that are drawn, and deadlines.
            files = sum(1 for places in folders.values() for folder in places for _ in folder.rglob("test_*.py"))
            argv += ["-n", str(min(len(os.sched_getaffinity(0)) + 1, files))]
            # Of many files each worker collects its own alone. Else tests that share a guest or a browser
            # (`xdist_group`) stay together, and the larger groups begin first.
            argv += ["-p", "tests.shares", "--dist", "each"] if "unit" in self._tiers else ["--dist", "loadgroup"]
            # A worker that ended is a fault: what began in its place would collect its tests once more.
            argv.append("--max-worker-restart=0")
        self._began = time.monotonic()
        return argv

    def _outcome(self, status: int) -> list[Outcome]:
        first = self._outcomes[self._tiers[0]]
        first.seconds = time.monotonic() - self._began
        self._clear()
        _count(self._report, self._outcomes)
        if status != 0 and not any(outcome.failed for outcome in self._outcomes.values()):
            first.failed = 1
            first.notes.append(f"pytest ended with exit status {status}")
        return list(self._outcomes.values())

    def _clear(self) -> None:
        for folder in (self._work, self._base):
            shutil.rmtree(folder, ignore_errors=True)


def _clear_up(process: subprocess.Popen[bytes]) -> None:
    """Wait for tests that were interrupted; what ignores that, as in a shell's background, is terminated."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(GOES_S)
    process.terminate()
    process.wait()


def _show(output: bytes) -> None:
    sys.stdout.flush()
    sys.stdout.buffer.write(output)
    sys.stdout.buffer.flush()


def _give_way(session: int) -> None:
    """Let a session have a core only where no other one wants it, if the kernel shares cores out by session."""
    weight = Path(f"/proc/{session}/autogroup")
    if weight.exists():
        weight.write_text("19")


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
            f"{outcome.tier + outcome.part:18} {counts}  "
            + (f"{outcome.seconds:6.1f} s" if outcome.seconds else "  with the above")
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
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("\ninterrupted; the tests have cleared up", file=sys.stderr)
        sys.exit(130)
