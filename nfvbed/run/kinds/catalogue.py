"""Which kinds of tests there are, a line each: what a file may say of it, what executes it, and what comes of it.

A kind's name is the literal `kind` of its model; the same word is its kind of result. `mrr` is none of them: it is
plain trials, which every experiment has and which end with no result of their own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, get_args

from nfvbed.records import Record
from nfvbed.records.headlines import HEADLINES
from nfvbed.records.results import LoadsPayload, ResultKind, TablePayload
from nfvbed.run.kinds import (
    addresses,
    attaches,
    bursts,
    cost,
    guests,
    lifecycles,
    loads,
    queues,
    resets,
    scaling,
    sockets,
)
from nfvbed.run.kinds.celltest import CellTest, Outcome, Payload
from nfvbed.search.result import SearchResult
from nfvbed.spec.testkinds.addresses import AddressCachingTest, AddressLearningTest
from nfvbed.spec.testkinds.attaches import AttachRateTest, RestorationTest, SessionsTest
from nfvbed.spec.testkinds.base import NamedTest
from nfvbed.spec.testkinds.bursts import BackToBackTest, BurstTest
from nfvbed.spec.testkinds.cost import CostTest, XdpTasksTest
from nfvbed.spec.testkinds.guests import GuestComputeTest, GuestMemoryTest, GuestMultiqueueTest, GuestTlbTest
from nfvbed.spec.testkinds.lifecycles import LifeCycleTest
from nfvbed.spec.testkinds.loads import ContinuousTest, LatencyTest, LossCurveTest, SearchTest, SoakTest
from nfvbed.spec.testkinds.queues import QueueBalanceTest
from nfvbed.spec.testkinds.resets import ResetTest, SystemRecoveryTest
from nfvbed.spec.testkinds.scaling import FlowScalingTest, TableScalingTest
from nfvbed.spec.testkinds.sockets import RequestResponseTest, SocketLatencyTest, TcpThroughputTest, UdpThroughputTest

Model = TypeVar("Model", bound=NamedTest)


@dataclass(frozen=True)
class Kind:
    """A kind of test: the model of its declaration, the function that executes it, its payload."""

    model: type[NamedTest]
    """What a file may say of it."""
    execute: Callable[[CellTest, Any], Outcome[Any]]
    """Takes the cell_test and the test as the file declares it."""
    payload: type[Record]
    """What comes of it."""
    needs_source: bool
    """Whether the generator has to send into the cell; not every path lets it (a VNF can be the source)."""
    returns: bool = True
    """Whether frames have to come back: a test in whose trials none did has failed."""

    @property
    def name(self) -> str:
        """The value of `kind` in an experiment's file."""
        (name,) = get_args(self.model.model_fields["kind"].annotation)
        return str(name)

    @property
    def result(self) -> ResultKind:
        """The kind of its results in the store."""
        return ResultKind(self.name)

    @property
    def headline(self) -> tuple[str, ...]:
        """What is read first of its results, best first."""
        return HEADLINES[self.result]


def _kind(
    model: type[Model],
    execute: Callable[[CellTest, Model], Outcome[Payload]],
    payload: type[Payload],
    *,
    needs_source: bool = True,
    returns: bool = True,
) -> Kind:
    """Make a line; the types see to it that its three parts belong together."""
    return Kind(model, execute, payload, needs_source, returns)


KINDS = {
    kind.name: kind
    for kind in (
        _kind(SearchTest, loads.search, SearchResult),
        _kind(ContinuousTest, loads.continuous, LoadsPayload),
        _kind(LossCurveTest, loads.at_loads, LoadsPayload),
        _kind(LatencyTest, loads.at_loads, LoadsPayload),
        _kind(SoakTest, loads.soak, LoadsPayload),
        _kind(BackToBackTest, bursts.back_to_back, TablePayload),
        _kind(BurstTest, bursts.burst, TablePayload),
        _kind(SystemRecoveryTest, resets.system_recovery, TablePayload),
        _kind(ResetTest, resets.reset, TablePayload),
        _kind(LifeCycleTest, lifecycles.life_cycle, TablePayload),
        _kind(CostTest, cost.cost, TablePayload),
        _kind(XdpTasksTest, cost.xdp_tasks, TablePayload, returns=False),
        _kind(FlowScalingTest, scaling.flow_scaling, TablePayload),
        _kind(TableScalingTest, scaling.table_scaling, TablePayload),
        _kind(AddressCachingTest, addresses.address_caching, TablePayload),
        _kind(AddressLearningTest, addresses.address_learning, TablePayload),
        _kind(GuestComputeTest, guests.guest_compute, TablePayload, needs_source=False),
        _kind(GuestMemoryTest, guests.guest_memory, TablePayload, needs_source=False),
        _kind(GuestTlbTest, guests.guest_tlb, TablePayload, needs_source=False),
        _kind(GuestMultiqueueTest, guests.guest_multiqueue, TablePayload, needs_source=False),
        _kind(QueueBalanceTest, queues.queue_balance, TablePayload, needs_source=False),
        _kind(TcpThroughputTest, sockets.tcp_throughput, TablePayload, needs_source=False),
        _kind(RequestResponseTest, sockets.request_response, TablePayload, needs_source=False),
        _kind(UdpThroughputTest, sockets.udp_throughput, TablePayload, needs_source=False),
        _kind(SocketLatencyTest, sockets.socket_latency, TablePayload, needs_source=False),
        _kind(AttachRateTest, attaches.attach_rate, TablePayload, needs_source=False),
        _kind(SessionsTest, attaches.sessions, TablePayload, needs_source=False),
        _kind(RestorationTest, attaches.restoration, TablePayload, needs_source=False),
    )
}
"""By name."""
