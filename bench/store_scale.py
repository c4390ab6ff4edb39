"""`make bench-store`: how long the dashboard's pages take over a store of a million trials, and its memory.

The store is made up, of runs as testbeds leave them; the dashboard is `nfvbed dashboard`, asked over HTTP. What a
request takes is from the first byte sent to the last one received, on the same machine. No comparison is asked for
twice: nothing of it is known already.
"""

import argparse
import http.client
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from math import comb
from pathlib import Path
from typing import Final
from urllib.parse import urlencode, urlsplit

import numpy as np
import program
from rich.console import Console
from rich.table import Table
from scale_rows import VARIANTS, Filled, fill

TRIALS: Final = 1_000_000
AIM_MS: Final = 300
"""At the 95th percentile, of each kind of page that has an aim."""
AIMED: Final = ("overview", "compare", "compare, API")
GROWTH_AIM: Final = 0.1
"""How much memory may grow from the second quarter of the requests to the last one."""
MOST_SETTINGS: Final = 8
START_S: Final = 60


@dataclass(frozen=True)
class Times:
    """How long the requests of one kind took, in ms."""

    page: str
    requests: int
    first: float
    median: float
    p95: float
    low: float
    """Lower end of the interval that holds the 95th percentile at 95 %, by order statistics."""
    high: float
    longest: float
    cpu_p95: float
    """95th percentile of the time for which the server's threads ran: what others on this machine take is not in it."""
    size: int
    """Bytes of the longest answer."""

    @property
    def reached(self) -> bool:
        """Whether its aim is met; true where it has none."""
        return self.page not in AIMED or self.p95 < AIM_MS


@dataclass(frozen=True)
class Answer:
    """One request."""

    page: str
    ms: float
    cpu_ms: float
    size: int
    rss: int
    """Resident memory of the server after it, bytes."""


class Server:
    """The dashboard as a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]", address: str) -> None:
        self._pid = process.pid
        self._connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=START_S)

    def ask(self, page: str, path: str) -> Answer:
        """Ask for a page and read all of it.

        Raises:
            RuntimeError: it is refused.
        """
        ran, began = self._ran_ms(), time.perf_counter()
        self._connection.request("GET", path)
        answer = self._connection.getresponse()
        body = answer.read()
        took = time.perf_counter() - began
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status}\n{body[:2000].decode()}")
        return Answer(page, took * 1e3, self._ran_ms() - ran, len(body), self.rss())

    def _ran_ms(self) -> float:
        """Return for how long its threads have run."""
        tasks = Path(f"/proc/{self._pid}/task").glob("*/schedstat")
        return sum(int(task.read_text(encoding="ascii").split()[0]) for task in tasks) / 1e6

    def rss(self) -> int:
        """Return its memory in bytes."""
        status = Path(f"/proc/{self._pid}/status").read_text(encoding="ascii")
        (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024


@contextmanager
def serving(place: str) -> Iterator[Server]:
    """Start the dashboard of a store, and end it."""
    argv = [sys.executable, "-m", "nfvbed", "dashboard", "--port", "0", "--store", place]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            yield Server(process, process.stdout.readline().split()[-1])
        finally:
            process.terminate()


def choices(filled: Filled, number: int, rng: np.random.Generator) -> Iterator[str]:
    """Yield queries of so many different comparisons: of one run or two, of two to eight settings."""
    names, seen = list(VARIANTS), set[str]()
    while len(seen) < number:
        runs = rng.choice(filled.runs, size=int(rng.integers(1, 3)), replace=False)
        variants = rng.choice(names, size=int(rng.integers(2, MOST_SETTINGS // len(runs) + 1)), replace=False)
        baseline = rng.choice(["", "best", str(variants[0])])
        pairs = [("runs", str(run)) for run in runs] + [("variants", str(name)) for name in variants]
        query = urlencode([*pairs, ("baseline", str(baseline))])
        if query not in seen:
            seen.add(query)
            yield query


def measure(server: Server, filled: Filled, requests: int, seed: int) -> list[Answer]:
    """Ask for so many pages of each kind, one after the other."""
    rng = np.random.default_rng(seed)
    pages = choices(filled, requests, rng)
    data = choices(filled, requests, np.random.default_rng(seed + 1))
    answers = []
    for compared, asked in zip(pages, data, strict=True):
        run = str(rng.choice(filled.runs))
        answers += [
            server.ask("overview", "/"),
            server.ask("compare", f"/compare?{compared}"),
            server.ask("compare, API", f"/api/compare?{asked}"),
            server.ask("runs", f"/runs?page={int(rng.integers(1, max(2, len(filled.runs) // 50)))}"),
            server.ask("trials, API", f"/api/runs/{run}/trials?page={int(rng.integers(1, 10))}"),
        ]
    return answers


def successes(count: int, each: float, chance: float) -> int:
    """Return the fewest successes of so many tries that are not exceeded with at least this chance."""
    found, below = 0, (1 - each) ** count
    while below < chance:
        found += 1
        below += comb(count, found) * each**found * (1 - each) ** (count - found)
    return found


def times_of(answers: Sequence[Answer]) -> list[Times]:
    """Sum up each kind of page."""
    found = []
    for page in dict.fromkeys(answer.page for answer in answers):
        own = [answer for answer in answers if answer.page == page]
        ms = np.sort([answer.ms for answer in own])
        low, high = (successes(len(ms), 0.95, chance) for chance in (0.025, 0.975))
        found.append(
            Times(
                page=page,
                requests=len(ms),
                first=own[0].ms,
                median=float(np.median(ms)),
                p95=float(np.percentile(ms, 95, method="inverted_cdf")),
                low=float(ms[max(0, low - 1)]),
                high=float(ms[min(len(ms) - 1, high)]),
                longest=float(ms[-1]),
                cpu_p95=float(np.percentile([answer.cpu_ms for answer in own], 95, method="inverted_cdf")),
                size=max(answer.size for answer in own),
            )
        )
    return found


def growth(answers: Sequence[Answer]) -> float:
    """Return by how much of it memory grew from the second quarter of the requests to the last one."""
    quarter = max(1, len(answers) // 4)
    early = np.median([answer.rss for answer in answers[quarter : 2 * quarter] or answers])
    return float(np.median([answer.rss for answer in answers[-quarter:]]) / early - 1)


def show(filled: Filled, found: Sequence[Times], answers: Sequence[Answer]) -> None:
    """Print the table and the memory."""
    title = f"{filled.trials:,} trials, {len(filled.runs):,} runs, {filled.histograms:,} histograms; ms"
    table = Table(title=title, title_justify="left")
    for heading in ("page", "requests", "first", "median", "95 %", "its interval", "longest", "CPU 95 %", "kB", "aim"):
        table.add_column(heading, justify="left" if heading in ("page", "aim") else "right")
    for row in found:
        aim = f"[{'green' if row.reached else 'red'}]< {AIM_MS}[/]" if row.page in AIMED else ""
        table.add_row(
            row.page, str(row.requests), f"{row.first:.0f}", f"{row.median:.0f}", f"{row.p95:.0f}",
            f"{row.low:.0f} .. {row.high:.0f}", f"{row.longest:.0f}", f"{row.cpu_p95:.0f}", f"{row.size / 1000:.0f}",
            aim,
        )  # fmt: skip
    console = Console(width=120)
    console.print(table)
    sizes = [answer.rss / 2**20 for answer in answers]
    console.print(
        f"memory of the server: {sizes[0]:.0f} MiB after the first request, {max(sizes):.0f} at most,"
        f" {sizes[-1]:.0f} at the end; {growth(answers):+.1%} from the second quarter to the last"
        f" (aim: < {GROWTH_AIM:.0%})"
    )


def problems_of(found: Sequence[Times], answers: Sequence[Answer]) -> list[str]:
    """Say which aims are missed."""
    problems = [f"{row.page}: {row.p95:.0f} ms, the aim is {AIM_MS}" for row in found if not row.reached]
    if growth(answers) >= GROWTH_AIM:
        problems.append(f"memory grew by {growth(answers):.1%}")
    return problems


def main() -> int:
    """Run the benchmark; 1 where an aim is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=TRIALS, help=f"in the store (default {TRIALS})")
    parser.add_argument("--requests", type=int, default=100, help="of each kind of page (default 100)")
    parser.add_argument("--seed", type=int, default=15)
    parser.add_argument("--store", help="fill this one and keep it: a file that is not there, or a PostgreSQL URL")
    parser.add_argument("--filled", type=Path, help="what --store was filled with: written, or read where it is there")
    parser.add_argument("--json", type=Path, default=Path("results/bench/store.json"), help="raw figures")
    program.add_smoke(parser)
    arguments = parser.parse_args()
    trials, requests = (1, 2) if arguments.smoke else (arguments.trials, arguments.requests)
    with tempfile.TemporaryDirectory() as folder:
        place = arguments.store or str(Path(folder) / "nfvbed.sqlite")
        filled = _filled(place, trials, arguments.seed, arguments.filled)
        with serving(place) as server:
            answers = measure(server, filled, requests, arguments.seed)
    found = times_of(answers)
    show(filled, found, answers)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    document = {"times": [asdict(row) for row in found], "answers": [asdict(answer) for answer in answers]}
    arguments.json.write_text(json.dumps(document, indent=2) + "\n")
    return 0 if arguments.smoke else program.ended(problems_of(found, answers))


def _filled(place: str, trials: int, seed: int, known: Path | None) -> Filled:
    if known is not None and known.exists():
        read = json.loads(known.read_text())
        return Filled(tuple(read["runs"]), read["trials"], read["histograms"])
    began = time.monotonic()
    filled = fill(place, trials, seed)
    print(f"filled in {time.monotonic() - began:.0f} s")
    if known is not None:
        known.write_text(json.dumps(asdict(filled)))
    return filled


if __name__ == "__main__":
    program.run(main)
