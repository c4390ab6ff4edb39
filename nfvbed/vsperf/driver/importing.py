"""Stores the results of VSPERF as VSPERF's: none can pass for a measurement of nfvbed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nfvbed.records import (
    CellRecord,
    Engine,
    PortKind,
    QualityWarning,
    RunRecord,
    Status,
    TrialRecord,
)
from nfvbed.records.results import MeasuredRow, Quantity, ResultKind, ResultRecord, TablePayload
from nfvbed.report.throughput import claim, deviating
from nfvbed.run.kinds.loads import irregularities
from nfvbed.store import Store
from nfvbed.store.clock import utc_now
from nfvbed.units import NS_PER_S
from nfvbed.vsperf.conf import VsperfResult
from nfvbed.vsperf.driver.measuring import AnsweredRequest

ENGINE: Final = "vsperf"
DUMMY: Final = "Dummy"
"""VSPERF's generator that sends nothing: its numbers are those of TRAFFICGEN_DUMMY_RESULTS."""
DUMMY_ENGINE: Final = "vsperf-dummy"
NOTE: Final = (
    "Measured by VSPERF, not by nfvbed: each line once, without loss verification, and without a ceiling beside it."
)
DUMMY_NOTE: Final = "VSPERF's Dummy generator sends nothing: these numbers were written into the configuration by hand."
SENT, RECEIVED, LOSS = "tx_rate_fps", "throughput_rx_fps", "frame_loss_percent"
_WORDS: Final = {
    SENT: "sent",
    RECEIVED: "received",
    LOSS: "frame loss",
    "min_latency_ns": "least latency",
    "avg_latency_ns": "mean latency",
    "max_latency_ns": "greatest latency",
}
_SENT_AND_RECEIVED: Final = (
    ("tx_rate_fps", "throughput_rx_fps", "frames/s"),
    ("tx_frames", "rx_frames", "frames"),
    ("b2b_tx_fps", "b2b_rx_fps", "frames/s"),
)
"""Columns that tell whether anything came back."""
_UNITS: Final = {
    "_fps": "frames/s",
    "_percent": "%",
    "_ns": "ns",
    "_frames": "frames",
    "_bytes": "B",
    "_count": "frames",
}


@dataclass(frozen=True)
class Measured:
    """The part of a run that every line of the result file shares."""

    run: RunRecord
    test: str
    version: str
    """Version of VSPERF."""
    trafficgen: str
    topology: str
    switch: str
    """VSPERF's class of the data plane, for lines that name no switch: those of its packet forwarder."""
    port_kind: PortKind
    bidirectional: bool
    duration_s: float
    hashes: tuple[str, str]
    """Hashes of the configuration and of the rig."""
    emulated: bool = False
    """Whether the guests were emulated."""

    @property
    def engine(self) -> Engine:
        """What generated the traffic, in the store's words: VSPERF, or VSPERF without any traffic."""
        name = DUMMY_ENGINE if self.made_up else ENGINE
        return Engine(name=name, version=f"{self.version}, {self.trafficgen}")

    @property
    def made_up(self) -> bool:
        """Whether no frame was sent."""
        return self.trafficgen == DUMMY


def import_results(
    store: Store, measured: Measured, lines: Sequence[VsperfResult], answered: Sequence[AnsweredRequest] = ()
) -> Mapping[str, str]:
    """Store a cell for each frame size, a trial for each line with rates, and a result for each line.

    A line of a path that returned nothing has failed, whatever its numbers are.

    Args:
        store: open for writing, with the run.
        measured: common to all lines.
        lines: of VSPERF's result file, in order.
        answered: nfvgen's measurements for them, in order, where it was the generator; else nothing.

    Returns:
        Cells that failed, with the reasons.
    """
    known: dict[str, CellRecord] = {}
    failed: dict[str, str] = {}
    for index, line in enumerate(lines):
        cell = _cell(measured, line)
        if cell.id not in known:
            store.add_cell(cell)
        known[cell.id] = cell
        mine = answered[index] if index < len(answered) else None
        sequence = index + 1 if RECEIVED in line.numbers else None
        if sequence is not None:
            store.add_trial(_trial(measured, line, cell, mine, sequence))
        nothing = "" if measured.made_up else nothing_came(line)
        if nothing:
            failed.setdefault(cell.id, nothing)
        store.add_result(_result(measured, line, cell, mine, (index + 1, sequence)))
    for name in known:
        reason = failed.get(name, "")
        store.set_cell_status(measured.run.id, name, Status.FAILED if reason else Status.OK, reason)
    return failed


def nothing_came(line: VsperfResult) -> str:
    """Return that a line's frames were sent and none came back; empty: some did, or VSPERF does not say."""
    for sent, received, unit in _SENT_AND_RECEIVED:
        numbers = line.numbers
        if numbers.get(sent, 0) > 0 and numbers.get(received) == 0:
            return f"none of the sent frames came back: {sent} {numbers[sent]:g} {unit}, {received} 0"
    return ""


def _cell(measured: Measured, line: VsperfResult) -> CellRecord:
    config, rig = measured.hashes
    variant = f"{ENGINE}:{line.vswitch or measured.switch}"
    loopback = " ".join(dict.fromkeys(line.guest_loopback))
    return CellRecord(
        id=f"{variant}/{measured.topology}/{line.packet_size_bytes}",
        run=measured.run.id,
        variant=variant,
        topology=measured.topology,
        vnf=loopback,
        vnf_resolved=loopback,
        frame_size=line.packet_size_bytes,
        flows=line.streams,
        bidirectional=measured.bidirectional,
        port_kind=measured.port_kind,
        config_hash=config,
        rig_hash=rig,
        simulated=measured.made_up,
    )


def _trial(
    measured: Measured, line: VsperfResult, cell: CellRecord, mine: AnsweredRequest | None, sequence: int
) -> TrialRecord:
    """Return a line's rates as a record, without counts: VSPERF gives no numbers of frames."""
    return TrialRecord(
        run=measured.run.id,
        cell=cell.id,
        sequence=sequence,
        round=sequence,
        preset=ResultKind.VSPERF,
        started_at=measured.run.started_at,
        intended_load_pps=None,
        offered_load_pps=round(line.numbers.get(SENT, 0)),
        forwarded_rate_pps=round(min(line.numbers[RECEIVED], line.numbers.get(SENT, line.numbers[RECEIVED]))),
        directions=(),
        duration_ns=round(measured.duration_s * NS_PER_S),
        core_distance_ns=mine.distance if mine else None,
        status=Status.FAILED if not measured.made_up and nothing_came(line) else Status.OK,
        reason="" if measured.made_up else nothing_came(line),
        engine=measured.engine,
        simulated=measured.made_up,
        warnings=_warnings(measured, line, mine),
    )


def _result(
    measured: Measured,
    line: VsperfResult,
    cell: CellRecord,
    mine: AnsweredRequest | None,
    place: tuple[int, int | None],
) -> ResultRecord:
    number, sequence = place
    notes = (DUMMY_NOTE, NOTE) if measured.made_up else (NOTE, *_conformity(mine))
    row = MeasuredRow(
        label=f"{measured.engine.name}, {measured.trafficgen}",
        parameters=_parameters(measured, line),
        quantities=tuple(_quantities(line)),
        sequence=sequence,
        reason="; ".join(filter(None, (irregularities(mine.search) if mine and mine.search else "", _surplus(line)))),
    )
    return ResultRecord(
        run=measured.run.id,
        cell=cell.id,
        round=number,
        test=measured.test,
        kind=ResultKind.VSPERF,
        status=Status.FAILED if not measured.made_up and nothing_came(line) else Status.OK,
        reason="" if measured.made_up else nothing_came(line),
        warnings=_warnings(measured, line, mine),
        first_sequence=sequence,
        last_sequence=sequence,
        started_at=measured.run.started_at,
        ended_at=utc_now(),
        simulated=measured.made_up,
        payload=TablePayload(rows=(row,), notes=notes).model_dump(mode="json"),
    )


def _conformity(mine: AnsweredRequest | None) -> tuple[str, ...]:
    """Return how far nfvgen's search for VSPERF conforms to the standards, and what deviates from them."""
    found = mine.search if mine else None
    if found is None:
        return ()
    claims = (claim(found.label, goal.goal.name, goal.conformance) for goal in found.goals)
    return (*claims, deviating(found.label, found.deviations))


def _warnings(measured: Measured, line: VsperfResult, mine: AnsweredRequest | None) -> tuple[QualityWarning, ...]:
    found = [*(mine.warnings if mine else ())]
    if _surplus(line):
        found += [QualityWarning.DUPLICATED, QualityWarning.LOSS_AT_LEAST]
    if measured.made_up:
        found.append(QualityWarning.SIMULATED)
    if measured.emulated:
        found.append(QualityWarning.EMULATED_ACCELERATOR)
    return tuple(dict.fromkeys(found))


def _surplus(line: VsperfResult) -> str:
    """Return what VSPERF's generator counted beyond what it sent, as a text; empty: nothing, to a frame/s."""
    sent, received, loss = (line.numbers.get(name) for name in (SENT, RECEIVED, LOSS))
    if sent is not None and received is not None and round(received) > round(sent):
        return f"VSPERF's generator received {received:,.0f} frames/s of {sent:,.0f}: frames came more than once"
    return "" if loss is None or loss >= 0 else f"VSPERF's generator lost {loss:g} %: frames came more than once"


def _parameters(measured: Measured, line: VsperfResult) -> dict[str, str | int | float]:
    given: dict[str, Any] = {
        "engine": measured.engine.name,
        "vsperf": measured.version,
        "trafficgen": measured.trafficgen,
        "id": line.test or measured.test,
        "type": line.type,
        "packet_size": line.packet_size_bytes,
        "deployment": line.deployment or "",
        "vswitch": line.vswitch or measured.switch,
        "stream_count": line.streams,
        **line.texts,
    }
    return {name: value for name, value in given.items() if value != ""}


def _quantities(line: VsperfResult) -> Iterable[Quantity]:
    """Yield the numbers of the line: the default ones by the field's words, the others by VSPERF's column.

    Rates in Mbit/s are left out: they are those in frames/s once more.
    """
    others = (name for name in line.numbers if name not in _WORDS and not name.endswith("_mbps"))
    ordered = [*(name for name in _WORDS if name in line.numbers), *others]
    for name in ordered:
        unit = next((unit for ending, unit in _UNITS.items() if name.endswith(ending)), "")
        yield Quantity(name=_WORDS.get(name, name), value=_counted(name, line), unit=unit)


def _counted(name: str, line: VsperfResult) -> float:
    """Return a number of the line, without any surplus; no loss is negative."""
    value = line.numbers[name]
    if name == RECEIVED:
        return min(value, line.numbers.get(SENT, value))
    return max(0.0, value) if name == LOSS else value
