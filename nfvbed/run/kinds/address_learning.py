"""Executes the test of the rate at which a switch learns addresses."""

import math

from nfvbed.dataplanes.tables import LearningTable
from nfvbed.results import MeasuredRow, Quantity
from nfvbed.run.kinds.addresses import AddressSteps, LoadNotKeptError, Step, with_table
from nfvbed.run.kinds.bench import Outcome, TestBench
from nfvbed.spec.testkinds.address_learning import AddressLearningTest


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


def execute(bench: TestBench, spec: AddressLearningTest) -> Outcome:
    """Search for the rate.

    Raises:
        DeployError: the monitoring port cannot be added.
        LoadNotKeptError: the generator cannot even send at the lowest rate.
        GeneratorError, SwitchDiedError: it ended.
    """

    def measure(table: LearningTable) -> MeasuredRow:
        bounds = _Bounds(AddressSteps(bench, table, spec.test_load_pps), spec)
        bounds.search()
        return _row(bounds, spec)

    return with_table(bench, measure)


def _row(bounds: _Bounds, spec: AddressLearningTest) -> MeasuredRow:
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
    told = held or missed
    return MeasuredRow(
        label=f"{spec.addresses:,} new addresses",
        parameters={"addresses": spec.addresses, "min_load_pps": spec.min_load_pps, "max_load_pps": spec.max_load_pps},
        quantities=tuple(quantities),
        sequence=told.sequence if told else None,
        sequences=(missed.sequence,) if held and missed else (),
        reason="; ".join(reasons),
    )
