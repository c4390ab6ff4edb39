"""The runs of one setting in order of time, out of the rows of a comparison of them."""

from collections.abc import Mapping, Sequence

from nfvbed.compare.steps import RunFigure, SeriesFinding, find_steps
from nfvbed.compare.summary import CellSummary
from nfvbed.records import Record


class Series(Record):
    """One setting over time."""

    setting: str
    """Its name, unique among settings: what an acknowledgement is about."""
    variant: str
    finding: SeriesFinding


def setting_of(row: CellSummary) -> str:
    """Name what rows must share to be a series: host, rig, variant and traffic.

    Configurations and versions may differ from run to run: what they do is what a series is looked at for.
    """
    way = "both ways" if row.bidirectional else "one way"
    return f"{row.cell} {row.flows} flows {way} host {row.host_hash[:12]} rig {row.rig_hash[:12]}"


def find_series(rows: Sequence[CellSummary], began: Mapping[str, str]) -> tuple[Series, ...]:
    """Find the settings that several runs measured, and what their rates did over time.

    Rates of emulated guests are in none; a simulation is never in one with a measurement, as its host is another.

    Args:
        rows: of the runs.
        began: when each run began, by its id; UTC, ISO 8601.
    """
    groups: dict[str, list[CellSummary]] = {}
    for row in rows:
        if row.mrr is not None and not row.emulated:
            groups.setdefault(setting_of(row), []).append(row)
    found = []
    for setting, members in groups.items():
        if len(members) < 2:
            continue
        ordered = sorted(members, key=lambda row: (began[row.run], row.run))
        figures = [RunFigure(run=row.run, at=began[row.run], value=row.mrr.median_pps) for row in ordered if row.mrr]
        found.append(Series(setting=setting, variant=ordered[0].variant, finding=find_steps(figures)))
    return tuple(found)
