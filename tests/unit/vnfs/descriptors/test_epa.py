"""What is asked of the machine against flavor, variant and host: every mismatch, in one line with its fix."""

from dataclasses import replace

import pytest

from nfvbed.errors import ConfigurationError
from nfvbed.spec.flavor import Flavor, NumaNodeSpec
from nfvbed.vnfs.descriptors import epa, hostfit, legacy, requestedresources
from nfvbed.vnfs.descriptors.requestedresources import RequestedResources
from nfvbed.vnfs.descriptors.yamltext import dump
from tests.unit.vnfs.descriptors.requests import PROJECT, choice_of, legacy_document, request
from tests.unit.vnfs.test_numa import host

OVS, BRIDGE = PROJECT.load_variant("ovs-dpdk"), PROJECT.load_variant("linux-bridge")
SRIOV = PROJECT.load_variant("sriov")


def compared(made, variant, forwarding="io"):
    """Compare vloop's machine with its own flavor and a variant."""
    (machine,) = made.only.machines
    choice = choice_of(machine.flavor.removeprefix("nfvbed."), forwarding)
    return epa.compare(requestedresources.of_machine(machine), choice.flavor, variant, choice)


def subjects(found):
    return [one.subject for one in found]


@pytest.mark.parametrize("name", PROJECT.flavor_names)
@pytest.mark.parametrize("variant", [OVS, BRIDGE], ids=lambda one: one.name)
def test_own_descriptors_fit_their_flavors(name, variant):
    assert compared(request(flavor=name), variant) == []


def test_memory_that_is_not_shared_is_of_no_use_to_vhost_user():
    mute = request(flavor="default", extra_specs={"hw:cpu_policy": "shared"})
    (found,) = compared(mute, OVS)
    assert found.subject == "hugepages"
    assert "ACTIVE and mute" in str(found)
    assert "\n" not in str(found)
    assert compared(mute, BRIDGE) == []


def test_ports_that_are_virtual_functions_want_a_direct_vnic():
    found = compared(request(forwarding="mac"), SRIOV, "mac")
    assert subjects(found) == ["vNIC", "vNIC"]
    assert "vnic_type direct" in found[0].fix
    assert compared(request(forwarding="mac", direct=True), SRIOV, "mac") == []
    assert subjects(compared(request(direct=True), OVS)) == ["vNIC", "vNIC"]


@pytest.mark.parametrize(
    ("specs", "subject"),
    [
        ({"hw:cpu_policy": "dedicated"}, "CPU pinning"),
        ({"hw:cpu_thread_policy": "isolate"}, "thread policy"),
        ({"hw:numa_nodes": "2"}, "NUMA nodes"),
        ({"hw:numa_mem.0": "512"}, "NUMA nodes"),
        ({"hw:vif_multiqueue_enabled": "true"}, "multiqueue"),
        ({"hw:cpu_realtime": "yes"}, "real time"),
        ({"hw:emulator_threads_policy": "isolate"}, "emulator threads"),
        ({"hw:mem_page_size": "small"}, "hugepages"),
        ({"hw:pci_numa_affinity_policy": "required"}, "hw:pci_numa_affinity_policy"),
    ],
)
def test_each_request_that_the_flavor_does_not_grant_is_told(specs, subject):
    found = list(epa.of_flavor(RequestedResources(specs=specs), PROJECT.load_flavor("hugepages")))
    assert subjects(found) == [subject]
    assert "hugepages" in found[0].found
    assert found[0].fix


@pytest.mark.parametrize("specs", [{"hw:mem_page_size": "large"}, {"hw:mem_page_size": "any"}, {"hw:numa_nodes": "1"}])
def test_other_words_for_the_same_are_no_mismatch(specs):
    assert list(epa.of_flavor(RequestedResources(specs=specs), PROJECT.load_flavor("hugepages"))) == []


def test_queues_of_a_virtual_function_are_its_nics():
    made = request(flavor="multiqueue", forwarding="mac", direct=True)
    found = compared(made, SRIOV, "mac")
    assert subjects(found) == ["multiqueue"]


def test_variant_without_ports_for_it_is_told():
    found = compared(request(), PROJECT.load_variant("vale"))
    assert subjects(found) == ["ports"]


COMPUTE = {
    "num_cpus": 8,
    "mem_size": "4 GB",
    "mem_page_size": 2,
    "numa_node_count": 2,
    "cpu_allocation": {"cpu_affinity": "dedicated", "thread_allocation": "isolate"},
}


def with_compute(**changes):
    """Return a descriptor with a flavor of its own, as Tacker's legacy form has it."""
    template = legacy.template(request())
    compute = {"nfv_compute": {"properties": COMPUTE | changes}}
    template["topology_template"]["node_templates"]["VDU1"]["capabilities"] = compute
    return legacy_document(dump(template))


def test_what_a_written_descriptor_asks_is_told_with_its_lines():
    found = requestedresources.of_document(with_compute())
    assert (found.vcpus, found.memory_mib) == (8, 3814)
    assert found.specs == {
        "hw:mem_page_size": "2048",
        "hw:numa_nodes": "2",
        "hw:cpu_policy": "dedicated",
        "hw:cpu_thread_policy": "isolate",
    }
    told = epa.compare(found, PROJECT.load_flavor("hugepages"), OVS, choice_of())
    assert subjects(told) == ["vCPUs", "memory", "NUMA nodes", "CPU pinning", "thread policy"]
    assert all(one.where.startswith("vloop.yaml:") for one in told)


def test_size_that_cannot_be_read_is_refused_with_its_line():
    with pytest.raises(ConfigurationError, match="a size cannot be read") as failure:
        requestedresources.of_document(with_compute(mem_size="4 potatoes"))
    assert "mem_size" in failure.value.where


# -- flavors against the host


def flavor(**keys):
    return Flavor(name="test", title="Test", **keys)


def test_host_that_has_it_all_lacks_nothing():
    pinned = flavor(vcpus=2, memory_mib=1024, hugepages=True, cpu_policy="dedicated")
    assert hostfit.check(pinned, host(free_hugepages_mib={0: 2048})) == []


def test_each_lack_of_a_host_is_told():
    nodes = (NumaNodeSpec(cpus=(0, 1), memory_mib=512), NumaNodeSpec(cpus=(2, 3), memory_mib=512))
    large = flavor(vcpus=4, memory_mib=1024, hugepages=True, cpu_policy="dedicated", numa=nodes, realtime=True)
    small = host(cores=2, control=(1,), free_hugepages_mib={0: 256})
    found = hostfit.check(large, small, realtime_us=0)
    assert subjects(found) == ["NUMA nodes", "cores", "hugepages", "real time"]
    assert all(one.fix and one.found for one in found)


def test_second_vnf_has_what_the_first_one_leaves():
    pinned = flavor(vcpus=2, memory_mib=1024, hugepages=True, cpu_policy="dedicated")
    roomy = host(cores=5, control=(2,), free_hugepages_mib={0: 1536})
    assert hostfit.check(pinned, roomy) == []
    assert subjects(hostfit.check(pinned, roomy, vnfs=2)) == ["cores", "hugepages"]
    three_left = host(cores=6, control=(2,), free_hugepages_mib={0: 4096})
    assert subjects(hostfit.check(pinned, three_left, vnfs=2)) == ["cores"], "the first one takes two of three"


def test_one_vcpu_cannot_be_real_time():
    alone = flavor(vcpus=1, cpu_policy="dedicated", realtime=True)
    assert subjects(hostfit.check(alone, host(), realtime_us=950_000)) == ["real time"]


def test_flavors_are_checked_together():
    fits, large = flavor(vcpus=1), replace_name(flavor(vcpus=64, cpu_policy="dedicated"), "large")
    assert list(hostfit.check_all([fits, large], host())) == ["large"]


def replace_name(one, name):
    return one.model_copy(update={"name": name})


def test_memory_for_hugepages_is_read_node_by_node(tmp_path):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 9 kB\nMemAvailable:  2097152 kB\n")
    assert hostfit.reservable_mib(1, tmp_path, meminfo) == {0: 2048}
    for node, free in ((0, 1048576), (1, 524288)):
        path = tmp_path / f"devices/system/node/node{node}/meminfo"
        path.parent.mkdir(parents=True)
        path.write_text(f"Node {node} MemTotal: 9 kB\nNode {node} MemFree: {free} kB\n")
    assert hostfit.reservable_mib(2, tmp_path, meminfo) == {0: 1024, 1: 512}
    (tmp_path / "us").write_text("-1\n")
    assert hostfit.realtime_share(tmp_path / "us") == -1
    assert hostfit.realtime_share(tmp_path / "none") is None


def test_mismatch_names_its_place():
    one = epa.Mismatch("cores", "none", "more", "a:1")
    assert str(one) == "cores: none (a:1); fix: more"
    assert str(replace(one, where="")) == "cores: none; fix: more"
