"""Each machine against flavor, variant and host: every mismatch in one line, with its place in the file."""

from nfvbed.spec.flavor import Flavor
from nfvbed.spec.machines import MachinesVnfSpec
from nfvbed.vnfs.descriptors import hostfit
from nfvbed.vnfs.descriptors.machines import check
from nfvbed.vnfs.descriptors.machines.check import CheckContext
from tests.unit.vnfs.descriptors.requests import PROJECT
from tests.unit.vnfs.descriptors.several import EIGHT, FILE, FLAVORS, TWO, request, vepc
from tests.unit.vnfs.test_numa import host

OVS, BRIDGE = PROJECT.load_variant("ovs-dpdk"), PROJECT.load_variant("linux-bridge")
SRIOV, VALE = PROJECT.load_variant("sriov"), PROJECT.load_variant("vale")


def changed(machine, **keys) -> MachinesVnfSpec:
    """Return the mobile core with one machine changed."""
    return vepc(machines=tuple(one.model_copy(update=keys) if one.name == machine else one for one in vepc().machines))


def found(variant, flavour=EIGHT, **keys):
    return check.check(
        keys.get("vnf") or vepc(), request(soft=True, **keys).flavour(flavour), CheckContext(FILE, variant, FLAVORS)
    )


def test_mobile_core_fits_its_flavors():
    for flavour in (EIGHT, TWO):
        assert found(OVS, flavour) == []
        assert found(BRIDGE, flavour) == []
        assert found(SRIOV, flavour, direct=True) == []


def test_what_a_machine_asks_and_its_flavor_has_not_is_told_with_the_line():
    (one,) = found(OVS, vnf=changed("sgw", asks={"hw:cpu_policy": "dedicated"}))
    assert one.subject == "CPU pinning"
    assert one.found.startswith("machine sgw: the descriptor asks for hw:cpu_policy=dedicated")
    assert "vnf.yml:" in one.where and "machines[4]" in one.where
    (held,) = found(OVS, TWO, vnf=changed("sgw", asks={"hw:cpu_policy": "dedicated"}))
    assert held.found.startswith("machine core:")


def test_functions_of_one_guest_cannot_ask_for_different_things():
    vnf = changed("sgw", asks={"hw:numa_nodes": "1"})
    vnf = vnf.model_copy(
        update={
            "machines": tuple(
                one.model_copy(update={"asks": {"hw:numa_nodes": "2"}}) if one.name == "pgw" else one
                for one in vnf.machines
            )
        }
    )
    (one,) = found(OVS, TWO, vnf=vnf)
    assert "hw:numa_nodes=2 is asked for by pgw" in one.found
    assert "machines[5]" in one.where


def test_ports_that_are_virtual_functions_want_a_direct_vnic_on_data_ports_alone():
    told = found(SRIOV, TWO)
    assert [one.subject for one in told] == ["vNIC"] * 4
    assert {one.found.split()[1] for one in told} == {"core:", "edge:"}
    assert all("flavours[0].machines" in one.where for one in told)


def test_nic_that_a_port_needs_and_the_variant_has_not_is_told():
    sgw = vepc().machine("sgw")
    ports = tuple(port.model_copy(update={"vnic": "vf"}) if port.name == "s1-u" else port for port in sgw.ports)
    told = found(OVS, vnf=changed("sgw", ports=ports))
    assert [one.subject for one in told] == ["ports"]
    assert "machine sgw" in told[0].found


def test_variant_without_ports_for_it_is_told_for_machines_of_the_path():
    told = found(VALE)
    assert {one.subject for one in told} == {"ports"}
    assert {one.found.split()[1] for one in told} == {"ue-enb:", "sgw:", "pgw:", "igw:", "server:"}


def test_groups_that_want_several_computes_are_told_where_there_is_one():
    zones = {"core": "left", "edge": "right"}
    (one,) = check.unplaced(vepc(), request(zones=zones).flavour(TWO), FILE)
    assert one.subject == "placement"
    assert "flavours[0].placement" in one.where
    assert check.unplaced(vepc(), request(soft=True).flavour(TWO), FILE) == []
    assert check.unplaced(vepc(), request(zones=zones).flavour(EIGHT), FILE) == []


def test_machines_are_placed_beside_each_other():
    small = Flavor(name="small", title="Small", vcpus=1, memory_mib=512, hugepages=True)
    sizes = dict.fromkeys(("a", "b", "c", "d"), small)
    assert hostfit.check_together(sizes, host(free_hugepages_mib={0: 2048})) == []
    (one,) = hostfit.check_together(sizes, host(free_hugepages_mib={0: 1024}))
    assert one.subject == "hugepages"
    assert one.found.startswith("there is no room for c, d beside a, b:")
    assert one.fix
