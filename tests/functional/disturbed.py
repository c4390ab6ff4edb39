"""Checks that hold on a host that others disturb: a core that is taken away for a while, a process that is slow.

The generator waits 50 ms for late frames; where the switch, a VNF or a guest loses its core for longer at the end of a
trial, frames that are still under way count as lost, rightly. So a trial is made again, a few times: a data plane that
loses frames by itself loses some in all of them. How often that was needed is counted; where nothing was stolen from
the host meanwhile, once must do (`again.py`).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from nfvbed.errors import SwitchDiedError
from nfvbed.traffic.generator import Generator, TrafficRequest, TrafficResult
from tests.functional import again

Made = TypeVar("Made")
ATTEMPTS = 8
PATIENCE_S = 30.0
"""No check needs it on a host that is not disturbed: each goes on as soon as what it waits for is there."""


@dataclass(frozen=True)
class Passage:
    """A trial, and what was looked at directly before and after it."""

    before: Any
    result: TrafficResult
    after: Any

    @property
    def sent(self) -> list[int]:
        """Frames by direction."""
        return [direction.sent for direction in self.result.directions]


def all_arrived(result: TrafficResult) -> bool:
    """Whether frames were sent in every direction, and all of them arrived."""
    return all(direction.received == direction.sent > 0 for direction in result.directions)


def retried(make: Callable[[], Made], good: Callable[[Made], bool], attempts: int = ATTEMPTS) -> Made:
    """Make something until it is good, a few times at most; give the last.

    Args:
        make: makes it.
        good: whether it is.
        attempts: how often at most.

    Raises:
        AssertionError: a second repetition was needed though nothing was stolen from this host.
    """
    for _ in range(attempts):
        before = again.read()
        made = make()
        if good(made):
            break
        again.note(again.stolen_s(before, again.read()))
    return made


def pass_all(
    generator: Generator,
    request: TrafficRequest,
    look: Callable[[], Any] = lambda: None,
    counted: Callable[[Passage], bool] = lambda _: True,
    attempts: int = ATTEMPTS,
) -> Passage:
    """Send until a trial loses nothing; that all of a few lose frames is a failure.

    Args:
        generator: that sends.
        request: the trial.
        look: what is looked at before and after it.
        counted: what is to hold of it, too: late frames of an earlier trial may be counted in this one.
        attempts: how many trials at most.
    """
    passage = retried(
        lambda: Passage(before=look(), result=generator.run(request), after=look()),
        lambda passage: all_arrived(passage.result) and counted(passage),
        attempts,
    )
    assert all_arrived(passage.result), passage.result
    assert counted(passage), passage
    return passage


def each_is_counted_once(passage: Passage) -> bool:
    """Whether a switch of two ports, whose hops were looked at first, counted each frame from port to port once.

    Learning frames come on top.
    """
    before, after = passage.before[0], passage.after[0]
    entered = after[0].rx_packets - before[0].rx_packets
    left = after[-1].tx_packets - before[-1].tx_packets
    return bool(passage.sent[0] <= left <= entered <= passage.sent[0] + 10)


def wait_until(found: Callable[[], Any], within_s: float = PATIENCE_S) -> Any:
    """Ask until the answer is true, and give it; after that time the last answer, whatever it is."""
    deadline = time.monotonic() + within_s
    while not (answer := found()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return answer


def death_of(verify: Callable[[], None]) -> SwitchDiedError:
    """Wait until a switch's end is noticed: the kernel frees the memory of a killed one first."""

    def noticed() -> SwitchDiedError | None:
        try:
            verify()
        except SwitchDiedError as failure:
            return failure
        return None

    failure = wait_until(noticed)
    assert failure is not None, "the switch's end was not noticed"
    return failure


def send_enough(generator: Generator, request: TrafficRequest, frames: int, most: int = 60) -> list[TrafficResult]:
    """Send until so many went both ways: a frame that an emulated generator is late with is not sent at all.

    Args:
        generator: that sends.
        request: each trial.
        frames: at least, each way.
        most: trials.
    """
    results: list[TrafficResult] = []
    while not results or min(sum(r.directions[number].sent for r in results) for number in (0, 1)) < frames:
        assert len(results) < most, results
        results.append(generator.run(request))
    return results
