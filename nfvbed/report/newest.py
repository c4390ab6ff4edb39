"""A host's newest runs out of the store, each compared by the rules of its own experiment."""

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from nfvbed.compare.recommendation.candidates import ExaminedRun
from nfvbed.errors import DamagedError
from nfvbed.records import RunRecord
from nfvbed.report.load import described, load, make_options
from nfvbed.spec.variant import Variant

if TYPE_CHECKING:
    from nfvbed.store import Store

RUNS: Final = 20
"""So many of a host's newest runs are looked at, where no other number is asked for."""
AS_STORED: Final = {"baseline": None, "placement_class": "auto", "needed": None}
"""Options of a comparison that leave all to the experiment."""


def newest_by_host(runs: Iterable[RunRecord]) -> dict[str, str]:
    """Return when the newest run of each host began, by the host's hash; that of the newest run first.

    Args:
        runs: the newest first, as the store has them.
    """
    found: dict[str, str] = {}
    for run in runs:
        found.setdefault(run.host_hash, run.started_at)
    return found


def newest_of(runs: Iterable[RunRecord], host_hash: str, most: int) -> list[RunRecord]:
    """Return at most `most` runs of a host that have ended, the newest first.

    Args:
        runs: all of a store, in any order.
    """
    fitting = [run for run in runs if run.host_hash == host_hash and run.status is not None]
    return sorted(fitting, key=lambda run: (run.started_at, run.id), reverse=True)[:most]


def examine_runs(
    store: "Store",
    runs: Sequence[RunRecord],
    variant_model: type[Variant],
    margin: float,
    latency_of: Collection[str] | None = None,
) -> tuple[ExaminedRun, ...]:
    """Return runs, each read and compared by itself.

    Args:
        runs: in the order in which they are wanted.
        variant_model: the model of variants, with the options of all data planes that there are.
        margin: within which rates count as the same.
        latency_of: only trials of these variants have their latency, and no other histograms are read; None: all have.

    Returns:
        Those that can be read; the store reports the others.
    """
    examined = (examine_run(store, run, variant_model, margin, latency_of) for run in runs)
    return tuple(found for found in examined if found is not None)


def examine_run(
    store: "Store",
    run: RunRecord,
    variant_model: type[Variant],
    margin: float,
    latency_of: Collection[str] | None = None,
) -> ExaminedRun | None:
    """Return one run as `examine_runs` does; None where it cannot be read, which is told to the store."""
    try:
        loaded = load(store, (run.id,), variant_model, latency_of)
        options = make_options(loaded, {**AS_STORED, "margin": margin})
        return ExaminedRun.of(loaded.data[0], options, loaded.variants, described(store, run.doctor_hash))
    except DamagedError as error:
        store.leave_out(run.id, error)
        return None
