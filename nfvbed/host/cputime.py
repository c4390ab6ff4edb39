"""CPU time of this machine's threads and cores, as exactly as its kernel has it."""

from collections.abc import Sequence

from nfvbed.host.procfs import read_sample
from nfvbed.host.steal import exact_steal_ns
from nfvbed.readings import CpuSample
from nfvbed.records import WorkThread


def read_cpu(threads: Sequence[WorkThread]) -> CpuSample:
    """Read the threads and all cores now."""
    return read_sample(((thread.pid, thread.tid) for thread in threads), exact_steal=exact_steal_ns)
