"""Which thread of an Open vSwitch on AF_XDP sockets forwards, and what it took: polling ones, or the main one."""

from nfvbed.dataplanes.ovs import reading
from nfvbed.host.network import napi
from nfvbed.records import NOT_SEPARABLE, SwitchCounters, WorkThread
from nfvbed.units import NS_PER_S

_MAIN_SOURCE = "scheduler run time of ovs-vswitchd's main thread x TSC"


def forwarding(pid: int, core: int, interrupt: bool) -> tuple[WorkThread, ...]:
    """Return the threads that forward.

    Args:
        pid: of ovs-vswitchd.
        core: of the switch.
        interrupt: whether nothing polls, and the main thread works.
    """
    if interrupt:
        return (reading.main_thread(pid, (core,)),)
    return reading.pmd_threads(pid)


def with_main_thread(counted: SwitchCounters, pid: int, tsc_hz: int) -> SwitchCounters:
    """Return counters with the main thread's time in place of the polling threads' cycles.

    Args:
        pid: of ovs-vswitchd.
    """
    run_ns = napi.run_time_ns(pid)
    if run_ns is None:
        return counted.model_copy(
            update={"busy_cycles": NOT_SEPARABLE, "rounding_cycles": None, "source": _MAIN_SOURCE}
        )
    cycles = run_ns * tsc_hz // NS_PER_S
    raw = counted.raw | {"main_thread_run_time_ns": run_ns}
    counts = {"busy_cycles": cycles, "rounding_cycles": None, "source": _MAIN_SOURCE, "raw": raw}
    return counted.model_copy(update=counts)
