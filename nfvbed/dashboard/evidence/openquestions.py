"""What a host's grid leaves open, and the commands that would decide it."""

from collections.abc import Sequence
from itertools import islice
from typing import Final

from nfvbed.compare.commands import MOST_COMPARED, deciding_command, vnf_setting
from nfvbed.compare.recommendation.recommendation import Measures
from nfvbed.compare.rows.summary import CellSummary
from nfvbed.compare.verdict import Verdict
from nfvbed.dashboard.results.hostgrid import HostGrid, RatedRun, RateState
from nfvbed.records import Record

MOST_PROPOSED: Final = 3
"""Commands on a page: each takes up to an hour."""
ONE_LENGTH: Final = "chains=null"
"""A path is measured as it is, whatever chains its experiment has."""
REBUILT_FROM: Final = frozenset({"name", "kind", "forwarding"})
"""Keys of a VNF's description by which it can be asked for again; without them it is the experiment's."""


class OpenQuestion(Record):
    """Variants that are not decided against the baseline on a path."""

    path: str
    variants: tuple[str, ...]
    """Without the baseline."""
    command: str
    """Compares as many of them as one comparison decides; empty: no experiment here can."""
    compared: tuple[str, ...]
    """That are in it, without the baseline."""


def open_questions(grid: HostGrid, rated: Sequence[RatedRun], measures: Measures) -> tuple[OpenQuestion, ...]:
    """Return what is open on each path, those paths first on which most is.

    Args:
        grid: of these runs.
        rated: runs of one host, the newest first.
        measures: is asked whether a command would measure its variants, before it is proposed.
    """
    rows = {(row.run, row.cell): (entry, row) for entry in rated for row in entry.rows}
    found = []
    for place, path in enumerate(grid.paths):
        at_path = [(line.variant, line.cells[place]) for line in grid.rows]
        judged_open = [(name, cell) for name, cell in at_path if is_open(cell.state, cell.verdict)]
        base = next((cell for _, cell in at_path if cell.state is RateState.BASELINE), None)
        if base is None or not judged_open:
            continue
        entry, row = rows[base.run, base.cell]
        others = [rows[cell.run, cell.cell][1] for _, cell in judged_open]
        found.append((path, entry, row, others))
    found.sort(key=lambda one: -len(one[3]))
    questions = [_question(path, entry, row, others, measures) for path, entry, row, others in found[:MOST_PROPOSED]]
    rest = (
        OpenQuestion(path=path, variants=tuple(other.variant for other in others), command="", compared=())
        for path, _, _, others in found[MOST_PROPOSED:]
    )
    return (*questions, *rest)


def is_open(state: RateState, verdict: Verdict | None) -> bool:
    """Return whether more rounds beside the baseline could decide a rate."""
    return state is RateState.NOT_PAIRED or verdict is Verdict.UNDECIDED


def _question(
    path: str, entry: RatedRun, row: CellSummary, others: Sequence[CellSummary], measures: Measures
) -> OpenQuestion:
    rig = entry.rigs.get(row.rig_hash, {}).get("vnf") or {}
    vnf = vnf_setting(row.vnf, rig if rig.keys() >= REBUILT_FROM else {}) if row.vnf else ""
    settings = (ONE_LENGTH, *((vnf,) if vnf else ()))

    def command(with_: Sequence[CellSummary]) -> str:
        names = (row.variant, *(other.variant for other in with_))
        place = row.topology, row.frame_size
        return deciding_command(entry.run.experiment, names, place, settings, entry.rules.looks[-1])

    def measured(with_: Sequence[CellSummary]) -> bool:
        cells = measures(command(with_))
        return all(one.cell in cells for one in (row, *with_))

    fitting = list(islice((other for other in others if measured([other])), MOST_COMPARED - 1))
    proposed = fitting if fitting and (len(fitting) == 1 or measured(fitting)) else fitting[:1]
    return OpenQuestion(
        path=path,
        variants=tuple(other.variant for other in others),
        command=command(proposed) if proposed else "",
        compared=tuple(other.variant for other in proposed),
    )
