"""Who works: the switch, every VNF, the generator, each with its threads and its cores."""

from collections.abc import Sequence
from dataclasses import dataclass

from nfvbed.records import Deployment, Role, VnfHandle, WorkThread

SWITCH, GENERATOR = "switch", "generator"


@dataclass(frozen=True)
class Group:
    """The switch, a VNF or the generator, with its working threads."""

    label: str
    """`switch`, `VNF 1`, `generator`."""
    role: Role
    threads: tuple[WorkThread, ...]
    own_cores: frozenset[int] = frozenset()
    """Cores that it was given, whether or not it has a thread there: the kernel also works without one."""

    @property
    def cores(self) -> frozenset[int]:
        """The cores that it was given, and those of its threads."""
        return self.own_cores | {thread.core for thread in self.threads if thread.core is not None}

    @property
    def polls(self) -> bool:
        """Whether a thread of it never sleeps, and so does its work itself."""
        return any(thread.polling for thread in self.threads)


def groups_of(deployment: Deployment, threads: Sequence[WorkThread], switch_cores: Sequence[int]) -> tuple[Group, ...]:
    """Return the working threads of a deployment in groups, in the order switch, VNFs, generator.

    Args:
        deployment: a VNF without threads of its own has a group all the same.
        threads: threads that do the packet work.
        switch_cores: cores that the arrangement gives the switch.
    """
    by_role = {role: tuple(thread for thread in threads if thread.role is role) for role in Role}
    found = [Group(SWITCH, Role.SWITCH, by_role[Role.SWITCH], frozenset(switch_cores))]
    for index, handle in enumerate(deployment.vnfs):
        # A single VNF has all threads of VNFs, also those of processes that were started again since.
        alone = len(deployment.vnfs) == 1
        own = tuple(thread for thread in by_role[Role.VNF] if alone or _belongs(thread, handle))
        found.append(Group(f"VNF {index + 1}", Role.VNF, own))
    return (*found, Group(GENERATOR, Role.GENERATOR, by_role[Role.GENERATOR]))


def _belongs(thread: WorkThread, handle: VnfHandle) -> bool:
    known = {(other.pid, other.tid) for other in handle.threads}
    return thread.pid in handle.pids or (thread.pid, thread.tid) in known
