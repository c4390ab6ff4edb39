"""CPU time of this machine's threads and cores, as exactly as its kernel counts it."""

from collections.abc import Sequence

from nfvbed.host.cores.procfs import read_sample
from nfvbed.host.cores.steal import exact_steal_ns
from nfvbed.records import WorkThread
from nfvbed.records.readings import CpuSample


def read_cpu(threads: Sequence[WorkThread]) -> CpuSample:
    """Read the threads and all cores now."""
    return read_sample(((thread.pid, thread.tid) for thread in threads), exact_steal=exact_steal_ns)
