"""Latency of each direction at each load, for tests of latency."""

from collections.abc import Iterable
from dataclasses import dataclass

from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.records.quality import QualityWarning
from nfvbed.records.results import ResultKind
from nfvbed.report import wording
from nfvbed.report.loadtables import part


@dataclass(frozen=True)
class LatencyLine:
    """One direction at one load of a test of latency."""

    variant: str
    point: str
    test: str
    load: str
    direction: str
    columns: tuple[str, ...]
    """Values under `wording.LATENCY_HEADINGS`."""
    warnings: tuple[QualityWarning, ...]
    """About its load."""


def latency_lines(tests: Iterable[MeasuredTest]) -> tuple[LatencyLine, ...]:
    """Return the lines of tests of latency, in their order; nothing of a path with one direction."""
    return tuple(
        LatencyLine(
            variant=test.variant,
            point=wording.row_point(test),
            test=test.result.test,
            load=part(test, load) or f"{wording.mpps(load.point.intended_load_pps)} Mpps",
            direction=direction,
            columns=wording.latency_columns(found),
            warnings=test.warnings_at(load),
        )
        for test in tests
        if test.result.kind is ResultKind.LATENCY
        for load in test.loads
        if len(load.latency_directions) > 1
        for direction, found in zip(wording.DIRECTIONS, load.latency_directions, strict=False)
    )
