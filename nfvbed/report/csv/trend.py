"""The runs of one setting as CSV, for other programs. Numbers are not rounded."""

import csv
import io

from nfvbed.characters import guarded
from nfvbed.compare.series import ExcludedRun, Series, SettingFigure
from nfvbed.report.csv.export import Value
from nfvbed.report.trend import Trend, run_state

COLUMNS = (
    "run", "started_at", "setting", "test", "value", "unit", "state", "changed", "host_hash", "rig_hash", "config_hash",
    "simulated", "status", "reason", "warnings",
)  # fmt: skip
NO_SAMPLE = "no sample"
"""State of a run that failed or was interrupted."""


def trend_to_csv(trend: Trend) -> str:
    """Return one line for each run, the oldest first; one that is no sample has its state, and no value."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    changed = {change.run: "; ".join(change.what) for change in trend.changes}
    for entry in trend.series.all_runs:
        fields = _left_out(entry) if isinstance(entry, ExcludedRun) else _sample(trend.series, entry)
        fields |= _named(trend.series, entry) | {"changed": changed.get(entry.run)}
        writer.writerow({name: guarded(value) for name, value in fields.items()})
    return text.getvalue()


def _named(series: Series, entry: SettingFigure | ExcludedRun) -> dict[str, Value]:
    return {
        "run": entry.run,
        "started_at": entry.at,
        "setting": series.setting.name,
        "test": series.setting.test,
        "unit": series.unit,
        "simulated": int(series.setting.simulated),
        "status": entry.status.value,
    }


def _left_out(entry: ExcludedRun) -> dict[str, Value]:
    return {"state": NO_SAMPLE, "reason": entry.reason}


def _sample(series: Series, entry: SettingFigure) -> dict[str, Value]:
    return {
        "value": entry.value,
        "state": run_state(series.finding, series.measured.index(entry)),
        "host_hash": entry.host_hash,
        "rig_hash": entry.rig_hash,
        "config_hash": entry.config_hash,
        "warnings": " ".join(kind.value for kind in entry.warnings),
    }
