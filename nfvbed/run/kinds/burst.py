"""Executes the test of one burst: a number of frames at the port's full speed, and what came of them."""

from dataclasses import replace

from nfvbed.records import TrialRecord
from nfvbed.results import MeasuredRow, Quantity, TablePayload
from nfvbed.run.kinds.bench import OneClass, Outcome, TestBench
from nfvbed.spec.testkinds.burst import BurstTest
from nfvbed.units import NS_PER_S

LEAST_TIMEOUT_NS = 10 * NS_PER_S
SLOWEST_PPS = 100_000
"""A port that takes fewer frames/s does not get the whole burst; the result says so."""
NOTES = (
    "The burst is sent at the port's full speed, as virtual ports have no line rate; frames that the port did not take"
    " at the first try are sent as soon as it does.",
)


def execute(bench: TestBench, spec: BurstTest) -> Outcome:
    """Send the burst once; again, a few times, only where its placement class is another one than the run's.

    Raises:
        SwitchDiedError, VnfDiedError, GeneratorError: as `Measurement.measure`.
    """

    def send() -> TrialRecord:
        task = bench.bare_task()
        timeout_ns = max(LEAST_TIMEOUT_NS, spec.frames * NS_PER_S // SLOWEST_PPS)
        return bench.measure(replace(task, request=replace(task.request, frames=spec.frames, duration_ns=timeout_ns)))

    record = OneClass(bench).take(send)
    return Outcome(TablePayload(rows=(row_of(record, spec.frames),), notes=NOTES))


def row_of(record: TrialRecord, frames: int) -> MeasuredRow:
    """Give the figures of a burst, both directions together.

    Args:
        record: its trial.
        frames: that were to be sent in each direction.
    """
    ways = record.directions
    sent, received, lost = (sum(getattr(way, name) for way in ways) for name in ("sent", "received", "lost"))
    missing = frames * len(ways) - sent
    figures = {"sent": sent, "received": received, "lost": lost, "not sent": missing}
    figures |= {"refused at the first try": sum(way.refused for way in ways)}
    return MeasuredRow(
        label=f"burst of {frames:,}" + (" each way" if len(ways) > 1 else ""),
        parameters={"frames": frames},
        quantities=(
            *(Quantity(name=name, value=value, unit="frames") for name, value in figures.items()),
            Quantity(name="loss", value=100 * lost / sent if sent else None, unit="%"),
            Quantity(name="burst duration", value=record.duration_ns / NS_PER_S, unit="s"),
            Quantity(name="burst rate", value=record.offered_load_pps, unit="frames/s"),
        ),
        sequence=record.sequence,
        reason=f"{missing:,} frames of it could not be sent" if missing else "",
    )
