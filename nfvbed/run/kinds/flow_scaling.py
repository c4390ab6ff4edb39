"""Executes the test of the rate by the number of flows."""

from dataclasses import replace

from nfvbed.errors import ConfigurationError
from nfvbed.results import TablePayload
from nfvbed.run.kinds.bench import Outcome, TestBench
from nfvbed.run.kinds.scaling import Condition, RowMeter, counted
from nfvbed.spec.testkinds.flow_scaling import FlowScalingTest

NOTE = "flows are per direction, sent in turn; they differ in source address and UDP source port"


def execute(bench: TestBench, spec: FlowScalingTest) -> Outcome:
    """Measure a row for each number of flows.

    Raises:
        ConfigurationError: the generator has not so many.
        NothingToGoBy: the load is a part of one that was not measured.
    """
    most = bench.setup.info.max_flows
    if spec.counts[-1] > most:
        raise ConfigurationError(
            f"{spec.counts[-1]:,} flows are more than the generator has",
            where="counts",
            observed=f"it sends 1 to {most:,}",
            fix="leave the largest out",
        )
    meter = RowMeter(bench, spec)
    traffic = bench.task().request
    conditions = (
        Condition(counted(flows, "flows"), {"flows": flows}, replace(traffic, flows=flows)) for flows in spec.counts
    )
    rows = tuple(meter.row(condition) for condition in conditions)
    return Outcome(TablePayload(reference=meter.reference, rows=rows, notes=(NOTE,)))
