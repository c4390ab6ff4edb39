"""The rows of a comparison in the columns of VSPERF's result files, for programs that read those.

nfvbed's own columns follow at the end (`nfvbed_`): a number never leaves without its placement class, limits and
doubts, and a simulated one never without saying so.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from statistics import median
from typing import Final

from nfvbed.compare.comparison import Comparison
from nfvbed.compare.latency import mean_latency_ns, merge_latency
from nfvbed.compare.placement import ONLY
from nfvbed.compare.rundata import RunData
from nfvbed.compare.summary import CellSummary
from nfvbed.records import Preset, Status, TrialRecord
from nfvbed.report.export import Value, guarded
from nfvbed.report.vsperf_searches import search_lines
from nfvbed.spec.layout import chain_length, layout
from nfvbed.spec.vsperf.columns import COLUMNS, OWN_PREFIX
from nfvbed.spec.vsperf.testids import TEST_IDS, VARIANT_OF, TestKind
from nfvbed.units import NS_PER_S, layer1_bits_per_s, layer2_bits_per_s, mean_frame_size_bytes

OWN: Final = tuple(
    OWN_PREFIX + name
    for name in (
        "run", "cell", "variant", "preset", "simulated", "status", "reason", "trials", "rx_low_fps", "rx_high_fps",
        "placement_class", "limits", "warnings",
    )
)  # fmt: skip
TRAFFIC_TYPE: Final = "rfc2544_continuous"
"""Of trials at maximum load, and of paced ones: neither is a search."""
MEAN_SIZE: Final = "imix_avg_framesize"
PRESETS: Final = (Preset.MRR, Preset.PACED)
_VSWITCH: Final = {variant: name for name, variant in VARIANT_OF.items()}


def to_vsperf_csv(comparison: Comparison, data: Sequence[RunData]) -> str:
    """Write a line for each row at maximum load, its paced trials, and each goal of a search; nothing missing is 0.

    Args:
        comparison: of these runs.
        data: the runs, for the times and the latency of the trials behind each row.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, (*COLUMNS, MEAN_SIZE, *OWN), lineterminator="\n")
    writer.writeheader()
    labels = {(point.run, point.sequence): point.label for point in comparison.distances}
    runs = {entry.run.id: entry for entry in data}
    for row in comparison.rows:
        for fields in _lines(row, runs[row.run], labels, comparison):
            writer.writerow({name: guarded(value) for name, value in fields.items()})
    return text.getvalue()


def _lines(
    row: CellSummary, entry: RunData, labels: Mapping[tuple[str, int], str], comparison: Comparison
) -> Iterable[dict[str, Value]]:
    used = [
        trial
        for trial in entry.trials
        if trial.cell == row.cell
        and trial.status is Status.OK
        and labels.get((row.run, trial.sequence), ONLY) == row.placement_class
    ]
    by_preset = {preset: [trial for trial in used if trial.preset is preset] for preset in PRESETS}
    speed = comparison.rigs.get(row.rig_hash, {}).get("link_bits_per_s")
    conditions = _conditions(row, entry.run.experiment)
    for preset, trials in by_preset.items():
        if trials:
            yield _rates(row, trials, speed) | conditions | _times(trials) | _own(row, preset, trials)
    of_searches = conditions | {"id": _test_id(row, TestKind.THROUGHPUT) or entry.run.experiment}
    searched = [of_searches | line for line in search_lines(row, comparison)]
    yield from searched
    if not any(by_preset.values()) and not searched:
        yield conditions | _own(row, None, ())


def _rates(row: CellSummary, trials: Sequence[TrialRecord], link_bits_per_s: object) -> dict[str, Value]:
    """Give medians of rates; latency over all frames of all trials, both directions."""
    sent = float(median(trial.offered_load_pps for trial in trials))
    received = float(median(trial.forwarded_rate_pps for trial in trials))
    fields: dict[str, Value] = {
        "tx_rate_fps": sent,
        "throughput_rx_fps": received,
        "tx_rate_mbps": layer2_bits_per_s(sent, row.frame_size) / 1e6,
        "throughput_rx_mbps": layer2_bits_per_s(received, row.frame_size) / 1e6,
    }
    if isinstance(link_bits_per_s, int | float) and link_bits_per_s:
        line = link_bits_per_s * (2 if row.bidirectional else 1) / 100
        fields["tx_rate_percent"] = layer1_bits_per_s(sent, row.frame_size) / line
        fields["throughput_rx_percent"] = layer1_bits_per_s(received, row.frame_size) / line
    frames = sum(direction.sent for trial in trials for direction in trial.directions)
    lost = sum(direction.lost for trial in trials for direction in trial.directions)
    if frames:
        fields["frame_loss_percent"] = 100 * lost / frames
    histograms = [text for trial in trials for text in trial.latency_hdr if text]
    latency = merge_latency(histograms)
    if latency is not None:
        fields["min_latency_ns"] = latency.min_ns
        fields["max_latency_ns"] = latency.max_ns
        fields["avg_latency_ns"] = mean_latency_ns(histograms)
    return fields


def _conditions(row: CellSummary, experiment: str) -> dict[str, Value]:
    fields: dict[str, Value] = {
        "type": TRAFFIC_TYPE,
        "packet_size": row.frame_size,
        "id": _test_id(row, TestKind.MAXIMUM_LOAD) or experiment,
        "deployment": deployment_of(row.topology),
        "vswitch": _VSWITCH.get(row.variant, row.variant),
        "traffic_type": "udp",
    }
    if row.frame_size == "imix":
        # No `imix_genome`: RFC 6985 has no letter for frames of 570 bytes.
        fields[MEAN_SIZE] = mean_frame_size_bytes(row.frame_size)
    if row.flows > 1:
        fields |= {"stream_count": row.flows, "match_type": "L4", "pre-installed_flows": "No"}
    if row.vnf:
        fields["guest_loopback_app"] = " ".join([row.vnf_resolved or row.vnf] * layout(row.topology).vnfs)
    return fields


def deployment_of(topology: str) -> str:
    """Give VSPERF's name of a topology (`pv4p`: `pvvp4`); nfvbed's own where VSPERF has no such path."""
    length = chain_length(topology)
    if length is None:
        return topology
    return {1: "pvp", 2: "pvvp"}.get(length, f"pvvp{length}")


def _test_id(row: CellSummary, kind: TestKind) -> str | None:
    """Find VSPERF's ID of the same test: the one with as many flows, else the one that says nothing of flows."""
    deployment = deployment_of(row.topology)
    variant = row.variant if row.variant == VARIANT_OF["VppDpdkVhost"] else None
    same = {
        name: native
        for name, native in TEST_IDS.items()
        if native.kind is kind
        and native.deployment == deployment
        and native.variant == variant
        and not set(dict(native.keywords)) - {"vSwitch"}
    }
    for flows in (row.flows, 0):
        for name, native in same.items():
            if native.multistream == flows:
                return name
    return None


def _times(trials: Sequence[TrialRecord]) -> dict[str, Value]:
    """Give begin and end in UTC; VSPERF writes its host's local time, without saying which that is."""
    starts = [_moment(trial.started_at) for trial in trials]
    ends = [
        start + timedelta(seconds=trial.duration_ns / NS_PER_S) for start, trial in zip(starts, trials, strict=True)
    ]
    first, last = min(starts), max(ends)
    seconds = int((last - first).total_seconds())
    return {
        "test_execution_time": f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}",
        "start_time": f"{first:%Y-%m-%d %H:%M:%S}",
        "stop_time": f"{last:%Y-%m-%d %H:%M:%S}",
    }


def _moment(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def _own(row: CellSummary, preset: Preset | None, trials: Sequence[TrialRecord]) -> dict[str, Value]:
    interval = row.mrr.interval if row.mrr and preset is Preset.MRR else None
    values: tuple[Value, ...] = (
        row.run,
        row.cell,
        row.variant,
        preset.value if preset else None,
        int(row.simulated),
        row.status.value,
        row.reason,
        len(trials),
        interval.low if interval else None,
        interval.high if interval else None,
        row.placement_class,
        " ".join(limit.kind.value for limit in row.limits),
        " ".join(dict.fromkeys(w.kind.value for w in row.warnings if preset is None or w.preset is preset)),
    )
    return dict(zip(OWN, values, strict=True))
