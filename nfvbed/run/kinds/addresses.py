"""One step of the tests of learning: show addresses at one port, ask for them from the other, see what is flooded.

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
from nfvbed.results import MeasuredRow, TablePayload
from nfvbed.run.kinds.bench import OneClass, Outcome, TestBench
from nfvbed.traffic.generator import Addressing, TrafficRequest
from nfvbed.units import NS_PER_S

TEST_PORT_MAC, FIRST_LEARNT_MAC = "02:4e:46:70:00:00", "02:4e:46:80:00:00"
"""Of the test port, and the first one that the learning port shows; the others follow it."""
TEST_PORT_ADDRESSES = 1
"""The test port's own address takes a place in the table too."""
SPARE = 1.25
"""How many more frames are asked for than there are addresses: one that cannot be sent in time is left out, and the
addresses begin again from the first when all were shown."""
ATTEMPTS = 6
"""Trials, at most, until the generator has sent as many frames in time as there are addresses."""
_SHORTEST_NS = 1_000_000
"""That a trial may be asked to be (nfvgen)."""
NOTES = (
    "addresses are learnt at the generator's port 1 and asked for from its port 0; a third port of the switch is the"
    " monitoring port of RFC 2889, and an address is held when no frame to it is flooded there",
)


def with_table(bench: TestBench, measure: Callable[[LearningTable], MeasuredRow]) -> Outcome:
    """Measure with the table of addresses that a switch learns; not applicable where it learns none.

    Raises:
        DeployError: the monitoring port cannot be added.
    """
    setup = bench.setup
    try:
        table = setup.site.learning_table(setup.deployment, setup.variant)
    except TableNotApplicable as why:
        return Outcome(None, Status.NOT_APPLICABLE, str(why))
    with closing(table):
        row = measure(table)
    return Outcome(TablePayload(rows=(row,), notes=NOTES))


class LoadNotKeptError(ConfigurationError):
    """The generator stands, and cannot send so many frames in time."""

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
    """Of the trial in which they were shown."""

    @property
    def held(self) -> bool:
        """Whether every address was known when it was asked for."""
        return self.flooded == 0


class AddressSteps:
    """Carries out steps on one deployment, in one placement class: one that left it is carried out again.

    Args:
        bench: of the test.
        table: of the switch.
        test_load_pps: at which addresses are asked for.
    """

    def __init__(self, bench: TestBench, table: LearningTable, test_load_pps: int) -> None:
        self._bench = bench
        self._table = table
        self._test_load_pps = test_load_pps
        self._one_class = OneClass(bench)

    def step(self, addresses: int, load_pps: int, *, strict: bool = False) -> Step:
        """Forget, show, ask.

        Args:
            addresses: at the learning port.
            load_pps: at which they are shown; every frame shows the next one.
            strict: the rate is what matters: where too many frames were late, again at no more frames than before.

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

        Where addresses are shown and the rate does not matter, also until none was lost on its way, which says nothing
        of the table: shown again they add to what was learnt before. Where it does, every attempt begins anew.

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
        task = self._bench.task()
        frames = math.ceil(move.addresses * SPARE) * times
        paced = replace(
            address_request(task.request, move.what, move.addresses),
            rate_pps=move.rate_pps,
            frames=frames,
            duration_ns=max(_SHORTEST_NS, -(-frames * NS_PER_S // move.rate_pps)),
        )
        return self._bench.measure(replace(task, request=paced))

    def _cannot_send(self, move: "_Move", counts: DirectionCounts) -> LoadNotKeptError:
        whose = "the port refused frames" if counts.refused else "the generator was late"
        error = LoadNotKeptError(
            f"{move.addresses:,} frames cannot be sent at {move.rate_pps:,} frames/s",
            where=self._bench.cell.id,
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
    """Give the frames that show addresses (`source`) or ask for them (`destination`), one for each flow."""
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
