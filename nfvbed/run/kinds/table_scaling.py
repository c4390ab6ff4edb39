"""Executes the test of the rate by the number of table entries."""

from collections.abc import Iterator
from dataclasses import replace

from nfvbed.dataplanes.tables import ForwardingTable, TableNotApplicable, closing
from nfvbed.errors import ConfigurationError, UnsupportedError
from nfvbed.records import Status
from nfvbed.results import MeasuredRow, Quantity, TablePayload
from nfvbed.run.kinds.bench import Outcome, TestBench
from nfvbed.run.kinds.scaling import Condition, RowMeter, counted
from nfvbed.spec.testkinds.table_scaling import TableScalingTest
from nfvbed.traffic.generator import TrafficRequest
from nfvbed.units import NS_PER_S


def execute(bench: TestBench, spec: TableScalingTest) -> Outcome:
    """Measure a row for each number of entries, in a table that is filled for it; afterwards it is as before.

    Raises:
        ConfigurationError: frames cannot tell so many entries apart.
        UnsupportedError: entries are of IPv4, or somebody else writes the table.
        DeployError: the table does not take the entries.
        NothingToGoBy: the load is a part of one that was not measured.
    """
    setup = bench.setup
    try:
        table = setup.site.forwarding_table(setup.deployment, setup.variant)
    except TableNotApplicable as why:
        return Outcome(None, Status.NOT_APPLICABLE, str(why))
    traffic = bench.task().request
    _check(table, spec, traffic)
    meter = RowMeter(bench, spec)
    with closing(table):
        rows = tuple(_rows(meter, table, spec, traffic))
    return Outcome(TablePayload(reference=meter.reference, rows=rows, notes=table.notes))


def _rows(
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


def _check(table: ForwardingTable, spec: TableScalingTest, traffic: TrafficRequest) -> None:
    if traffic.ip != 4:
        raise UnsupportedError(
            "table entries are of IPv4", where="traffic, ip", observed=str(traffic.ip), fix="traffic: {ip: 4}"
        )
    if spec.counts[-1] > table.most:
        raise ConfigurationError(
            f"{spec.counts[-1]:,} {table.entry} are more than frames can tell apart",
            where="counts",
            observed=f"at most {table.most:,}",
            fix="leave the largest out",
        )
