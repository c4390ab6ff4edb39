"""Results of tests beside the MRR for the records of `sample_records`: searches, loads, a table. All made up."""

import dataclasses
import functools
from collections.abc import Sequence

from hdrh.histogram import HdrHistogram

from nfvbed.compare.rows.rundata import RunData
from nfvbed.records import CoreDistance, DirectionCounts, Engine, QualityWarning, Record, Status, TrialRecord
from nfvbed.records.headlines import HEADLINES
from nfvbed.records.results import (
    LoadPoint,
    LoadsPayload,
    MeasuredRow,
    Quantity,
    Reference,
    ResultKind,
    ResultRecord,
    TablePayload,
)
from nfvbed.search.result import Bound, GoalResult, LoadRange, PlacementSummary, SearchResult
from nfvbed.search.stop import Irregularity
from nfvbed.search.voidsummary import VoidSummary
from nfvbed.spec.search import Search, SearchSpec
from nfvbed.spec.searchpresets import PRESETS
from tests.sample_records import NS, RUN

BRIDGE, OVS, TESTPMD = "linux-bridge/p2p/64", "ovs-dpdk/p2p/64", "reference:vhost-user/p2p/64"
PDR_OF = {BRIDGE: 960_000, OVS: 11_200_000}
START = "2026-01-02T03:10:00Z"


def with_tests(data: RunData, rounds: int = 3) -> RunData:
    """Return the run with tests of both variants: three searches each, two curves of loads, a soak, a table."""
    trials, results = list(data.trials), list(data.results)
    for number in range(1, rounds + 1):
        for cell, pdr in PDR_OF.items():
            results.append(_search(cell, number, pdr))
    for cell, pdr in PDR_OF.items():
        curve = [(fraction, max(0.0, 1 - 1 / fraction)) for fraction in (1.2, 1.0, 0.5)]
        results.append(_loads(trials, (cell, ResultKind.LOSS_CURVE), pdr, curve))
        results.append(_loads(trials, (cell, ResultKind.LATENCY), pdr, [(0.01, 0.0), (0.5, 0.0), (0.9, 0.002)]))
        results.append(_loads(trials, (cell, ResultKind.SOAK), pdr, [(0.5, 0.0), (0.5, 0.00001)]))
        results.append(_table(cell))
    blocked = _result(OVS, ResultKind.CONTINUOUS, 1, None)
    results.append(blocked.model_copy(update={"status": Status.BLOCKED, "reason": "no <NDR> was found to go by"}))
    return dataclasses.replace(data, trials=tuple(trials), results=tuple(results))


def with_relative(data: RunData, rounds: int = 6) -> RunData:
    """Return the run with clean-trial searches on Open vSwitch and on testpmd in its place; one round makes no pair."""
    found = [
        _clean_search(cell, number, pdr)
        for number in range(1, rounds + 1)
        for cell, pdr in ((OVS, 8_000_000 + 40_000 * (number % 3)), (TESTPMD, 11_000_000))
    ]
    return dataclasses.replace(data, results=(*data.results, *found))


def _clean_search(cell: str, number: int, pdr: int) -> ResultRecord:
    search = SearchSpec(preset="csit-quick").resolved()
    void = VoidSummary(limit_s=search.clean_limit_s, trials=70, void_trials=7 + number, generator_trials=3,
                       system_trials=4 + number, steal_step_s=0.0, share_at_most=0.2)  # fmt: skip
    base = SearchResult.model_validate(_search(cell, number, pdr).payload)
    lacking = (Irregularity.VOID_TRIALS, "more than half of the trials were void") if number == 2 else (None, "")
    goals = tuple(
        goal.model_copy(
            update={"irregularity": lacking[0], "explanation": lacking[1], "upper_bound": goal.upper_bound or low}
        )
        for goal in base.goals
        if (low := goal.lower_bound) is not None
    )
    changes = {"search": search, "label": search.labelled(void.words), "excludes": search.excludes, "void": void}
    found = base.model_copy(
        update={**changes, "goals": goals, "relative_to": TESTPMD if cell == OVS else None, "trials": 60}
    )
    return _result(cell, ResultKind.SEARCH, number, found).model_copy(update={"test": "relative"})


def _result(cell: str, kind: ResultKind, number: int, payload: Record | None, *trials: TrialRecord) -> ResultRecord:
    return ResultRecord(
        run=RUN,
        cell=cell,
        round=number,
        test=kind.value,
        kind=kind,
        placement_class="near",
        warnings=tuple(dict.fromkeys(warning for trial in trials for warning in trial.warnings)),
        first_sequence=trials[0].sequence if trials else None,
        last_sequence=trials[-1].sequence if trials else None,
        started_at=START,
        ended_at=START,
        payload=payload.model_dump(mode="json") if payload else {},
    )


def _search(cell: str, number: int, pdr: int) -> ResultRecord:
    """Return a search in which only the bridge scatters, and whose PDR on Open vSwitch is the generator's ceiling."""
    preset = PRESETS["csit-quick"]
    pps = round(pdr * (1 + (0.1 if cell == BRIDGE else 0.001) * (number - 2)))
    goals = []
    for goal, share in zip(preset.goals, (0.9, 1.0), strict=True):
        limited = cell == OVS and goal.name == "PDR"
        low, high = (
            Bound(
                load_pps=round(pps * share * wide),
                trials=11,
                bad_trials=bad,
                good_s=2.75,
                bad_s=0.25 * bad,
                intended_frames=1_000_000,
                lost_frames=2000 * bad,
                unsent_frames=0,
                back_pressure_trials=0,
                full_generator_trials=0,
                generator_trials=0,
            )
            for wide, bad in ((1.0, 0), (1.008, 11))
        )
        goals.append(
            GoalResult(
                goal=goal,
                irregularity=Irregularity.GENERATOR_LIMITED if limited else None,
                explanation="the generator's ceiling of 11.2 Mpps was reached" if limited else "",
                conditional_throughput_pps=low.load_pps - 10,
                lower_bound=low,
                upper_bound=None if limited else high,
            )
        )
    search = Search(**preset.model_dump(include={"goals", "time_limit_s", "warmup_s", "placement_wait_s"}),
                    preset=preset.name, min_load_pps=10_000, max_load_pps=None, trial_overhead_s=0.15)  # fmt: skip
    found = SearchResult(
        search=search,
        label=search.label,
        loads=LoadRange(min_load_pps=10_000, max_load_pps=15_900_000, limit=Irregularity.GENERATOR_LIMITED),
        directions=2,
        goals=tuple(goals),
        trials=60,
        trial_time_s=17.5,
        duration_s=30.1,
        placement=PlacementSummary(
            label="near", rejected_trials=1, changed_trials=number == 3 and cell == OVS, changes_per_trial=0.0
        ),
    )
    stolen = (QualityWarning.CPU_STOLEN,) if cell == BRIDGE else ()
    return _result(cell, ResultKind.SEARCH, number, found).model_copy(update={"warnings": stolen})


def _loads(
    trials: list[TrialRecord], what: tuple[str, ResultKind], pdr: int, curve: Sequence[tuple[float, float]]
) -> ResultRecord:
    cell, kind = what
    mine = []
    points = []
    for fraction, loss in curve:
        trial = _trial(cell, len(trials) + 1, (round(pdr * fraction), loss))
        trials.append(trial)
        mine.append(trial)
        points.append(
            LoadPoint(
                sequence=trial.sequence,
                fraction=fraction,
                intended_load_pps=trial.intended_load_pps or 0,
                offered_load_pps=trial.offered_load_pps,
                forwarded_rate_pps=trial.forwarded_rate_pps,
                intended_frames=sum(direction.intended for direction in trial.directions),
                lost_frames=sum(direction.lost for direction in trial.directions),
                unsent_frames=0,
                duration_ns=trial.duration_ns,
            )
        )
    reference = Reference(of="PDR", load_pps=pdr, regular=cell == BRIDGE, placement_class="near")
    return _result(cell, kind, 1, LoadsPayload(reference=reference, points=tuple(points)), *mine)


def _trial(cell: str, sequence: int, asked: tuple[int, float]) -> TrialRecord:
    load, loss = asked
    sent = load // 2
    lost = round(sent * loss)
    counts = DirectionCounts(intended=sent, sent=sent, received=sent - lost, lost=lost)
    base = 9_000 if cell == BRIDGE else 4_000
    return TrialRecord(
        run=RUN,
        cell=cell,
        sequence=sequence,
        round=1,
        preset=ResultKind.LATENCY,
        started_at=START,
        intended_load_pps=load,
        offered_load_pps=2 * sent,
        forwarded_rate_pps=2 * (sent - lost),
        directions=(counts, counts),
        duration_ns=NS,
        latency_hdr=(_histogram(base, load), _histogram(2 * base, load)),
        core_distance_ns=CoreDistance(before=30.0, after=31.0),
        engine=Engine(name="nfvgen-dpdk", version="0.1.0"),
        warnings=(QualityWarning.REORDERED,) if cell == OVS and loss else (),
    )


@functools.cache
def _histogram(base_ns: int, load_pps: int) -> str:
    """Return 100,000 frames whose latency grows with the load and has a tail."""
    histogram = HdrHistogram(1, 60 * NS, 3)
    for step in range(1000):
        tail = (step / 1000) ** 40 * 300_000
        histogram.record_value(int(base_ns * (0.7 + 0.6 * step / 1000) + load_pps / 1000 + tail), 100)
    return histogram.encode().decode("ascii")


def _table(cell: str) -> ResultRecord:
    rows = tuple(
        MeasuredRow(
            label=f"{flows:,} flow{'s' if flows > 1 else ''}",
            parameters={"flows": flows},
            quantities=(
                Quantity(name="rate", value=PDR_OF[cell] / (1 + flows / 1e6), unit="frames/s"),
                Quantity(name="loss", value=0.0, unit="%"),
            ),
        )
        for flows in (1, 1_000_000)
    )
    notes = ("Flows are UDP ports in turn.",)
    return _result(cell, ResultKind.FLOW_SCALING, 1, TablePayload(rows=rows, notes=notes))


DECOY = "what nobody asked for"
"""A quantity before all others, which is never what is read first."""


def headline_value(kind: ResultKind, place: int) -> float:
    """Return the value of a kind's headline quantity at this place in `of_every_kind`; no other has it."""
    return 100 + 10 * list(ResultKind).index(kind) + place


def of_every_kind(data: RunData, warnings: tuple[QualityWarning, ...]) -> RunData:
    """Return the run with one result of each kind on Open vSwitch, all of whose trials carry these warnings.

    In tables the headline's quantities come last and in the wrong order, after one that is not read first.
    """
    trials, results = list(data.trials), list(data.results)
    for kind in ResultKind:
        begin = len(trials)
        if kind is ResultKind.SEARCH:
            record = _search(OVS, 1, 6_000_000)
        elif kind.has_loads:
            record = _loads(trials, (OVS, kind), 6_000_000, [(0.5, 0.25)])
        else:
            named = [
                Quantity(name=name, value=headline_value(kind, place), unit="")
                for place, name in enumerate(HEADLINES[kind])
            ]
            decoy = Quantity(name=DECOY, value=99_999.0, unit="")
            further = MeasuredRow(label="an addition", quantities=(Quantity(name="extra", value=1.0, unit=""),))
            row = MeasuredRow(label=f"condition of {kind.value}", quantities=(decoy, *reversed(named)))
            record = _result(OVS, kind, 1, TablePayload(rows=(row, further)))
        trials[begin:] = [trial.model_copy(update={"warnings": warnings}) for trial in trials[begin:]]
        results.append(record.model_copy(update={"warnings": warnings}))
    return dataclasses.replace(data, trials=tuple(trials), results=tuple(results))
