"""Executes the test of how many addresses a switch holds."""

from nfvbed.dataplanes.tables import LearningTable
from nfvbed.results import MeasuredRow, Quantity
from nfvbed.run.kinds.addresses import TEST_PORT_ADDRESSES, AddressSteps, Step, with_table
from nfvbed.run.kinds.bench import Outcome, TestBench
from nfvbed.spec.testkinds.address_caching import AddressCachingTest


def execute(bench: TestBench, spec: AddressCachingTest) -> Outcome:
    """Try the largest number, then halve what is left between one that is held and one that is not.

    Raises:
        DeployError: the monitoring port cannot be added.
        LoadNotKeptError: the generator cannot send at the load.
        GeneratorError, SwitchDiedError: it ended.
    """

    def measure(table: LearningTable) -> MeasuredRow:
        held, failed = _search(AddressSteps(bench, table, spec.load_pps), spec)
        return _row(held, failed, table, spec)

    return with_table(bench, measure)


def _search(steps: AddressSteps, spec: AddressCachingTest) -> tuple[Step | None, Step | None]:
    """Give the largest number that was held, and the smallest one that was not; None where there is none."""
    held: Step | None = None
    failed: Step | None = None
    low, high = 0, spec.max_addresses - TEST_PORT_ADDRESSES + 1
    addresses = high - 1
    while high - low > 1:
        step = _try(steps, addresses, spec)
        if step.held:
            held, low = step, addresses
        else:
            failed, high = step, addresses
        addresses = (low + high) // 2
    return held, failed


def _try(steps: AddressSteps, addresses: int, spec: AddressCachingTest) -> Step:
    for _ in range(spec.tries):
        step = steps.step(addresses, spec.load_pps)
        if step.held:
            break
    return step


def _row(held: Step | None, failed: Step | None, table: LearningTable, spec: AddressCachingTest) -> MeasuredRow:
    """Describe the bounds; both count the test port's own address, as the switch's limit does."""
    low = held.addresses + TEST_PORT_ADDRESSES if held else None
    high = failed.addresses + TEST_PORT_ADDRESSES if failed else None
    quantities = [Quantity(name="addresses held", value=low, unit="", low=low, high=low)]
    if failed is not None:
        quantities.append(Quantity(name="too many", value=high, unit=""))
        quantities.append(Quantity(name="flooded of these", value=failed.flooded, unit="frames"))
    if table.limit:
        quantities.append(Quantity(name="limit that is set", value=table.limit, unit=""))
    told = held or failed
    if told is not None and told.learnt is not None:
        quantities.append(Quantity(name="in the switch's table", value=told.learnt, unit=""))
    reasons = [] if failed else [f"a lower bound: no more than {spec.max_addresses:,} were tried (max_addresses)"]
    if held is None:
        reasons.append("not even one address is held beside the test port's own")
    if held is not None and held.lost:
        reasons.append(f"{held.lost:,} frames to addresses that are held were lost, none of them flooded")
    return MeasuredRow(
        label="addresses",
        parameters={"load_pps": spec.load_pps, "max_addresses": spec.max_addresses},
        quantities=tuple(quantities),
        sequence=told.sequence if told else None,
        sequences=(failed.sequence,) if held and failed else (),
        reason="; ".join(reasons),
    )
