"""Executes the tests of learning: show addresses at one port, ask for them from the other, see what is flooded.

RFC 2889 sections 5.7 and 5.8 with a generator of two ports: port 1 of the generator is the learning port, port 0 the
test port; the third, the monitoring port, is one more port of the switch, whose frames the switch itself counts.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from nfvbed.dataplanes.tables import LearningTable, TableNotApplicable, closing
from nfvbed.errors import ConfigurationError
from nfvbed.records import DirectionCounts, Status, TrialRecord
from nfvbed.records.results import MeasuredRow, Quantity, TablePayload
from nfvbed.run.kinds.celltest import CellTest, Outcome, PlacementClassFilter
from nfvbed.spec.testkinds.addresses import AddressCachingTest, AddressLearningTest
from nfvbed.traffic.generator import Addressing, TrafficRequest
from nfvbed.units import NS_PER_S

TEST_PORT_MAC, FIRST_LEARNT_MAC = "02:4e:46:70:00:00", "02:4e:46:80:00:00"
"""Addresses of the test port, and the first one that the learning port shows; the others follow it."""
TEST_PORT_ADDRESSES = 1
"""The test port's own address takes a place in the table too."""
SPARE = 1.25
"""How many more frames are asked for than there are addresses: one that cannot be sent in time is left out, and the
addresses begin again from the first when all were shown."""
ATTEMPTS = 6
"""Trials, at most, until the generator has sent as many frames in time as there are addresses."""
_SHORTEST_NS = 1_000_000
"""The shortest trial that may be asked for (nfvgen)."""
NOTES = (
    "addresses are learnt at the generator's port 1 and asked for from its port 0; a third port of the switch is the"
    " monitoring port of RFC 2889, and an address is held when no frame to it is flooded there",
)


def with_table(cell_test: CellTest, measure: Callable[[LearningTable], MeasuredRow]) -> Outcome[TablePayload]:
    """Measure with the table of addresses that a switch learns; not applicable where it learns none.

    Raises:
        DeployError: the monitoring port cannot be added.
    """
    setup = cell_test.setup
    try:
        table = setup.site.learning_table(setup.deployment, setup.variant)
    except TableNotApplicable as why:
        return Outcome(None, Status.NOT_APPLICABLE, str(why))
    with closing(table):
        row = measure(table)
    return Outcome(TablePayload(rows=(row,), notes=NOTES))


class LoadNotKeptError(ConfigurationError):
    """The generator runs, and cannot send so many frames in time."""

    refused = False
    """Whether a port refused frames: then the switch is full, else the generator was late."""


@dataclass(frozen=True)
class Step:
    """What one number of addresses at one rate came to."""

    addresses: int
    """Shown at the learning port, each once or more."""
    rate_pps: float
    """At which they were shown."""
    flooded: int
    """Frames to them that the monitoring port was sent."""
    lost: int
    """Frames to them that did not arrive at the learning port."""
    learnt: int | None
    """Addresses that the switch says it holds, the test port's own among them."""
    sequence: int
    """Sequence of the trial in which they were shown."""

    @property
    def held(self) -> bool:
        """Whether every address was known when it was asked for."""
        return self.flooded == 0


class AddressSteps:
    """Carries out steps on one deployment, in one placement class; a step that left the class is carried out again.

    Args:
        test_load_pps: the load at which addresses are asked for.
    """

    def __init__(self, cell_test: CellTest, table: LearningTable, test_load_pps: int) -> None:
        self._cell_test = cell_test
        self._table = table
        self._test_load_pps = test_load_pps
        self._one_class = PlacementClassFilter(cell_test)

    def step(self, addresses: int, load_pps: int, *, strict: bool = False) -> Step:
        """Make the switch forget, show it addresses, and ask for them.

        Args:
            addresses: how many are shown at the learning port.
            load_pps: the load at which they are shown; every frame shows the next one.
            strict: the rate is what matters: where too many frames were late, they are sent again at no more frames
                than before.

        Raises:
            LoadNotKeptError: not every address could be sent in time.
            SwitchDiedError, GeneratorError: as `Measurement.measure`.
        """
        return self._one_class.take(partial(self._step, _Move("source", addresses, load_pps, strict)))

    def _step(self, move: "_Move") -> Step:
        addresses = move.addresses
        shown = self._send_all(move)
        learnt = self._table.learnt()
        before = self._table.flooded()
        asked = self._send_all(_Move("destination", addresses, self._test_load_pps, strict=False))
        flooded = self._table.flooded() - before
        counts = shown.directions[0]
        return Step(
            addresses=addresses,
            rate_pps=counts.sent * NS_PER_S / shown.duration_ns if shown.duration_ns else float(move.rate_pps),
            flooded=flooded,
            lost=asked.directions[0].lost,
            learnt=learnt,
            sequence=shown.sequence,
        )

    def _send_all(self, move: "_Move") -> TrialRecord:
        """Send until a trial has sent as many frames as there are addresses.

        Where the rate does not matter, it also sends until no frame was lost on its way, which says nothing of the
        table. Addresses that are shown again add to what was learnt before. Where the rate matters, every attempt
        restarts.

        Raises:
            LoadNotKeptError: no trial has sent as many.
        """
        enough: TrialRecord | None = None
        for attempt in range(ATTEMPTS):
            if move.what == "source" and (attempt == 0 or move.strict):
                self._table.forget()
            record = self._send(move, 1 if move.strict else 2**attempt)
            if record.directions[0].sent >= move.addresses:
                enough = record
                if move.strict or move.what == "destination" or not record.directions[0].lost:
                    break
        if enough is None:
            raise self._cannot_send(move, record.directions[0])
        return enough

    def _send(self, move: "_Move", times: int) -> TrialRecord:
        task = self._cell_test.task()
        frames = math.ceil(move.addresses * SPARE) * times
        paced = replace(
            address_request(task.request, move.what, move.addresses),
            rate_pps=move.rate_pps,
            frames=frames,
            duration_ns=max(_SHORTEST_NS, -(-frames * NS_PER_S // move.rate_pps)),
        )
        return self._cell_test.measure(replace(task, request=paced))

    def _cannot_send(self, move: "_Move", counts: DirectionCounts) -> LoadNotKeptError:
        whose = "the port refused frames" if counts.refused else "the generator was late"
        error = LoadNotKeptError(
            f"{move.addresses:,} frames cannot be sent at {move.rate_pps:,} frames/s",
            where=self._cell_test.cell.id,
            observed=f"{counts.sent:,} sent, {counts.unsent:,} not in time ({whose}), in the last of {ATTEMPTS}",
            fix="a lower load, or a core of its own for the generator",
        )
        error.refused = counts.refused > 0
        return error


@dataclass(frozen=True)
class _Move:
    """Frames whose source (they show addresses) or destination (they ask for them) moves."""

    what: str
    addresses: int
    rate_pps: int
    strict: bool


def address_request(traffic: TrafficRequest, moves: str, addresses: int) -> TrafficRequest:
    """Return the frames that show addresses (`source`) or ask for them (`destination`), one for each flow."""
    shows = moves == "source"
    return replace(
        traffic,
        flows=addresses,
        bidirectional=False,
        backward=shows,
        # Before addresses are shown the test port makes itself known; what is asked for must not be known by that.
        learning_frames=1 if shows else 0,
        addressing=Addressing(
            flow_macs=("source",) if shows else ("destination",), macs=(TEST_PORT_MAC, FIRST_LEARNT_MAC)
        ),
    )


def address_caching(cell_test: CellTest, spec: AddressCachingTest) -> Outcome[TablePayload]:
    """Try the largest number of addresses, then halve what is left between a number that is held and one that is not.

    Raises:
        DeployError: the monitoring port cannot be added.
        LoadNotKeptError: the generator cannot send at the load.
        GeneratorError, SwitchDiedError: generator or switch ended.
    """

    def measure(table: LearningTable) -> MeasuredRow:
        held, failed = _most_held(AddressSteps(cell_test, table, spec.load_pps), spec)
        return _caching_row(held, failed, table, spec)

    return with_table(cell_test, measure)


def _most_held(steps: AddressSteps, spec: AddressCachingTest) -> tuple[Step | None, Step | None]:
    """Return the largest number that was held, and the smallest one that was not; None where there is none."""
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


def _caching_row(held: Step | None, failed: Step | None, table: LearningTable, spec: AddressCachingTest) -> MeasuredRow:
    """Describe the bounds; both count the test port's own address, as the switch's limit does."""
    low = held.addresses + TEST_PORT_ADDRESSES if held else None
    high = failed.addresses + TEST_PORT_ADDRESSES if failed else None
    quantities = [Quantity(name="addresses held", value=low, unit="", low=low, high=low)]
    if failed is not None:
        quantities.append(Quantity(name="too many", value=high, unit=""))
        quantities.append(Quantity(name="flooded of these", value=failed.flooded, unit="frames"))
    if table.limit:
        quantities.append(Quantity(name="limit that is set", value=table.limit, unit=""))
    reported = held or failed
    if reported is not None and reported.learnt is not None:
        quantities.append(Quantity(name="in the switch's table", value=reported.learnt, unit=""))
    reasons = [] if failed else [f"a lower bound: no more than {spec.max_addresses:,} were tried (max_addresses)"]
    if held is None:
        reasons.append("not even one address is held beside the test port's own")
    if held is not None and held.lost:
        reasons.append(f"{held.lost:,} frames to addresses that are held were lost, none of them flooded")
    return MeasuredRow(
        label="addresses",
        parameters={"load_pps": spec.load_pps, "max_addresses": spec.max_addresses},
        quantities=tuple(quantities),
        sequence=reported.sequence if reported else None,
        sequences=(failed.sequence,) if held and failed else (),
        reason="; ".join(reasons),
    )


class _Bounds:
    """The highest rate at which every address was learnt, and the lowest at which one was missed."""

    def __init__(self, steps: AddressSteps, spec: AddressLearningTest) -> None:
        self._steps = steps
        self._spec = spec
        self.held: Step | None = None
        self.missed: Step | None = None
        self.unsent = ""
        """Why the lowest of the rates at which frames could not be sent in time was not kept."""

    def search(self) -> None:
        """Try the highest and the lowest rate, then the geometric middle of what is left."""
        spec = self._spec
        low, high = spec.min_load_pps, spec.max_load_pps
        if self._holds(high) or not self._holds(low):
            return
        while high / low > 1 + spec.relative_width:
            middle = round(math.sqrt(low * high))
            if middle in (low, high):
                return
            if self._holds(middle):
                low = middle
            else:
                high = middle

    def _holds(self, load_pps: int) -> bool:
        step = None
        for _ in range(self._spec.tries):
            try:
                step = self._steps.step(self._spec.addresses, load_pps, strict=load_pps != self._spec.min_load_pps)
            except LoadNotKeptError as error:
                if load_pps == self._spec.min_load_pps:
                    raise
                whose = "the switch's port refused frames" if error.refused else "the generator was late"
                self.unsent = f"at {load_pps:,} frames/s {whose}"
                return False
            if step.held:
                self.held = step
                return True
        self.missed = step
        return False


def address_learning(cell_test: CellTest, spec: AddressLearningTest) -> Outcome[TablePayload]:
    """Search for the highest rate at which addresses are learnt.

    Raises:
        DeployError: the monitoring port cannot be added.
        LoadNotKeptError: the generator cannot even send at the lowest rate.
        GeneratorError, SwitchDiedError: generator or switch ended.
    """

    def measure(table: LearningTable) -> MeasuredRow:
        bounds = _Bounds(AddressSteps(cell_test, table, spec.test_load_pps), spec)
        bounds.search()
        return _learning_row(bounds, spec)

    return with_table(cell_test, measure)


def _learning_row(bounds: _Bounds, spec: AddressLearningTest) -> MeasuredRow:
    held, missed = bounds.held, bounds.missed
    quantities = [Quantity(name="learning rate", value=round(held.rate_pps) if held else None, unit="frames/s")]
    if missed is not None:
        quantities.append(Quantity(name="too fast", value=round(missed.rate_pps), unit="frames/s"))
        quantities.append(Quantity(name="missed of these", value=missed.flooded, unit=""))
    if held is not None and held.learnt is not None:
        quantities.append(Quantity(name="in the switch's table", value=held.learnt, unit=""))
    reasons = []
    if held is None:
        reasons.append(f"addresses are missed even at {spec.min_load_pps:,} frames/s (min_load_pps)")
    if missed is None and held is not None:
        reasons.append("a lower bound: none was missed at any rate that was tried")
    if bounds.unsent:
        reasons.append(bounds.unsent)
    reported = held or missed
    return MeasuredRow(
        label=f"{spec.addresses:,} new addresses",
        parameters={"addresses": spec.addresses, "min_load_pps": spec.min_load_pps, "max_load_pps": spec.max_load_pps},
        quantities=tuple(quantities),
        sequence=reported.sequence if reported else None,
        sequences=(missed.sequence,) if held and missed else (),
        reason="; ".join(reasons),
    )
