"""`/healthz` and `/metrics`: whether the server can answer, and what is stored and goes on, for Prometheus.

As all else here they are still while a trial is running: what was read last is told again, with the time when that was.
"""

import time
from collections import Counter
from collections.abc import Iterator
from typing import Final

from fastapi import APIRouter
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from nfvbed import __version__
from nfvbed.dashboard.access.security import HEALTH, METRICS
from nfvbed.dashboard.operations import Operations
from nfvbed.dashboard.results.progress import Plans, progress_of
from nfvbed.dashboard.results.shared import SharedReadings
from nfvbed.dashboard.results.source import Source
from nfvbed.errors import NfvbedError
from nfvbed.host.workspace.trialsign import trial_is_going
from nfvbed.records.selection import MEASURED
from nfvbed.report.history import History
from nfvbed.report.openmetrics import PREFIX, newest_figures, timestamp
from nfvbed.store.summaries import Part

FRESH_S: Final = 10.0
"""How often the store is read at most, however many ask."""
JOBS: Final = 200
"""Newest jobs that are counted."""
RUNNING: Final = "running"
CRASHED: Final = "crashed"
"""States of runs without an end: a process writes them, or none does."""


def metrics(source: Source, operations: Operations | None) -> APIRouter:
    """Return the routes that are asked by programs that watch the server."""
    router = APIRouter(include_in_schema=False)
    stored = _StoredState(source, operations)
    registry = CollectorRegistry()
    registry.register(stored)
    # Its own names would be those of any process that is asked on this machine.
    ProcessCollector(namespace=PREFIX, registry=registry)

    @router.get(HEALTH)
    def get_health() -> Response:
        if trial_is_going():
            return JSONResponse({"status": "ok", "store": "not read: a trial is running"})
        try:
            source.store.runs_page(Part(limit=1), MEASURED)
        except NfvbedError:
            # Every client may ask: where the store is, and what it said, is in the server's log and on its pages.
            return JSONResponse({"status": "failed", "store": "cannot be read"}, 503)
        return JSONResponse({"status": "ok", "store": "read"})

    @router.get(METRICS)
    def get_metrics(request: Request) -> Response:
        encode, media_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(registry), headers={"content-type": media_type})

    return router


class _StoredState(Collector):
    """Reads the store for Prometheus, between trials alone."""

    def __init__(self, source: Source, operations: Operations | None) -> None:
        self._source = source
        self._operations = operations
        self._history = History(source.store, MEASURED)
        self._plans = Plans()
        self._readings: SharedReadings[tuple[float, list[Metric]]] = SharedReadings("the metrics", FRESH_S)

    def describe(self) -> list[Metric]:
        """Return nothing: registering reads no store."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield what is known now.

        Raises:
            StoreError: the results cannot be read.
        """
        going = trial_is_going()
        yield InfoMetricFamily(f"{PREFIX}_build", "The version of nfvbed.", {"version": __version__})
        yield _gauge("trial_active", "Whether a trial is running on this machine: then the store is not read.", going)
        known = self._readings.newest(PREFIX) if going else self._readings.read(PREFIX, self._read)
        if known is not None:
            at, found = known
            yield _gauge("store_read_timestamp_seconds", "When the store was read for these metrics.", at)
            yield from found

    def _read(self) -> tuple[float, list[Metric]]:
        store = self._source.store
        runs, number = store.runs_page(Part(limit=1_000_000), MEASURED)
        states = Counter(run.status.value for run in runs if run.status is not None)
        open_runs = [run for run in runs if run.status is None]
        written = [run for run in open_runs if store.writer(run.id)]
        states += Counter({RUNNING: len(written), CRASHED: len(open_runs) - len(written)})
        by_state = GaugeMetricFamily(f"{PREFIX}_runs", "Measured runs that are stored, by state.", labels=["state"])
        for state, count in sorted(states.items()):
            by_state.add_metric([state], count)
        found: list[Metric] = [by_state]
        if number and runs:
            newest = max(run.started_at for run in runs)
            found.append(
                _gauge("newest_run_start_timestamp_seconds", "When the newest measured run began.", timestamp(newest))
            )
        rows = len(store.unreadable)
        found.append(_gauge("store_unreadable_rows", "Stored rows that were found damaged and left out.", rows))
        needs = self._plans.of(self._source, written[0]) if written else None
        if needs is not None:
            progress = progress_of(self._source, written[0], needs)
            found += [
                _gauge("run_trials_done", "Trials of the run that goes on that count.", progress.done),
                _gauge("run_trials_needed", "Trials that the run that goes on needs at least.", progress.whole),
            ]
        return time.time(), [*found, *self._jobs(), *newest_figures(self._history.measured())]

    def _jobs(self) -> Iterator[Metric]:
        if self._operations is None:
            return
        jobs = self._operations.jobs.newest(JOBS)
        family = GaugeMetricFamily(
            f"{PREFIX}_jobs", f"Jobs that the dashboard started, by state; the newest {JOBS}.", labels=["state"]
        )
        for state, count in sorted(Counter(job.state.value for job in jobs).items()):
            family.add_metric([state], count)
        yield family


def _gauge(name: str, about: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"{PREFIX}_{name}", about, value=value)
