"""The tests that an experiment puts each of its cells through, as files declare them; `kind` says which."""

from collections.abc import Sequence
from typing import Annotated, Literal, get_args

from pydantic import Field

from nfvbed.spec.model import SpecModel
from nfvbed.spec.search import Search
from nfvbed.spec.testkinds.addresses import AddressCachingTest, AddressLearningTest
from nfvbed.spec.testkinds.attaches import AttachRateTest, CoreTest, RestorationTest, SessionsTest
from nfvbed.spec.testkinds.base import MRR
from nfvbed.spec.testkinds.bursts import BackToBackTest, BurstTest
from nfvbed.spec.testkinds.cost import CostTest, XdpTasksTest
from nfvbed.spec.testkinds.guests import GuestComputeTest, GuestMemoryTest, GuestMultiqueueTest, GuestTlbTest
from nfvbed.spec.testkinds.lifecycles import LifeCycleTest
from nfvbed.spec.testkinds.loads import (
    ContinuousTest,
    LatencyTest,
    LossCurveTest,
    SearchTest,
    SoakTest,
    expected_search,
)
from nfvbed.spec.testkinds.queues import QueueBalanceTest
from nfvbed.spec.testkinds.resets import ResetTest, SystemRecoveryTest
from nfvbed.spec.testkinds.scaling import FlowScalingTest, TableScalingTest
from nfvbed.spec.testkinds.sockets import RequestResponseTest, SocketLatencyTest, TcpThroughputTest, UdpThroughputTest


class MrrTest(SpecModel):
    """The maximum receive rate, then loss and latency at a fraction of it; `trials` says how long."""

    kind: Literal["mrr"]


AnyTest = (
    MrrTest
    | SearchTest
    | ContinuousTest
    | LossCurveTest
    | LatencyTest
    | SoakTest
    | BackToBackTest
    | BurstTest
    | SystemRecoveryTest
    | ResetTest
    | LifeCycleTest
    | CostTest
    | FlowScalingTest
    | TableScalingTest
    | AddressCachingTest
    | AddressLearningTest
    | GuestComputeTest
    | GuestMemoryTest
    | GuestTlbTest
    | GuestMultiqueueTest
    | QueueBalanceTest
    | TcpThroughputTest
    | RequestResponseTest
    | UdpThroughputTest
    | SocketLatencyTest
    | XdpTasksTest
    | AttachRateTest
    | SessionsTest
    | RestorationTest
)
TestSpec = Annotated[AnyTest, Field(discriminator="kind")]
MRR_TEST = MrrTest(kind="mrr")
KINDS: frozenset[str] = frozenset(
    kind for model in get_args(AnyTest) for kind in get_args(model.model_fields["kind"].annotation)
)
"""The kinds of tests that there are."""


def label_of(test: AnyTest) -> str:
    """Return the name under which a test's results are kept; unique within an experiment."""
    return test.kind if isinstance(test, MrrTest) else test.name or test.kind


def check_together(tests: Sequence[AnyTest], ceilings: bool) -> None:
    """Check that labels differ, and that a fraction of a load refers to one that is measured before.

    Args:
        tests: in the order in which they are done.
        ceilings: whether the generator's own ceiling is measured too.

    Raises:
        ValueError: they do not fit.
    """
    known: list[str] = []
    labels: list[str] = []
    for test in tests:
        label = label_of(test)
        if label in labels:
            raise ValueError(f"two tests are named {label}; give one of them a name")
        labels.append(label)
        if isinstance(test, MrrTest):
            known.append(MRR)
            continue
        if isinstance(test, SearchTest):
            known += [goal.name for goal in test.resolved().goals]
            if test.max_load_pps is None and not ceilings:
                raise ValueError(f"without ceilings test {label} needs a max_load_pps")
            if test.relative and not ceilings:
                raise ValueError(f"test {label} is relative to a ceiling, and ceilings is false")
        for of in test.builds_on:
            if of not in known:
                raise ValueError(
                    f"test {label} is at parts of {of}, which no test before it measures"
                    f" ({', '.join(known) or 'nothing'} is)"
                )


def of_core(test: AnyTest) -> bool:
    """Return whether it is a test of a mobile core, which only topology `vepc` has."""
    return isinstance(test, CoreTest)


def expected_s(test: AnyTest, search: Search | None = None) -> tuple[float, int]:
    """Estimate the seconds of traffic of a test, and its number of trials; the plan estimates `mrr` itself.

    Args:
        test: any but `mrr`.
        search: a search as it is run, with the quick preset where that is asked for.
    """
    if isinstance(test, MrrTest):
        return 0.0, 0
    return expected_search(search) if search is not None else test.expected()
