"""Writes the rows of a comparison in the columns of VSPERF's result files, for programs that read those.

nfvbed's own columns follow at the end (`nfvbed_`): a number never leaves without its placement class, limits and
warnings, and a simulated one never without saying so.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from nfvbed.characters import guarded
from nfvbed.compare.comparison import Comparison
from nfvbed.compare.rows.placement import SINGLE
from nfvbed.compare.rows.rundata import RunData
from nfvbed.compare.rows.summary import NOT_TESTED, CellSummary
from nfvbed.compare.rows.testresults import MeasuredTest
from nfvbed.compare.rows.visits import ALL_STATES
from nfvbed.records import CellRole, Preset, Status, TrialRecord
from nfvbed.report.csv.export import Value, written_once
from nfvbed.spec.layout import chain_length, layout
from nfvbed.units import mean_frame_size_bytes
from nfvbed.vsperf.conf.columns import COLUMNS
from nfvbed.vsperf.conf.testids import SWITCH_OF, TEST_IDS, TestKind
from nfvbed.vsperf.export.fields import OWN, TYPE_OF, own, rates, span_of_trial, times
from nfvbed.vsperf.export.tests import COUNT_COLUMNS, kind_of, lines_of_tests

MEAN_SIZE: Final = "imix_avg_framesize"
PRESETS: Final = (Preset.MRR, Preset.PACED, Preset.COMMON)
_VSWITCH: Final = {switch.variant: name for name, switch in SWITCH_OF.items()}
_WITH_OWN_IDS: Final = {switch.variant for switch in SWITCH_OF.values() if switch.tests}
"""Variants that IDs of tests name; the IDs of all others name none."""


def to_vsperf_csv(comparison: Comparison, data: Sequence[RunData]) -> str:
    """Return a line for each row at maximum load, its paced trials, and each test that VSPERF has too.

    A missing number is never 0; a cell without any of these has a line with the reason.

    Args:
        data: the runs, for the times and latency of the trials behind each row.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, (*COLUMNS, *COUNT_COLUMNS, MEAN_SIZE, *OWN), lineterminator="\n")
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
        and row.placement_class in (ALL_STATES, labels.get((row.run, trial.sequence), SINGLE))
    ]
    by_preset = {preset: [trial for trial in used if trial.preset is preset] for preset in PRESETS}
    conditions = _conditions(row)
    for preset, trials in by_preset.items():
        if trials:
            named = _named(row, TestKind.MAXIMUM_LOAD, entry)
            reported = times(map(span_of_trial, trials)) | _own(row, preset, trials)
            yield rates(row, trials) | conditions | named | reported
    tests = [test for test in comparison.tests if (test.run, test.cell) == (row.run, row.cell)]
    lines = list(lines_of_tests(row, [test for test in tests if test.shown], entry))
    yield from (conditions | _named(row, kind, entry) | fields for kind, fields in lines)
    if not any(by_preset.values()) and not lines:
        asked = {kind for test in tests if (kind := kind_of(test.result)) is not None}
        if _at_maximum_load(entry):
            asked.add(TestKind.MAXIMUM_LOAD)
        # Of several tests none is named, as the line is none of them.
        named = _named(row, asked.pop(), entry) if len(asked) == 1 else {"id": entry.run.experiment}
        yield conditions | named | _nothing(row, tests, comparison)


def _at_maximum_load(entry: RunData) -> bool:
    """Return whether trials at maximum load of variants are among the run's tests, by those that were measured."""
    subjects = {cell.id for cell in entry.cells if cell.role is CellRole.SUBJECT}
    return any(trial.preset is Preset.MRR and trial.cell in subjects for trial in entry.trials)


def _nothing(row: CellSummary, tests: Sequence[MeasuredTest], comparison: Comparison) -> dict[str, Value]:
    """Return the reason why a row has no numbers."""
    if row.reason != NOT_TESTED:
        return _own(row, None, ())
    hidden = Counter(test.placement_class for test in tests if not test.shown)
    if hidden:
        elsewhere = ", ".join(f"{count} {label}" for label, count in hidden.items())
        wanted = next(host.choice.name for host in comparison.placement if host.host_hash == row.host_hash)
        reason = f"placement: no test in class {wanted} ({elsewhere})"
        return _own(row, None, (), status=Status.BLOCKED.value, reason=reason)
    names = ", ".join(dict.fromkeys(test.result.test for test in tests))
    return _own(row, None, (), reason=f"VSPERF has no columns for: {names}" if names else "no test of it has ended")


def _named(row: CellSummary, kind: TestKind, entry: RunData) -> dict[str, Value]:
    """Return VSPERF's names for a test: type and ID."""
    return {"type": TYPE_OF[kind], "id": _test_id(row, kind) or entry.run.experiment}


def _conditions(row: CellSummary) -> dict[str, Value]:
    fields: dict[str, Value] = {
        "packet_size": row.frame_size,
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
    """Return VSPERF's name of a topology (`pv4p`: `pvvp4`); nfvbed's own where VSPERF lacks the path."""
    length = chain_length(topology)
    if length is None:
        return topology
    return {1: "pvp", 2: "pvvp"}.get(length, f"pvvp{length}")


def _test_id(row: CellSummary, kind: TestKind) -> str | None:
    """Return VSPERF's ID of the same test: the one with as many flows, else the one without a number of flows."""
    deployment = deployment_of(row.topology)
    # To VSPERF both are continuous streams, whose load is a setting (TRAFFIC['frame_rate']) and no part of the ID.
    kind = TestKind.MAXIMUM_LOAD if kind is TestKind.GIVEN_LOAD else kind
    variant = row.variant if row.variant in _WITH_OWN_IDS else None
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


def _own(row: CellSummary, preset: Preset | None, trials: Sequence[TrialRecord], **reported: Value) -> dict[str, Value]:
    interval = row.mrr.interval if row.mrr and preset is Preset.MRR else None
    usual: dict[str, Value] = {
        "preset": preset.value if preset else None,
        "simulated": int(row.simulated),
        "status": row.status.value,
        "reason": row.reason,
        "trials": len(trials),
        "rx_low_fps": interval.low if interval else None,
        "rx_high_fps": interval.high if interval else None,
        "placement_class": row.placement_class,
        "limits": " ".join(limit.kind.value for limit in row.limits),
        "warnings": written_once(w.kind for w in row.warnings if preset is None or w.preset is preset),
    }
    return own(row, **(usual | reported))
