"""Which core does the work of bridges, and of the generator's ends of their ports.

`threaded-napi` puts the receive work of the bridges' ports, and with it the bridges, into kernel threads on the
switch's core. The generator's ports receive in threads on the generator's core. `rps` hands the frames of the bridges'
ports to the switch's core, after receive work on the sender's; the generator's ends are as before. `inline` leaves all
of it to the sender's softirq. The VNFs' ends are their drivers' business, whatever the core use.

A tap has no receive work: a guest's frames enter the bridge in the system call with which QEMU writes them. RPS hands
them to the switch's core, unless it is `inline`.
"""

from collections.abc import Iterable

from nfvbed.dataplanes.ports.kernel_links import BridgePlan, BridgeSpaces
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.network import napi
from nfvbed.records import Role, WorkThread
from nfvbed.spec.options import CoreUse


def place(
    plan: BridgePlan, spaces: BridgeSpaces, core_use: CoreUse, arrangement: Arrangement
) -> tuple[WorkThread, ...]:
    """Place the receive work on its cores, and return the kernel threads that do it.

    Raises:
        UnsupportedError: the kernel has no threaded NAPI or no RPS.
        DeployError: a thread does not appear, or may not be pinned or put first.
    """
    if core_use == "inline":
        return ()
    switch_core = arrangement.switch_cores[0]
    steered = plan.taps if core_use == "threaded-napi" else plan.ports
    if steered:
        napi.steer(spaces.switch, steered, switch_core)
    threads: tuple[WorkThread, ...] = ()
    if core_use == "threaded-napi" and plan.veths:
        threads = place_links(spaces.switch, plan.veths, switch_core, Role.SWITCH)
    return threads + place_generator(plan.generator_links, spaces.generator, arrangement)


def place_generator(names: Iterable[str], netns: str | None, arrangement: Arrangement) -> tuple[WorkThread, ...]:
    """Run the receive work of the generator's ends in threads on the generator's core, before its sender.

    A sender never sleeps, so what drains rings on its core must run before it (`put_first`). That is the sinks, and the
    VNFs that have no core of their own, by their drivers. The one nearer to the end of the path runs first, so that
    no ring before it overflows: the sinks before the VNFs, the VNFs before the sender, which then sends as much as they
    let it.
    """
    if netns is None:
        return ()
    sinks = place_links(netns, names, arrangement.generator_core, Role.GENERATOR)
    napi.put_first(sinks, before_others=arrangement.generator_core in arrangement.vnf_cores)
    return sinks


def place_links(netns: str, names: Iterable[str], core: int, role: Role) -> tuple[WorkThread, ...]:
    """Run the receive work of some links in threads on a core."""
    wanted = tuple(names)
    with napi.threads_told_apart() as before:
        napi.make_threaded(netns, wanted)
        return tuple(thread for name in wanted for thread in napi.pin_threads(name, before, core, role))
