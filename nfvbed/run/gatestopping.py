"""Looks at a gate between its rounds: points that passed stop, and all of them where the gate is decided."""

from collections.abc import Mapping, Sequence
from typing import Final

from nfvbed.compare.gating import BASELINE, CANDIDATE, REFERENCE, GatePoint, GateRules, decided_points
from nfvbed.compare.rows.visits import Visit, pair
from nfvbed.compare.sofar import visits_by_cell
from nfvbed.plan.cells import CellPlan
from nfvbed.records.trafficpoint import TrafficPoint
from nfvbed.run.looks import Look

SIDES: Final = frozenset({BASELINE, CANDIDATE, REFERENCE})


class GateStoppingRule:
    """The rule of a gate's looks, for `Tools.decide`; it judges as the gate will, limits left aside."""

    def __init__(self, rules: GateRules) -> None:
        self._rules = rules
        self._cells: dict[TrafficPoint, dict[str, CellPlan]] = {}
        """Those of all points that were ever open: a point that passed still counts among them."""

    def __call__(self, look: Look) -> frozenset[TrafficPoint]:
        """Return the points of which no further round would change anything: decided, or a side was given up."""
        open_now = {point: {cell.variant: cell for cell in cells} for point, cells in look.points.items()}
        incomplete = frozenset(point for point, cells in open_now.items() if not cells.keys() >= SIDES)
        self._cells |= {point: cells for point, cells in open_now.items() if point not in incomplete}
        visits = visits_by_cell(look.trials)
        named = {cells[BASELINE].id: point for point, cells in self._cells.items()}
        points = [_point(cells, visits) for cells in self._cells.values()]
        decided = frozenset(named[name] for name in decided_points(points, self._rules))
        return (decided | incomplete) & look.points.keys()


def _point(cells: Mapping[str, CellPlan], visits: Mapping[str, Sequence[Visit]]) -> GatePoint:
    baseline = cells[BASELINE]
    own = visits.get(baseline.id, ())
    pairs = {name: pair(visits.get(cells[name].id, ()), own) for name in (CANDIDATE, REFERENCE)}
    return GatePoint(
        name=baseline.id,
        topology=baseline.topology,
        vnf=baseline.vnf,
        frame_size=baseline.frame_size,
        pairs=pairs[CANDIDATE],
        reference=pairs[REFERENCE],
    )
