"""Which function executes which kind of test."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from nfvbed.run.kinds.bench import Outcome, TestBench
from nfvbed.spec.tests import AnyTest

Execute = Callable[[TestBench], Outcome]


@dataclass(frozen=True)
class Kind:
    """One kind of test."""

    function: str
    """`module:function` in this package; it takes the bench and the test as the file declares it."""
    needs_source: bool = True
    """Whether the generator has to send into the cell; not every path lets it (a VNF can be the source)."""


KINDS = {
    "search": Kind("search:execute"),
    "continuous": Kind("given_loads:continuous"),
    "loss-curve": Kind("given_loads:at_loads"),
    "latency": Kind("given_loads:at_loads"),
    "soak": Kind("given_loads:soak"),
    "back-to-back": Kind("back_to_back:execute"),
    "burst": Kind("burst:execute"),
    "system-recovery": Kind("system_recovery:execute"),
    "reset": Kind("reset:execute"),
    "cost": Kind("cost:execute"),
    "xdp-tasks": Kind("xdp_tasks:execute"),
    "flow-scaling": Kind("flow_scaling:execute"),
    "table-scaling": Kind("table_scaling:execute"),
    "address-caching": Kind("address_caching:execute"),
    "address-learning": Kind("address_learning:execute"),
    "guest-compute": Kind("guest_compute:execute", needs_source=False),
    "guest-memory": Kind("guest_memory:execute", needs_source=False),
    "guest-tlb": Kind("guest_tlb:execute", needs_source=False),
    "guest-multiqueue": Kind("guest_multiqueue:execute", needs_source=False),
    "tcp-throughput": Kind("tcp_throughput:execute", needs_source=False),
    "request-response": Kind("request_response:execute", needs_source=False),
    "udp-throughput": Kind("udp_throughput:execute", needs_source=False),
    "socket-latency": Kind("socket_latency:execute", needs_source=False),
}


def executor(spec: AnyTest) -> Execute:
    """Give what executes a test; its module is imported when it is needed."""
    module, _, name = KINDS[spec.kind].function.partition(":")
    function: Any = getattr(import_module(f"nfvbed.run.kinds.{module}"), name)
    return partial(_execute, function, spec)


def _execute(function: Callable[[TestBench, AnyTest], Outcome], spec: AnyTest, bench: TestBench) -> Outcome:
    return function(bench, spec)
