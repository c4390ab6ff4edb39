"""The runs of one setting as CSV, for other programs. Numbers are not rounded."""

import csv
import io

from nfvbed.report.trend import Trend, run_state

COLUMNS = (
    "run", "started_at", "setting", "test", "value", "unit", "state", "changed", "host_hash", "rig_hash", "config_hash",
    "simulated",
)  # fmt: skip


def trend_to_csv(trend: Trend) -> str:
    """Write one line for each run, the oldest first."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    changes = {change.place: "; ".join(change.what) for change in trend.changes}
    setting = trend.series.setting
    for place, entry in enumerate(trend.series.measured):
        state = run_state(trend.series.finding, place)
        hashes = (entry.host_hash, entry.rig_hash, entry.config_hash)
        writer.writerow(
            (entry.run, entry.at, setting.name, setting.test, entry.value, entry.unit, state, changes.get(place, ""),
             *hashes, int(setting.simulated))
        )  # fmt: skip
    return text.getvalue()
