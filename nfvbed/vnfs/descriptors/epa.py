"""A descriptor's demands against flavor and variant: each mismatch in one line, before anything is made."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nfvbed.cloud.novaflavor import extra_specs
from nfvbed.dataplanes.wiring import vnf_port_kind
from nfvbed.errors import ConfigurationError, NfvbedError, UnsupportedError
from nfvbed.records import PortKind
from nfvbed.spec.flavor import Flavor
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.vnfs.descriptors.requestedresources import RequestedResources

PAGES = "hw:mem_page_size"
_NUMA = "hw:numa_"
_MULTIQUEUE = "hw:vif_multiqueue_enabled"
_SUBJECTS = {
    PAGES: "hugepages",
    "hw:cpu_policy": "CPU pinning",
    "hw:cpu_thread_policy": "thread policy",
    "hw:emulator_threads_policy": "emulator threads",
    "hw:cpu_realtime": "real time",
    "hw:cpu_realtime_mask": "real time",
    "hw:numa_nodes": "NUMA nodes",
    _MULTIQUEUE: "multiqueue",
}
_DEFAULTS = {"hw:cpu_policy": "shared", "hw:numa_nodes": "1", PAGES: "small", _MULTIQUEUE: "false"}
"""What Nova does where a flavor says nothing."""
_KEYS = {
    PAGES: "hugepages: true",
    "hw:cpu_policy": "cpu_policy: {}",
    "hw:cpu_thread_policy": "thread_policy: {}",
    "hw:emulator_threads_policy": "emulator_threads: {}",
    "hw:cpu_realtime": "realtime: true",
    "hw:cpu_realtime_mask": "realtime: true",
    _MULTIQUEUE: "queues: as many as vcpus",
}
"""How flavors in `flavors/` say it."""
_LARGE = ("large", "2048", "2MB", "2MiB", "1048576", "1GB", "1GiB")


@dataclass(frozen=True)
class Mismatch:
    """Two parts that do not fit together."""

    subject: str
    """`hugepages`, `vNIC`, ..."""
    found: str
    """What is asked, and what there is."""
    fix: str
    where: str = ""
    """File and line; empty where it follows from several."""
    cause: NfvbedError | None = field(default=None, repr=False, compare=False)
    """Error that says the same; None: that of a bad configuration."""

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        return f"{self.subject}: {self.found}{place}; fix: {self.fix}"

    @property
    def shown(self) -> dict[str, str]:
        """The mismatch as a JSON document has it."""
        return {"subject": self.subject, "found": self.found, "fix": self.fix, "where": self.where}

    @property
    def error(self) -> NfvbedError:
        """The error that ends a command which does not go on."""
        return self.cause or ConfigurationError(f"{self.subject}: {self.found}", where=self.where, fix=self.fix)


def mismatch_of(failure: NfvbedError, subject: str) -> Mismatch:
    """Return an error as a subject's mismatch."""
    found = ": ".join(filter(None, (failure.what, failure.observed)))
    return Mismatch(subject, found, failure.fix, failure.where, failure)


def require_fit(mismatches: Sequence[Mismatch]) -> None:
    """Raise the mismatches, if there are any.

    Raises:
        NfvbedError: of the class of the first mismatch; with all of them.
    """
    distinct = list({str(one): one for one in mismatches}.values())
    if not distinct:
        return
    first = distinct[0].error
    if len(distinct) == 1:
        raise first
    raise type(first)(
        f"{len(distinct)} do not fit",
        where=first.where,
        observed="".join(f"\n    {one}" for one in distinct),
        fix="nothing was changed; --check lists them again",
    )


def needs_direct(variant: Variant, choice: VnfChoice) -> bool:
    """Return whether a VNF's ports on a variant are virtual functions, which descriptors call `direct`.

    Raises:
        UnsupportedError: such a VNF has no ports there.
    """
    return vnf_port_kind(variant, choice) is PortKind.VF


def compare(asked: RequestedResources, flavor: Flavor, variant: Variant, choice: VnfChoice) -> list[Mismatch]:
    """Return the mismatches between a descriptor's demands, the flavor and the variant.

    Args:
        flavor: the flavor as Nova has it.
        choice: the VNF as it will run.
    """
    return [*of_flavor(asked, flavor), *of_variant(asked, flavor, variant, choice)]


def of_flavor(asked: RequestedResources, flavor: Flavor) -> Iterator[Mismatch]:
    """Yield the demands of the descriptor that the flavor does not meet."""
    for key, has, unit in (("vcpus", flavor.vcpus, ""), ("memory_mib", flavor.memory_mib, " MiB")):
        wanted = getattr(asked, key)
        if wanted is not None and wanted != has:
            yield Mismatch(
                {"vcpus": "vCPUs", "memory_mib": "memory"}[key],
                f"the descriptor asks for {wanted}{unit}, flavor {flavor.name} has {has}{unit}",
                f"{key}: {wanted} in flavors/{flavor.name}.yml, or another flavor",
                asked.places.get(key, ""),
            )
    # A flavor without hugepages gets them in Nova where ports are vhost-user sockets, and asking for them is right.
    has_specs = extra_specs(flavor)
    for spec, value in asked.specs.items():
        given = has_specs.get(spec, _DEFAULTS.get(spec, "nothing of the kind"))
        if not _alike(spec, value, given):
            key = _KEYS.get(spec, "numa: as the descriptor has it" if spec.startswith(_NUMA) else f"{spec} in Nova")
            yield Mismatch(
                _SUBJECTS.get(spec, "NUMA nodes" if spec.startswith(_NUMA) else spec),
                f"the descriptor asks for {spec}={value}, flavor {flavor.name} has {given}",
                f"{key.format(value)} in flavors/{flavor.name}.yml, or a flavor that has it",
                asked.places.get(spec, ""),
            )


def of_variant(asked: RequestedResources, flavor: Flavor, variant: Variant, choice: VnfChoice) -> Iterator[Mismatch]:
    """Yield the needs of the variant's ports that descriptor or flavor do not meet."""
    try:
        kind = vnf_port_kind(variant, choice)
    except UnsupportedError as failure:
        yield mismatch_of(failure, "ports")
        return
    fix = f"ask for {PAGES}=2048, and hugepages: true in flavors/{flavor.name}.yml"
    yield from of_memory(asked.specs, kind, variant, (fix, asked.places.get(PAGES, "")))
    yield from of_vnics(asked, kind, variant)
    if flavor.queues > 1 and kind is PortKind.VF:
        yield Mismatch(
            "multiqueue",
            f"flavor {flavor.name} has {flavor.queues} queues, and queues of a virtual function are its NIC's",
            "queues: 1, or another flavor",
        )


def of_memory(
    specs: Mapping[str, str], kind: PortKind, variant: Variant, advice: tuple[str, str]
) -> Iterator[Mismatch]:
    """Yield the mismatch of ports that do not reach an instance's memory.

    Args:
        specs: extra specs of the instance.
        kind: kind of the ports.
        advice: advice, and its place.
    """
    pages = specs.get(PAGES, _DEFAULTS[PAGES])
    if kind is not PortKind.VHOST_USER or pages in _LARGE:
        return
    yield Mismatch(
        "hugepages",
        f"ports on {variant.name} are vhost-user sockets, which reach only memory in shared hugepages; the "
        f"instance would have {PAGES}={pages}, be ACTIVE and mute",
        *advice,
    )


def of_vnics(asked: RequestedResources, kind: PortKind, variant: Variant) -> Iterator[Mismatch]:
    """Yield connection points that ask for another kind of vNIC than the ports have."""
    wanted = "direct" if kind is PortKind.VF else "normal"
    for name, vnic in asked.vnics.items():
        if (vnic == "direct") != (wanted == "direct"):
            yield Mismatch(
                "vNIC",
                f"connection point {name} asks for vnic_type {vnic}, ports on {variant.name} are {kind.value}",
                f"vnic_type {wanted} (legacy: type: {'sriov' if wanted == 'direct' else 'vnic'})",
                asked.places.get(name, ""),
            )


def _alike(spec: str, wanted: str, has: str) -> bool:
    if spec == PAGES:
        return wanted == "any" or (wanted in _LARGE) == (has in _LARGE)
    return wanted.lower() == has.lower()
