"""`python bench/gate_rounds.py RUN FILE`: keep the rounds of a run, for `bench-gate` to make gates of.

A run of three equal installations of a variant (an experiment whose `altered` has it thrice without options) is kept as
their log ratios to each other, round by round, paired as every comparison pairs them. Of a run of two variants each
point's log ratios are kept by themselves, less their median: real rounds whose truth was made 1.
"""

import argparse
import json
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

import program

from nfvbed.cli.settings import open_store
from nfvbed.compare.comparison import compare
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.rows.visits import pair
from nfvbed.dataplanes.catalogue import VariantModel, open_project
from nfvbed.report.load import LoadedRuns, load, make_options
from nfvbed.report.newest import AS_STORED
from nfvbed.report.page.head import machine

LEAST_ROUNDS = 6
EQUALS = 3


def kept(loaded: LoadedRuns, name: str) -> list[dict[str, Any]]:
    """Return what is kept of a run: all points together of equal installations, else each by itself."""
    comparison = compare(loaded.data, make_options(loaded, {**AS_STORED, "margin": 0.05}))
    points: dict[str, list[CellSummary]] = {}
    for row in comparison.rows:
        if row.mrr is not None and row.mrr.rounds >= LEAST_ROUNDS:
            points.setdefault(row.cell.partition("/")[2], []).append(row)
    data = loaded.data[0]
    stolen = comparison.hosts[0].stolen_ratio
    about = {
        "machine": machine(data.host),
        "began": data.run.started_at[:16],
        "stolen": None if stolen is None else round(stolen, 3),
    }
    found = {point: _ratios(rows) for point, rows in points.items() if len(rows) > 1}
    if all(len(rows) == EQUALS for rows in points.values()):
        return [{"name": name, **about, "equals": True, "points": found}]
    return [
        {"name": f"{name}, {point}", **about, "equals": False, "points": {point: ratios}}
        for point, ratios in found.items()
    ]


def _ratios(rows: list[CellSummary]) -> dict[str, list[float]]:
    """Return the log ratios of each two rows, by their places, in order of rounds."""
    found = {}
    for one, other in combinations(range(len(rows)), 2):
        first, second = rows[one].mrr, rows[other].mrr
        assert first is not None and second is not None
        logs = [entry.log_ratio for entry in pair(second.visits, first.visits)]
        centre = 0.0 if len(rows) == EQUALS else median(logs)
        found[f"{other}/{one}"] = [round(value - centre, 5) for value in logs]
    return found


def main() -> int:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", help="id, label, or latest")
    parser.add_argument("file", type=Path, help="rounds are added to it")
    parser.add_argument("--name", required=True, help="of the rounds, in tables")
    parser.add_argument("--store", help="default: as nfvbed has it")
    arguments = parser.parse_args()
    with open_store(open_project(None), arguments.store) as opened:
        loaded = load(opened, [arguments.run], VariantModel)
    before = json.loads(arguments.file.read_text()) if arguments.file.exists() else []
    added = kept(loaded, arguments.name)
    others = [entry for entry in before if entry["name"] not in [one["name"] for one in added]]
    arguments.file.write_text(json.dumps([*others, *added], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    program.run(main)
