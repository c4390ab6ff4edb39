"""All faults of a rack from facts alone: each is found, with its machine, its key and what was seen."""

import pytest

from nfvbed.errors import NfvbedError
from nfvbed.host.nics.inventory import GroupMember
from nfvbed.sites.kolla.model import roles_of
from nfvbed.sites.kolla.pinning import pinning_of
from nfvbed.sites.kolla.preflight.checks import examine_gathered, preflight
from nfvbed.sites.kolla.preflight.finding import Finding, blocking
from nfvbed.sites.kolla.preflight.gather import MachineAnswers, gather
from nfvbed.sites.kolla.preflight.report import support_of
from nfvbed.sites.kolla.render import order_pinned
from tests.unit.sites.kolla.orders import PROJECT, changed, site, without_pci
from tests.unit.sites.kolla.rack_facts import MELLANOX, as_described, with_node, with_port

NAME = "compute1"
FLAVORS = tuple(PROJECT.load_flavor(name) for name in PROJECT.flavor_names)


NEWEST = PROJECT.load_kolla_release("2026.1")


def is_rendered(name):
    """Whether the example rack can have a variant with the newest release."""
    try:
        order_pinned(pinning_of(PROJECT, site(), name), site(), NEWEST)
    except NfvbedError:
        return False
    return True


def findings(variant="ovs-dpdk", release="2026.1", at=None, facts=None, flavors=()):
    at = at or site()
    told = as_described(at) if facts is None else facts
    return preflight(at, pinning_of(PROJECT, at, variant), PROJECT.load_kolla_release(release), told, flavors)


def of_machine(change, variant="ovs-dpdk"):
    """What is found after a change of one machine's facts."""
    facts = as_described(site())
    return findings(variant, facts=facts | {NAME: change(facts[NAME])})


def only(found):
    assert len(found) == 1, "\n".join(f"{one.what}: {one.observed}" for one in found)
    return found[0]


@pytest.mark.parametrize("variant", ["ovs-dpdk", "ovs-kernel", "sriov", "macvtap"])
def test_machines_as_described_have_no_faults(variant):
    assert findings(variant) == []


FAULTS = {
    "no such NIC": ("ovs-dpdk", lambda f: with_port(f, 1, pci="0000:5e:00.0"), "nics[1].pci", "0000:5e:00.0"),
    "two ports": ("ovs-dpdk", lambda f: with_port(f, 2, pci="0000:3b:00.0"), "nics[1].pci", "eth1, 0000:3b:00.0"),
    "other node": ("ovs-dpdk", lambda f: with_port(f, 1, numa_node=1), "nics[1].numa_node", "no polling core"),
    "no link": ("ovs-dpdk", lambda f: with_port(f, 1, carrier=False), "nics[1]", "no carrier"),
    "MTU of the driver": ("ovs-dpdk", lambda f: with_port(f, 1, max_mtu=1500, mtu=1500), "nics[1].network", "is 1500"),
    "MTU": ("ovs-kernel", lambda f: with_port(f, 1, mtu=1500), "nics[1].network", "eth1: MTU 1500"),
    "Mellanox to vfio": (
        "ovs-dpdk",
        lambda f: with_port(f, 1, vendor=MELLANOX, driver="mlx5_core"),
        "nics[1].driver",
        "driver mlx5_core",
    ),
    "Mellanox taken": (
        "sriov",
        lambda f: with_port(f, 2, vendor=MELLANOX, driver="vfio-pci", interface=None),
        "nics[2].driver",
        "driver vfio-pci",
    ),
    "kernel has it not": ("ovs-kernel", lambda f: with_port(f, 1, driver="vfio-pci"), "nics[1].driver", "vfio-pci"),
    "no VLAN devices": (
        "macvtap",
        lambda f: f.model_copy(update={"modules": {**f.modules, "8021q": False}}),
        "nics",
        "no /proc/net/vlan",
    ),
    "no driver": ("ovs-dpdk", lambda f: f.model_copy(update={"modules": {}}), "nics[1].driver", "no such module"),
    "no functions": ("sriov", lambda f: with_port(f, 2, total_functions=0), "nics[2].functions", "no SR-IOV"),
    "too many functions": ("sriov", lambda f: with_port(f, 2, total_functions=4), "nics[2].functions", "totalvfs: 4"),
    "functions to make": ("sriov", lambda f: with_port(f, 2, functions=0), "nics[2].functions", "numvfs: 0 of 64"),
    "IOMMU": ("ovs-dpdk", lambda f: f.model_copy(update={"iommu_groups": 0}), "nics[1]", "no groups"),
    "IOMMU for guests": ("sriov", lambda f: f.model_copy(update={"iommu_groups": 0}), "nics[2]", "no groups"),
    "management": ("ovs-dpdk", lambda f: f.model_copy(update={"route_nics": ("eth1",)}), "nics[1].role", "default"),
    "below nothing": (
        "ovs-dpdk",
        lambda f: f.model_copy(update={"address_nics": (), "address_on": "br-data"}),
        "nics",
        "10.10.0.11, which is the address of br-data",
    ),
    "another address": (
        "ovs-dpdk",
        lambda f: f.model_copy(update={"devices": {"192.0.2.7": "eth0"}}),
        "hosts.compute1.address",
        "it has 10.10.0.11",
    ),
    "a second address": (
        "ovs-dpdk",
        lambda f: f.model_copy(update={"devices": {"10.10.0.11": "bond0"}, "second_addresses": ("10.10.0.11",)}),
        "hosts.compute1.address",
        "bond0: ip address calls 10.10.0.11 secondary",
    ),
    "tunnels on a bridged NIC": (
        "ovs-kernel",
        lambda f: f.model_copy(update={"devices": {"10.10.0.11": "eth0", "10.20.0.11": "eth1"}}),
        "overlay_address",
        "10.20.0.11 on eth1, which is nics[1]",
    ),
    "cores away": ("ovs-kernel", lambda f: with_node(f, 0, cores=(0, 1, 2, 3)), "numa[0].cores", "node 0 has 0-3"),
    "not isolated": (
        "ovs-dpdk",
        lambda f: f.model_copy(update={"isolated": tuple(c for c in f.isolated if c not in (2, 3))}),
        "numa[0].isolated",
        "isolated: 4-7",
    ),
    "isolated, and used": (
        "ovs-dpdk",
        lambda f: f.model_copy(update={"isolated": (1, *f.isolated)}),
        "numa[0].isolated",
        "isolated: 1-7",
    ),
    "no node": ("ovs-kernel", lambda f: f.model_copy(update={"nodes": f.nodes[:1]}), "numa[1]", "nodes: 0"),
    "pages": (
        "ovs-dpdk",
        lambda f: with_node(f, 1, pages={1048576: 12, 2048: 4096}),
        "numa[1].hugepages_1g",
        "12 of 16",
    ),
    "small pages": (
        "ovs-dpdk",
        lambda f: with_node(f, 1, pages={1048576: 16}),
        "numa[1].hugepages_2m",
        "0 of 4096",
    ),
    "size of pages": (
        "ovs-dpdk",
        lambda f: with_node(f.model_copy(update={"page_sizes_kib": (2048,)}), 0, memory_mib=65536),
        "numa[0].hugepages_1g",
        "sizes 2048 KiB",
    ),
    "memory of pages": ("ovs-dpdk", lambda f: with_node(f, 0, memory_mib=24576), "hugepages_1g, hug", "24576 MiB"),
    "threads": (
        "ovs-dpdk",
        lambda f: f.model_copy(update={"siblings": ((2, 3), (4, 5))}),
        "sibling_offset",
        "3 is guests'",
    ),
    "name": ("ovs-dpdk", lambda f: f.model_copy(update={"hostname": "debian"}), "hosts.compute1", "debian"),
    "sudo": (
        "ovs-dpdk",
        lambda f: f.model_copy(update={"may_administer": False, "refused": "sudo: a password is required"}),
        "ssh.user",
        "a password is required",
    ),
    "tunnels": ("ovs-kernel", lambda f: f.model_copy(update={"addresses": ("10.10.0.11",)}), "overlay_addr", "10.10"),
}


@pytest.mark.parametrize(("variant", "change", "key", "observed"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_found_with_its_key(variant, change, key, observed):
    found = [one for one in of_machine(change, variant) if key in one.key and observed in one.observed]
    assert len(found) == 1, of_machine(change, variant)
    assert found[0].machine == NAME
    assert found[0].key.startswith("deploy/sites/rack.yml hosts.compute1")
    assert found[0].fix


def test_only_the_machine_with_the_fault_is_named():
    for variant, change, *_ in FAULTS.values():
        assert {one.machine for one in of_machine(change, variant)} == {NAME}


def test_the_management_is_seen_and_not_only_read():
    found = of_machine(lambda f: f.model_copy(update={"address_nics": ("eth1",), "address_on": "bond0"}))
    assert [one.key.rpartition("compute1.")[2] for one in found] == ["nics[0]", "nics[1].role"]
    assert "SSH came in by 10.10.0.11 on eth1" in found[0].observed
    assert "would be taken from the management of compute1" in found[1].what


def test_a_mellanox_nic_is_never_given_away_and_others_are_not_called_one():
    def change(data):
        data["hosts"][NAME]["nics"][1]["driver"] = "mlx5_core"

    at = site(changed(change))
    assert "no Mellanox NIC" in only(findings(at=at)).what
    facts = as_described(at)
    facts[NAME] = with_port(facts[NAME], 1, vendor=MELLANOX, driver="mlx5_core")
    assert findings(at=at, facts=facts) == []


def test_a_packet_socket_s_device_needs_no_driver_and_carries_no_jumbo_frames():
    at = site(without_pci())
    facts = as_described(at)
    veth = {"pci": None, "interface": "dp0", "driver": None, "vendor": "", "numa_node": None, "mtu": 1500}
    facts[NAME] = with_port(facts[NAME], 1, **veth, is_virtual=True)
    assert findings(at=at, facts=facts) == []
    alike = facts | {NAME: with_port(facts[NAME], 1, alike=("dp0.200",))}
    assert only(findings(at=at, facts=alike)).observed == "dp0; dp0.200"
    without = facts | {NAME: facts[NAME].model_copy(update={"modules": {"af_packet": False, "vfio-pci": True}})}
    assert "no driver af_packet" in only(findings(at=at, facts=without)).what
    jumbo = site(without_pci().replace("mtu: 1500", "mtu: 9000"))
    assert {one.key for one in findings(at=jumbo, facts=facts) if "packet sockets" in one.observed} == {
        "deploy/sites/rack.yml hosts.compute1.nics[1].driver, networks.data.mtu (9000)"
    }


def test_a_generator_whose_veth_takes_no_frames_of_xdp_is_a_remark():
    def by_mac(data):
        data["hosts"]["generator"]["nics"][1:] = [
            {"role": "dpdk", "mac": f"52:54:00:3{place}:00:14", "network": "data", "driver": "af_packet"}
            for place in (0, 1)
        ]
        for network in data["networks"].values():
            network["mtu"] = 1500

    at = site(changed(by_mac))
    facts = as_described(at)
    assert findings(at=at, facts=facts) == []
    facts["generator"] = with_port(facts["generator"], 1, takes_redirected=False)
    found = only(findings(at=at, facts=facts))
    assert not found.stops and "ethtool -K PEER gro on" in found.fix and found.key.endswith("generator.nics[1]")


def test_all_faults_at_once_of_all_machines():
    facts = as_described(site())
    facts = {name: one.model_copy(update={"iommu_groups": 0, "hostname": "x"}) for name, one in facts.items()}
    found = findings(facts=facts)
    assert {one.machine for one in found} == set(facts)
    assert sum("another name" in one.what for one in found) == 4
    assert {one.machine for one in found if "IOMMU" in one.what} == {"compute1", "compute2", "generator"}


def test_a_machine_that_is_named_twice():
    facts = as_described(site())
    facts["compute2"] = facts["compute2"].model_copy(update={"boot_id": facts["compute1"].boot_id})
    found = only(findings(facts=facts))
    assert (found.machine, found.what) == ("compute2", "compute2 is the same machine as compute1")


def test_networks_that_no_nic_reaches_and_that_nobody_serves():
    def change(data):
        data["networks"]["spare"] = {"vlans": [400, 410]}
        data["hosts"]["controller"]["nics"][2]["network"] = "spare"
        data["networks"]["lost"] = {"vlans": [500, 510]}
        data["generator"]["vlans"] = [200, 450]

    found = {one.key.partition(".yml ")[2]: one for one in findings(at=site(changed(change)))}
    assert set(found) == {"networks.lost", "hosts.controller.nics", "generator.vlans"}
    assert "instances reach it on compute1, compute2" in found["hosts.controller.nics"].observed


def test_a_generator_that_is_nowhere_stops_nothing_but_measuring():
    found = only(findings(at=site(changed(lambda data: data["generator"].update(engine="trex")))))
    assert (found.machine, found.key, found.observed) == (
        "generator",
        "deploy/sites/rack.yml generator.trex",
        "engine: trex, and no trex",
    )
    assert "not measured" in found.what and blocking([found]) == []


def test_what_the_release_cannot_and_what_a_compute_cannot():
    found = only(findings("linux-bridge"))
    assert (found.machine, found.fix) == ("", "--release ocata")
    assert "memif" in only(findings("ovs-dpdk-memif")).observed

    def change(data):
        for name in ("compute1", "compute2"):
            data["hosts"][name]["numa"][0]["isolated"] = ""
            data["hosts"][name]["sibling_offset"] = None

    at = site(changed(change))
    found = [one for one in findings("ovs-dpdk", at=at) if "too few isolated cores" in one.what]
    assert [one.machine for one in found] == ["compute1", "compute2"], "each compute has its own"


def test_flavors_that_no_hugepages_divide_are_named_and_stop_nothing_alone():
    assert findings(flavors=FLAVORS) == [], "the example has pages of both sizes"

    def without_small_pages(data):
        for name in ("compute1", "compute2"):
            for node in data["hosts"][name]["numa"]:
                node["hugepages_2m"] = 0

    found = only(findings(at=site(changed(without_small_pages)), flavors=FLAVORS))
    assert "default" in found.what and "768 MiB on one node" in found.observed
    assert not found.stops

    def change(data):
        for name in ("compute1", "compute2"):
            data["hosts"][name]["numa"] = [
                {**node, "hugepages_1g": 0, "hugepages_2m": 8192} for node in data["hosts"][name]["numa"]
            ]

    assert findings(at=site(changed(change)), flavors=FLAVORS) == []
    large = tuple(flavor.model_copy(update={"memory_mib": 1 << 20, "numa": ()}) for flavor in FLAVORS)
    for variant in ("ovs-dpdk", "vpp"):
        assert only(findings(variant, flavors=large)).stops, "no instance at all would start"


def test_flavors_with_more_vcpus_than_cores_are_named():
    def with_one_shared_core(data):
        for name in ("compute1", "compute2"):
            first, second = data["hosts"][name]["numa"]
            first |= {"cores": "0-9", "isolated": "1-9"}
            second |= {"cores": "10-19", "isolated": "10-19"}
            data["hosts"][name].pop("sibling_offset", None)

    at = site(changed(with_one_shared_core))
    (found,) = (one for one in findings("macvtap", at=at, flavors=FLAVORS) if "the cores of an instance" in one.what)
    assert "default" in found.what and "pinned" not in found.what and "1 and 19" in found.observed
    assert not found.stops
    shared = tuple(flavor for flavor in FLAVORS if flavor.cpu_policy == "shared")
    stopping = [one for one in findings("macvtap", at=at, flavors=shared) if "the cores of an instance" in one.what]
    assert only(stopping).stops, "no instance at all would start"


def test_on_cores_that_a_box_shares_no_guest_has_its_own():
    box = PROJECT.load_site("box")
    placement = order_pinned(pinning_of(PROJECT, box, "macvtap"), box, NEWEST).placements["compute1"]
    assert (placement.dedicated, placement.shared) == ((), (0, 1))


def test_roles_that_run_before_make_some_of_it_so():
    made = of_machine(lambda f: with_node(f, 1, pages={2048: 4096}))
    assert only(made).prepared_by == "nfvbed_host"
    assert blocking(made) == made
    assert blocking(made, ("nfvbed_host",)) == []
    release, variant = PROJECT.load_kolla_release("2026.1"), PROJECT.load_variant("ovs-dpdk")
    assert support_of(variant, release, made).readiness.value == "degraded"
    support = support_of(variant, release, of_machine(lambda f: with_port(f, 1, carrier=False)))
    assert (support.readiness.value, support.reason) == (
        "unsupported",
        "PCI device 0000:3b:00.0 of compute1 has no link",
    )
    assert support_of(variant, release, []).readiness.value == "ready"


@pytest.mark.parametrize("variant", [name for name in PROJECT.variant_names if is_rendered(name)])
def test_a_machine_is_prepared_for_every_data_plane_alike(variant):
    unprepared = as_described(site())[NAME].model_copy(update={"isolated": ()})
    facts = as_described(site()) | {NAME: with_node(unprepared, 0, pages={})}
    found = findings(variant, facts=facts)
    assert {one.prepared_by for one in found} == {"nfvbed_host"}
    assert blocking(found, roles_of(pinning_of(PROJECT, site(), variant), NEWEST)) == []


def test_machines_that_cannot_be_asked_and_what_trying_showed():
    at = site()
    gathered = gather(at)
    assert [one.machine for one in gathered.findings] == list(at.hosts), "there is no key file"
    assert all("/etc/nfvbed/rack" in one.observed for one in gathered.findings)
    silent = site(changed(lambda data: data.pop("ssh")))
    assert [one.key for one in gather(silent).findings] == ["deploy/sites/rack.yml ssh"]
    tried = Finding(machine=NAME, what="tried", key="k", observed="o", fix="f")
    told = MachineAnswers(as_described(at), (), (tried,))
    release = PROJECT.load_kolla_release("2026.1")
    for variant in ("sriov", "ovs-kernel"):
        found = examine_gathered(PROJECT, at, pinning_of(PROJECT, at, variant), release, told)
        assert (tried in found) == (variant == "sriov")


def members(*others):
    """A NIC's IOMMU group: itself, and others of (address, class, driver)."""
    own = (("0000:3b:00.0", 0x02, "ice"), *others)
    return tuple(GroupMember(address=address, device_class=kind, driver=driver) for address, kind, driver in own)


@pytest.mark.parametrize(
    ("other", "observed"),
    [
        (("0000:3b:00.1", 0x02, "tg3"), "0000:3b:00.0 and 0000:3b:00.1, driver tg3: group 75"),
        (("0000:3b:01.0", 0x01, "megaraid_sas"), "driver megaraid_sas"),
        (("0000:00:1f.0", 0x02, "e1000e"), "eth0, 0000:00:1f.0"),
        (("0000:3a:00.0", 0x06, "pcieport"), ""),
        (("0000:3b:00.1", 0x02, None), ""),
        (("0000:3b:00.1", 0x02, "vfio-pci"), ""),
    ],
)
def test_a_nic_of_dpdk_whose_iommu_group_somebody_else_is_in(other, observed):
    """As the lab says of its own NICs; the management's NIC there is named as that."""

    def change(facts):
        return with_port(facts, 1, iommu_group=75, group=members(other))

    found = of_machine(change)
    if not observed:
        assert found == []
        return
    fault = only(found)
    assert fault.stops and "nics[1]" in fault.key and "IOMMU group" in fault.what
    assert observed in fault.observed
    assert "if it is not needed" in fault.fix
    assert not of_machine(change, "ovs-kernel"), "the kernel keeps the NIC"


def test_a_nic_whose_node_nobody_knows_is_taken_as_the_file_says():
    found = of_machine(lambda f: with_port(f, 1, numa_node=None))
    remark = only(found)
    assert not remark.stops and blocking(found) == []
    assert "does not say on which NUMA node" in remark.what and "numa_node: -1, of 2 nodes" in remark.observed


def test_on_a_machine_of_one_node_it_is_known_all_the_same():
    facts = as_described(site())
    one = facts[NAME].model_copy(update={"nodes": facts[NAME].nodes[:1]})
    assert one.node_of(one.nics[1].model_copy(update={"numa_node": None})) == 0


@pytest.mark.parametrize(("device", "faults"), [("eth1", 1), ("eth1.7", 0), ("eth9", 0)])
def test_a_controller_s_tunnels_need_a_device_that_no_bridge_takes(device, faults):
    at = site()
    facts = as_described(at)
    devices = {"10.10.0.10": "bond0", "10.20.0.10": device}
    facts["controller"] = facts["controller"].model_copy(update={"devices": devices})
    found = preflight(at, pinning_of(PROJECT, at, "ovs-dpdk"), PROJECT.load_kolla_release("2026.1"), facts)
    assert [one.key.rpartition(".")[2] for one in found] == ["overlay_address"] * faults
