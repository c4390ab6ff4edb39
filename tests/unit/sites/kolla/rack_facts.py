"""Facts of machines as a rack's file describes them: synthesised, and none of them was recorded on such a machine."""

from nfvbed.sites.kolla.preflight.facts import MachineFacts, NicFacts, NodeFacts
from nfvbed.spec.rack import RackHostSpec, RackNicSpec
from nfvbed.spec.site import KollaSiteSpec

MODULES = ("vfio-pci", "uio_pci_generic", "mlx4_core", "mlx5_core", "openvswitch", "macvtap", "af_packet", "8021q")
INTEL, MELLANOX = "0x8086", "0x15b3"


def as_described(site: KollaSiteSpec) -> dict[str, MachineFacts]:
    """Return facts in which nothing is wrong."""
    return {name: machine(name, host) for name, host in site.hosts.items()}


def machine(name: str, host: RackHostSpec) -> MachineFacts:
    """Return a machine's."""
    nics = tuple(port(place, nic) for place, nic in enumerate(host.nics))
    managing = next(p.interface for p, nic in zip(nics, host.nics, strict=True) if nic.role == "management")
    nodes = tuple(
        NodeFacts(
            number=number,
            cores=node.all_cores,
            memory_mib=65536,
            pages={1048576: node.hugepages_1g, 2048: node.hugepages_2m},
            free_pages={1048576: node.hugepages_1g, 2048: node.hugepages_2m},
        )
        for number, node in enumerate(host.numa)
    )
    offset = host.sibling_offset or 0
    pairs = {(core, core + offset) for node in nodes for core in node.cores if core + offset in node.cores}
    return MachineFacts(
        hostname=name,
        system="Debian",
        kernel="6.12",
        boot_id=f"boot of {name}",
        isolated=tuple(sorted(core for node in host.numa for core in node.isolated_cores)),
        siblings=tuple(sorted(pairs)) if offset else (),
        nodes=nodes,
        page_sizes_kib=(1048576, 2048),
        iommu_groups=60,
        nics=nics,
        modules=dict.fromkeys(MODULES, True),
        address=host.address,
        addresses=(host.address, (host.overlay_address or "").partition("/")[0]),
        networks=(f"{host.address}/24", *((host.overlay_address,) if host.overlay_address else ())),
        address_on=managing,
        address_nics=(managing,),
        route_nics=(managing,),
    )


def port(place: int, nic: RackNicSpec) -> NicFacts:
    """Return a NIC's port."""
    return NicFacts(
        pci=nic.pci or f"0000:00:1f.{place}",
        interface=f"eth{place}",
        mac=nic.mac or f"02:00:00:00:00:{place:02x}",
        driver="ice",
        vendor=INTEL,
        numa_node=nic.numa_node,
        mtu=9000,
        max_mtu=9702,
        carrier=True,
        total_functions=64 if nic.role == "sriov" else 0,
        functions=nic.functions,
        is_function=False,
    )


def with_port(facts: MachineFacts, place: int, **changes: object) -> MachineFacts:
    """Return facts with another port."""
    nics = list(facts.nics)
    nics[place] = nics[place].model_copy(update=changes)
    return facts.model_copy(update={"nics": tuple(nics)})


def with_node(facts: MachineFacts, number: int, **changes: object) -> MachineFacts:
    """Return facts with another NUMA node."""
    nodes = list(facts.nodes)
    nodes[number] = nodes[number].model_copy(update=changes)
    return facts.model_copy(update={"nodes": tuple(nodes)})
