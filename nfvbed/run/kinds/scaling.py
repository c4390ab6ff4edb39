"""Executes the tests that scale something: every row has its warm-up and its trials, all in one placement class."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median_low

from nfvbed.compare.rows.latency import LatencySummary, merge_latency
from nfvbed.dataplanes.tables import ForwardingTable, TableNotApplicable, closing
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.records import Status, TrialRecord
from nfvbed.records.missing import missing_of
from nfvbed.records.results import MeasuredRow, Quantity, TablePayload
from nfvbed.run.kinds.celltest import CellTest, Outcome, PlacementClassFilter
from nfvbed.spec.testkinds.scaling import FlowScalingTest, ScalingTest, TableScalingTest
from nfvbed.traffic.generator import TrafficRequest
from nfvbed.units import NS_PER_S

NS_PER_US = 1_000
OF_THE_FIRST = "against the first row"


@dataclass(frozen=True)
class Condition:
    """The traffic and the parameters of one row."""

    label: str
    parameters: dict[str, str | int | float]
    request: TrafficRequest
    """Without load and duration."""
    quantities: tuple[Quantity, ...] = ()
    """Quantities that are known before."""


@dataclass(frozen=True)
class _TrialFigures:
    """The figures of one trial."""

    trial: TrialRecord
    rate_pps: int
    missing_percent: float
    latency: LatencySummary | None


class RowMeter:
    """Measures the rows of one test.

    Args:
        spec: the load, and how often it is measured.

    Raises:
        MissingReference: the load is a part of one that was not measured.
    """

    def __init__(self, cell_test: CellTest, spec: ScalingTest) -> None:
        self._cell_test = cell_test
        self._spec = spec
        self.reference, self._load_pps = cell_test.given_load(spec)
        self._one_class = PlacementClassFilter(cell_test)
        self._first_pps: int | None = None

    def row(self, condition: Condition) -> MeasuredRow:
        """Warm up and measure; the row shows the median trial of those in the wanted class.

        Raises:
            SwitchDiedError, VnfDiedError, GeneratorError: as `Measurement.measure`.
        """
        request = self._request(condition.request)
        if self._spec.warmup_s:
            warm_up = replace(request, rate_pps=None, duration_ns=round(self._spec.warmup_s * NS_PER_S))
            self._cell_test.setup.measures.warm_up(warm_up)
        found = [self._trial(request) for _ in range(self._spec.trials)]
        alike = [seen for seen, fits in found if fits] or [seen for seen, _ in found]
        middle = median_low(seen.rate_pps for seen in alike)
        shown = next(seen for seen in alike if seen.rate_pps == middle)
        if self._first_pps is None:
            self._first_pps = shown.rate_pps
        return MeasuredRow(
            label=condition.label,
            parameters=condition.parameters,
            quantities=(*condition.quantities, *self._quantities(shown, alike)),
            sequence=shown.trial.sequence,
        )

    def _request(self, request: TrafficRequest) -> TrafficRequest:
        rate = None if self._load_pps is None else request.share_of(self._load_pps)
        return replace(request, rate_pps=rate, duration_ns=round(self._spec.duration_s * NS_PER_S))

    def _trial(self, request: TrafficRequest) -> tuple[_TrialFigures, bool]:
        """Measure one trial, and return also whether it is in the class of the test."""
        record = self._one_class.take(lambda: self._cell_test.measure(replace(self._cell_test.task(), request=request)))
        return _seen(record), self._one_class.fits

    def _quantities(self, shown: _TrialFigures, alike: list[_TrialFigures]) -> tuple[Quantity, ...]:
        rates = [seen.rate_pps for seen in alike]
        losses = [seen.missing_percent for seen in alike]
        quantities = [
            Quantity(name="rate", value=shown.rate_pps, unit="frames/s", low=min(rates), high=max(rates)),
            Quantity(name="missing frames", value=shown.missing_percent, unit="%", low=min(losses), high=max(losses)),
            Quantity(
                name=OF_THE_FIRST,
                value=100 * shown.rate_pps / self._first_pps if self._first_pps else None,
                unit="%",
            ),
        ]
        cycles = shown.trial.cost.cycles_per_packet if shown.trial.cost is not None else None
        if cycles is not None:
            quantities.append(Quantity(name="cycles per packet", value=round(cycles, 1), unit=""))
        if self._load_pps is not None and shown.latency is not None:
            for name, value in (("P50", shown.latency.p50_ns), ("P99", shown.latency.p99_ns)):
                quantities.append(Quantity(name=f"latency {name}", value=value / NS_PER_US, unit="us"))
        return tuple(quantities)


def _seen(trial: TrialRecord) -> _TrialFigures:
    """Read a trial as searches do: what a port refused at a given load is missing, what came too late is not."""
    latency = merge_latency(text for text in trial.latency_hdr if text)
    return _TrialFigures(trial, trial.forwarded_rate_pps, 100 * (missing_of([trial]) or 0.0), latency)


def counted(number: int, what: str) -> str:
    """Return a number of things, given in the plural: `1 flow`, `1,000 entries`."""
    if number != 1:
        return f"{number:,} {what}"
    return f"1 {what[:-3]}y" if what.endswith("ies") else f"1 {what[:-1]}"


_FLOW_NOTE = "flows are per direction, sent in turn; they differ in source address and UDP source port"


def flow_scaling(cell_test: CellTest, spec: FlowScalingTest) -> Outcome[TablePayload]:
    """Measure a row for each number of flows.

    Raises:
        ConfigurationError: the generator does not have so many flows.
        MissingReference: the load is a part of one that was not measured.
    """
    most = cell_test.setup.info.max_flows
    if spec.counts[-1] > most:
        raise ConfigurationError(
            f"{spec.counts[-1]:,} flows are more than the generator has",
            where="counts",
            observed=f"it sends 1 to {most:,}",
            fix="leave the largest out",
        )
    meter = RowMeter(cell_test, spec)
    traffic = cell_test.task().request
    conditions = (
        Condition(counted(flows, "flows"), {"flows": flows}, replace(traffic, flows=flows)) for flows in spec.counts
    )
    rows = tuple(meter.row(condition) for condition in conditions)
    return Outcome(TablePayload(reference=meter.reference, rows=rows, notes=(_FLOW_NOTE,)))


def table_scaling(cell_test: CellTest, spec: TableScalingTest) -> Outcome[TablePayload]:
    """Measure a row for each number of entries, in a table that is filled for it; afterwards the table is as before.

    Raises:
        ConfigurationError: frames cannot distinguish so many entries.
        UnsupportedError: the entries are of IPv4, or another program writes the table.
        DeployError: the table does not take the entries.
        MissingReference: the load is a part of one that was not measured.
    """
    setup = cell_test.setup
    try:
        table = setup.site.forwarding_table(setup.deployment, setup.variant)
    except TableNotApplicable as why:
        return Outcome(None, Status.NOT_APPLICABLE, str(why))
    traffic = cell_test.task().request
    _check_table(table, spec, traffic)
    meter = RowMeter(cell_test, spec)
    with closing(table):
        rows = tuple(_table_rows(meter, table, spec, traffic))
    return Outcome(TablePayload(reference=meter.reference, rows=rows, notes=table.notes))


def _table_rows(
    meter: RowMeter, table: ForwardingTable, spec: TableScalingTest, traffic: TrafficRequest
) -> Iterator[MeasuredRow]:
    for entries in spec.counts:
        filling = table.fill(entries, traffic.directions)
        hit = filling.flows * traffic.directions
        parameters: dict[str, str | int | float] = {"entries": entries, "flows": filling.flows}
        known = (
            Quantity(name="in the table", value=filling.entries, unit=""),
            Quantity(name="hit by frames", value=hit, unit=""),
            Quantity(name="filled in", value=filling.duration_ns / NS_PER_S, unit="s"),
        )
        request = replace(traffic, flows=filling.flows, addressing=filling.addressing)
        yield meter.row(Condition(counted(entries, table.entry), parameters, request, known))


def _check_table(table: ForwardingTable, spec: TableScalingTest, traffic: TrafficRequest) -> None:
    if traffic.ip != 4:
        raise UnsupportedError(
            "table entries are of IPv4", where="traffic, ip", observed=str(traffic.ip), fix="traffic: {ip: 4}"
        )
    if spec.counts[-1] > table.most:
        raise ConfigurationError(
            f"{spec.counts[-1]:,} {table.entry} are more than frames can distinguish",
            where="counts",
            observed=f"at most {table.most:,}",
            fix="leave the largest out",
        )
