"""Runs out of the store with all that a report shows."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from nfvbed.compare.agreement import supports_of
from nfvbed.compare.chains import HALF, ShareReference, ShareRequirement
from nfvbed.compare.comparison import Comparison, ComparisonOptions
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.verdict import Rules
from nfvbed.errors import DamagedError
from nfvbed.plan.stored import never_reached
from nfvbed.records import CellRecord, FactRecord, RunRecord
from nfvbed.records.selection import MEASURED, Selection
from nfvbed.report.context import ReportContext
from nfvbed.spec.experiment import BEST
from nfvbed.spec.layout import layout
from nfvbed.spec.variant import Variant

if TYPE_CHECKING:
    from nfvbed.store import Store


@dataclass(frozen=True)
class LoadedRuns:
    """Runs with all that a report shows."""

    data: tuple[RunData, ...]
    variants: dict[str, dict[str, Any]]
    """Resolved configurations by hash."""
    facts: tuple[FactRecord, ...]
    baseline: str | None
    """What the first run's experiment names."""
    needed: int | None
    max_spread: float | None = None
    """What the first run's experiment calls stable."""
    looks: tuple[int, ...] | None = None
    """Rounds after which the first run's experiment looks at verdicts; None: not stored (older runs)."""
    purpose: Literal["compare", "survey"] = "compare"
    """Purpose of the first run's experiment."""
    order: tuple[str, ...] = ()
    """Variants of the first run, where its experiment says that they are in the order in which they came."""
    title: str = ""
    """Title of the runs' experiments; empty where their plans are not stored."""


def make_options(loaded: LoadedRuns, chosen: Mapping[str, Any]) -> ComparisonOptions:
    """Join what the user chose with what the experiment says; `variants` may be left out."""
    standard = Rules()
    needed = chosen["needed"] or loaded.needed or standard.needed
    return ComparisonOptions(
        baseline=chosen["baseline"] or loaded.baseline,
        placement_class=chosen["placement_class"],
        variants=tuple(chosen.get("variants", ())),
        order=loaded.order,
        hold=ShareRequirement(
            share=chosen.get("chain_share", HALF), of=ShareReference(chosen.get("chain_of", ShareReference.ONE_VNF))
        ),
        rules=Rules(
            needed=needed,
            margin=chosen["margin"],
            max_spread=loaded.max_spread or standard.max_spread,
            looks=loaded.looks or standard.looks,
            purpose=loaded.purpose,
        ),
    )


def load(
    store: "Store",
    names: Sequence[str],
    variant_model: type[Variant],
    latency_of: Collection[str] | None = None,
    selection: Selection = MEASURED,
) -> LoadedRuns:
    """Return runs by id, a part of it, label, or `latest`; each once, in the order given.

    Args:
        names: at least one.
        variant_model: the model of variants, with the options of all data planes that there are.
        latency_of: only trials of these variants have their latency, and no other histograms are read; None: all have.
        selection: the runs among which `latest` is the newest.

    Raises:
        StoreError, UsageError: there are no results, or no such run.
    """
    runs = list({run.id: run for run in (store.run(name, selection) for name in names)}.values())
    with of_runs(runs):
        return _loaded(store, runs, variant_model, latency_of)


@contextmanager
def of_runs(runs: Sequence[RunRecord]) -> Iterator[None]:
    """Turn a fault on a description that is not nfvbed's into an error that says which runs cannot be read.

    Descriptions have forms of many versions, and are looked into where they are used: what is not there, or is of
    another type, shows there.

    Raises:
        DamagedError: a description lacks something, or has something of another type.
    """
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        raise DamagedError(
            f"what is stored of run {', '.join(run.id for run in runs)} cannot be read",
            where=", ".join(f"run {run.id}" for run in runs),
            observed=f"{type(error).__name__}: {' '.join(str(error).split())[:200]}",
            fix="import the run again where it was exported, or leave it out",
        ) from error


def _loaded(
    store: "Store",
    runs: Sequence[RunRecord],
    variant_model: type[Variant],
    latency_of: Collection[str] | None,
) -> LoadedRuns:
    read = _Descriptions(store)
    data = tuple(_read(store, run, variant_model, read, latency_of) for run in runs)
    configurations = {cell.config_hash for entry in data for cell in entry.cells}
    variants = {digest: read(digest) for digest in sorted(configurations)}
    facts = tuple(fact for run in runs for fact in store.facts(run.id))
    experiments = [read(run.plan_hash).get("experiment", {}) for run in runs]
    experiment = experiments[0]
    measured = {cell.variant for entry in data for cell in entry.cells}
    baseline = experiment.get("baseline")
    repetitions = experiment.get("repetitions", {})
    found = {digest: value for digest, value in variants.items() if value}
    title = "; ".join(dict.fromkeys(entry["title"] for entry in experiments if entry.get("title")))
    return LoadedRuns(
        data=data,
        variants=found,
        facts=facts,
        baseline=baseline if baseline in (BEST, *measured) else None,
        needed=repetitions.get("needed"),
        max_spread=repetitions.get("max_spread"),
        looks=tuple(repetitions["looks"]) if "looks" in repetitions else None,
        purpose=experiment.get("purpose", "compare"),
        order=tuple(experiment["variants"]) if experiment.get("ordered") else (),
        title=title,
    )


def context_of(loaded: LoadedRuns, comparison: Comparison) -> ReportContext:
    """Return what a page shows beside a comparison of these runs."""
    return ReportContext(
        comparison=comparison,
        runs=tuple(entry.run for entry in loaded.data),
        title=loaded.title,
        hosts={entry.run.host_hash: entry.host for entry in loaded.data},
        rigs={digest: rig for entry in loaded.data for digest, rig in entry.rigs.items()},
        variants=loaded.variants,
        facts=loaded.facts,
    )


def _read(
    store: "Store",
    run: RunRecord,
    variant_model: type[Variant],
    read: "_Descriptions",
    latency_of: Collection[str] | None,
) -> RunData:
    cells = tuple(store.cells(run.id))
    of_cells = (digest for cell in cells for digest in (cell.rig_hash, cell.config_hash))
    read.together((run.plan_hash, run.host_hash, run.doctor_hash, *of_cells))
    cells += never_reached(run, read(run.plan_hash), cells, variant_model)
    rigs = {digest: read(digest) for digest in sorted({cell.rig_hash for cell in cells})}
    known = {digest: rig for digest, rig in rigs.items() if rig}
    host, results = read(run.host_hash), tuple(store.results(run.id))
    supports = supports_of(read(run.doctor_hash))
    configurations = {digest: read(digest) for digest in {cell.config_hash for cell in cells}}
    ports, paths = (_reported(configurations, key) for key in ("ports", "io_path"))
    trials = tuple(store.trials(run.id, latency_of=latency_of))
    _require_cells(run, cells, {*(row.cell for row in trials), *(row.cell for row in results)})
    tracking = frozenset(digest for digest, value in configurations.items() if _tracks(value))
    return RunData(run, cells, trials, known, host, results, supports, ports, paths, tracking)


def _require_cells(run: RunRecord, cells: Sequence[CellRecord], named: set[str]) -> None:
    """Raise where a trial or a result has no cell of a path that there is.

    Raises:
        DamagedError: one has none.
        ValueError: there is no such path.
    """
    for topology in {cell.topology for cell in cells if cell.id in named}:
        layout(topology)
    lost = sorted(named - {cell.id for cell in cells})
    if lost:
        raise DamagedError(
            f"what is stored of run {run.id} cannot be read",
            where=f"run {run.id}",
            observed=f"trials or results of a cell that it does not have: {lost[0]!r}",
            fix="import the run again where it was exported, or leave it out",
        )


def _tracks(configuration: Mapping[str, Any]) -> bool:
    """Return whether a stored variant tracks connections: that of overlays, by the option that all versions have."""
    options = (configuration.get("variant") or {}).get("options") or {}
    return bool(options.get("conntrack"))


def _reported(configurations: Mapping[str, dict[str, Any]], key: str) -> dict[str, str]:
    return {digest: value[key] for digest, value in configurations.items() if key in value}


def described(store: "Store", digest: str) -> dict[str, Any]:
    """Read a description; one that is not stored, or is damaged, costs its table, not the comparison."""
    return _Descriptions(store)(digest)


class _Descriptions:
    """Descriptions by hash, each read once: most runs share most of them."""

    def __init__(self, store: "Store") -> None:
        self._store = store
        self._known: dict[str, dict[str, Any]] = {"": {}}

    def together(self, digests: Iterable[str]) -> None:
        """Read those that are not known yet in one go."""
        wanted = set(digests) - self._known.keys()
        if wanted:
            found = self._store.find_blobs(wanted)
            self._known |= {digest: _as_table(found.get(digest)) for digest in wanted}

    def __call__(self, digest: str) -> dict[str, Any]:
        """Return a description; empty where it is not stored, or is damaged."""
        self.together((digest,))
        return self._known[digest]


def _as_table(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    return value if isinstance(value, dict) else {"value": value}
