"""Maps size, queues and cores of VSPERF's guests to a flavor: one of the project's, or one that is made for the run."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from nfvbed.spec.choices import Catalogue
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.vnf import VnfSpec
from nfvbed.vsperf.conf.draft import Draft, whole
from nfvbed.vsperf.conf.settings import SettingValue, TestSettings

MAX_VCPUS: Final = 64
MAX_QUEUES: Final = 16
"""Queues of a flavor's port; VSPERF itself has no bound."""
LEAST_MIB: Final = 128
MOST_MIB: Final = 1 << 20
MIB_OF_VCPU: Final = 256
"""Memory of a made flavor for each vCPU, where no file gives the memory: as flavors/multiqueue.yml has it."""
_MOST: Final = 1 << 24
_SMP: Final = re.compile(r"(?:(?:cpus|cores|sockets|threads)=)?([0-9]+)")
_OWN_CORES: Final = "every vCPU has a core of its own; which core that is nfvbed decides, on clouds Nova"
_SHARED: Final = "nfvbed decides itself which core is whose, and stores it with every result"


@dataclass(frozen=True)
class GuestDemand:
    """What the settings ask of a guest; None: they leave it open."""

    vcpus: int
    queues: int
    memory_mib: int | None
    asked_memory: bool
    """Whether the memory differs from VSPERF's default, and must be met."""
    pinned: bool = False
    """A core for each vCPU."""
    isolated: bool = False
    """A core for QEMU's own threads."""

    def is_met(self, flavor: Flavor) -> bool:
        """Return whether a guest of a flavor is the one that is asked for, but for memory that was not asked for."""
        return (
            (flavor.vcpus, flavor.queues) == (self.vcpus, self.queues)
            and (flavor.cpu_policy == "dedicated") == self.pinned
            and flavor.emulator_threads == ("isolate" if self.isolated else None)
            # VSPERF backs its guests' memory with hugepages; its guests have one NUMA node, and no real-time vCPUs.
            and flavor.hugepages
            and not (flavor.realtime or flavor.numa)
            and flavor.shared_over == "core"
            and (not self.asked_memory or flavor.memory_mib == self.memory_mib)
        )

    def made(self, own: Flavor) -> Flavor:
        """Return a flavor that meets it, named after what it is.

        Args:
            own: the VNF's, which gives the disk, and the memory where nothing else does.
        """
        memory = self.memory_mib or max(own.memory_mib, self.vcpus * MIB_OF_VCPU)
        words = [f"vsperf-{self.vcpus}c-{self.queues}q-{memory}m"]
        words += ["pinned"] if self.pinned else []
        words += ["isolated"] if self.isolated else []
        return Flavor(
            name="-".join(words),
            title=f"VSPERF's guest of {self.vcpus} vCPUs",
            vcpus=self.vcpus,
            memory_mib=memory,
            disk_gib=own.disk_gib,
            hugepages=True,
            cpu_policy="dedicated" if self.pinned else "shared",
            emulator_threads="isolate" if self.isolated else None,
            queues=self.queues,
        )


def map_flavor(draft: Draft, settings: TestSettings, vnf: VnfSpec, catalogue: Catalogue) -> Flavor:
    """Return the flavor of the guests: the VNF's own where no setting asks for anything.

    Args:
        draft: gets the flavor where it has to be made, what is missing and what differs.
        vnf: the VNF that runs in them.
    """
    own = catalogue.load_flavor(vnf.flavor)
    smp, memory, queues = settings.get("GUEST_SMP"), settings.get("GUEST_MEMORY"), queues_of(draft, settings)
    vcpus = own.vcpus if smp is None else vcpus_of(draft, same_for_all(draft, smp))
    pinned, isolated = _binding(draft, settings, vcpus)
    if smp is None and memory is None and (queues is None or queues.value == 1) and not pinned:
        return own
    memory = None if memory is None else same_for_all(draft, memory)
    demand = GuestDemand(
        vcpus=vcpus,
        queues=1 if queues is None else queues.value,
        memory_mib=None if memory is None else whole(draft, memory, 1, _MOST),
        asked_memory=memory is not None and not settings.is_default(memory),
        pinned=pinned,
        isolated=isolated,
    )
    if _beyond(draft, demand, (smp, memory, queues)):
        return own
    flavors = [one for one in map(catalogue.load_flavor, catalogue.flavor_names) if demand.is_met(one)]
    if flavors:
        found = min(flavors, key=lambda one: (_distance(one, demand), one.thread_policy is not None, one.name))
        if memory is not None and _distance(found, demand):
            draft.differs(memory, f"the guest has {found.memory_mib} MiB, as the nearest flavor; add one to flavors/")
        return found
    made = demand.made(own)
    at = next(found for found in (smp, queues, memory, settings.get("GUEST_CORE_BINDING")) if found is not None)
    draft.put("flavors", [made.model_dump(mode="json", exclude_defaults=True)], at)
    return made


def queues_of(draft: Draft, settings: TestSettings) -> SettingValue | None:
    """Return the number of queues of a port; 0 is one queue. None where no setting gives it."""
    found = settings.get("GUEST_NIC_QUEUES")
    if found is None:
        return None
    queues = same_for_all(draft, found)
    return SettingValue(queues.name, max(whole(draft, queues, 0, MAX_VCPUS), 1), queues.place)


def same_for_all(draft: Draft, found: SettingValue) -> SettingValue:
    """Return the value that all guests share."""
    # Colorado has one value for all guests in some settings.
    if isinstance(found.value, str | int):
        return found
    if not isinstance(found.value, list | tuple) or not found.value:
        raise draft.wrong(found, "give a list with a value for the first VM at least")
    if any(value != found.value[0] for value in found.value):
        draft.lacks("VNFs of one test that differ from each other", found)
    return SettingValue(found.name, found.value[0], found.place)


def _beyond(draft: Draft, demand: GuestDemand, given: Sequence[SettingValue | None]) -> bool:
    """Report what no flavor can have; return whether there is anything."""
    smp, memory, queues = given
    if smp is not None and demand.vcpus > MAX_VCPUS:
        draft.lacks(f"a flavor has at most {MAX_VCPUS} vCPUs", smp)
        return True
    most = min(demand.vcpus, MAX_QUEUES)
    if queues is not None and demand.queues > most:
        text = f"a port has at most as many queues as its guest has vCPUs, and {MAX_QUEUES}: {most} here"
        draft.lacks(text, queues, f"give GUEST_NIC_QUEUES up to {most}, or GUEST_SMP as many vCPUs")
        return True
    if memory is not None and demand.memory_mib is not None and not LEAST_MIB <= demand.memory_mib <= MOST_MIB:
        draft.lacks(f"a flavor has memory_mib from {LEAST_MIB} to {MOST_MIB}", memory)
        return True
    return False


def _distance(flavor: Flavor, demand: GuestDemand) -> int:
    """Return how far a flavor's memory is from what the settings say, MiB."""
    return 0 if demand.memory_mib is None else abs(flavor.memory_mib - demand.memory_mib)


def _binding(draft: Draft, settings: TestSettings, vcpus: int) -> tuple[bool, bool]:
    """Return whether each vCPU is bound to a core of its own, and whether QEMU's own threads are kept off these.

    VSPERF starts QEMU on the cores of GUEST_CORE_BINDING, then binds each vCPU to one of GUEST_THREAD_BINDING, else of
    GUEST_CORE_BINDING.
    """
    cores, threads = settings.get("GUEST_CORE_BINDING"), settings.get("GUEST_THREAD_BINDING")
    if threads is not None and any(value is not None for value in _entries(threads)):
        bound = _cores(draft, threads, vcpus)
        others = set() if cores is None else {core for guest in _cores(draft, cores, 1) for core in guest}
        return _each_alone(draft, threads, bound, vcpus), not others & {core for guest in bound for core in guest}
    if cores is None:
        return False, False
    if settings.is_default(cores):
        draft.differs(cores, _SHARED)
        return False, False
    return _each_alone(draft, cores, _cores(draft, cores, vcpus), vcpus), False


def _each_alone(draft: Draft, found: SettingValue, bound: Sequence[Sequence[int]], vcpus: int) -> bool:
    """Return True, after reporting vCPUs that share a core."""
    used = [core for guest in bound for core in guest[:vcpus]]
    if len(set(used)) < len(used):
        draft.lacks("a vCPU that is bound has its core alone, among all guests of the test", found)
    else:
        draft.differs(found, _OWN_CORES)
    return True


def _entries(found: SettingValue) -> Sequence[object]:
    return found.value if isinstance(found.value, list | tuple) else (found.value,)


def _cores(draft: Draft, found: SettingValue, least: int) -> list[tuple[int, ...]]:
    """Return the cores of each guest: at least so many."""
    return [tuple(_cores_of(draft, found, guest, least)) for guest in _entries(found)]


def _cores_of(draft: Draft, found: SettingValue, guest: object, least: int) -> Iterator[int]:
    if not isinstance(guest, list | tuple) or len(guest) < least:
        raise draft.wrong(found, f"give a tuple with a core for each of the {least} vCPUs, for each VM: [('4', '5')]")
    for core in guest:
        yield whole(draft, SettingValue(found.name, core, found.place), 0, _MOST)


def vcpus_of(draft: Draft, found: SettingValue) -> int:
    """Return the number of vCPUs in QEMU's `-smp`: a number, or `sockets=1,cores=2`, whose product it is."""
    count = 1
    for part in str(found.value).split(","):
        match = _SMP.fullmatch(part.strip())
        if match is None or not int(match[1]):
            raise draft.wrong(found, "give a number of vCPUs, or 'sockets=1,cores=2'")
        count *= int(match[1])
    return count
