"""A cloud against what is expected of it: what holds, and each fault by its name."""

import pytest
from openstack.exceptions import SDKException

from nfvbed.cloud.verify.checks import ExpectedMachine
from nfvbed.cloud.verify.commands import Answer
from nfvbed.cloud.verify.readings import machine_of
from nfvbed.dataplanes.ovs.switchchecks import check_switch
from nfvbed.dataplanes.ovs.switchreading import pages_of, read_switch, rows
from nfvbed.records.findings import State
from nfvbed.sites.verify.cloud import verify, verify_machine
from tests.unit.dataplanes.ovs.releases import VERSIONS, answer, recorded_table
from tests.unit.sites.verify.doubles import HOST, PORT, SYSFS, MachineDouble, agent, cloud, port, service, table

EXPECTED = ExpectedMachine(
    host=HOST,
    agents=("neutron-openvswitch-agent", "neutron-dhcp-agent"),
    services=("nova-compute",),
    datapath_type="netdev",
    polling=(0,),
    takes_hugepages=True,
)
AGENTS = (agent("neutron-openvswitch-agent"), agent("neutron-dhcp-agent"))


def found(machine=None, expected=EXPECTED, **parts):
    parts = {"agents": AGENTS, "services": (service("nova-compute"),), "ports": (port(),)} | parts
    commands = {HOST: machine or MachineDouble()}
    return {one.topic.removeprefix(f"{HOST}: "): one for one in verify(cloud(**parts), (expected,), commands)}


def test_a_cloud_as_expected():
    topics = found()
    assert {topic: one.state for topic, one in topics.items()} == dict.fromkeys(topics, State.PRESENT)
    assert list(topics) == [
        *("agents", "compute services", "instances' ports", "hugepages"),
        *("datapath", "switch's ports", "vhost-user", "PMD threads", "receive queues"),
    ]
    assert topics["receive queues"].summary == "core 0: 1 queues"
    assert topics["hugepages"].summary == "node 0: 390 of 960 pages of 2048 KiB free"


FAULTS = {
    "an agent is dead": (
        {"agents": (AGENTS[0], agent("neutron-dhcp-agent", alive=False))},
        "agents",
        "neutron-dhcp-agent on controller does not report any more",
    ),
    "an agent never came": ({"agents": AGENTS[:1]}, "agents", "neutron-dhcp-agent on controller has never reported"),
    "an agent of another host": (
        {"agents": (AGENTS[0], agent("neutron-dhcp-agent", host="other"))},
        "agents",
        "never reported",
    ),
    "a service is down": ({"services": (service("nova-compute", state="down"),)}, "compute services", "any more"),
    "a service is disabled": (
        {"services": (service("nova-compute", status="disabled"),)},
        "compute services",
        "nova-compute on controller is disabled",
    ),
    "a port is not bound": ({"ports": (port("DOWN", "binding_failed"),)}, "instances' ports", "DOWN, binding_failed"),
    "the kernel's datapath": ({"machine": MachineDouble(datapath="")}, "datapath", "br-int has system"),
    "a port's error": (
        {"machine": MachineDouble(error="could not open network device")},
        "switch's ports",
        "br-int: could not open network device",
    ),
    "a socket": ({"machine": MachineDouble(state="disconnected")}, "vhost-user", f"{PORT}: disconnected"),
    "a mask": ({"machine": MachineDouble(mask="0x2", core=1)}, "PMD threads", "is 0x2, cores 1; the variant's are 0"),
    "a thread on another core": ({"machine": MachineDouble(core=1)}, "PMD threads", "threads run on cores 1"),
}


@pytest.mark.parametrize(("parts", "topic", "said"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_found_and_named(parts, topic, said):
    topics = found(**parts)
    assert topics[topic].state is State.ABSENT
    assert said in topics[topic].summary
    assert topics[topic].fix


def test_a_wrong_mask_is_told_with_the_command_that_sets_it():
    fix = found(MachineDouble(mask="0x2"))["PMD threads"].fix
    assert fix.startswith("ovs-vsctl set Open_vSwitch . other_config:pmd-cpu-mask=0x1 (where")
    assert "frames of that moment are lost" in fix
    queues = found(MachineDouble(mask="0x2", core=1))["receive queues"]
    assert "the thread on core 0 has no queue; 1 queues are on core 1" in queues.summary


def test_ports_of_others_are_not_the_instances():
    assert found(ports=(port("DOWN", owner="network:dhcp"),))["instances' ports"].state is State.PRESENT


def test_what_no_instance_shows_is_unknown():
    topics = found(MachineDouble(ports=()))
    assert {topics[name].state for name in ("vhost-user", "receive queues")} == {State.UNKNOWN}
    assert topics["PMD threads"].state is State.PRESENT, "there is nothing to poll yet, and the mask is right"


def test_queues_that_nobody_polls():
    machine = MachineDouble(ports=(PORT, "vhu1"))
    machine.shown = MachineDouble().shown
    assert found(machine)["receive queues"].summary == "no thread polls vhu1"


class RecordedMachine(MachineDouble):
    """A machine whose switch answers as a released Open vSwitch did; `changes` replaces parts of that."""

    def __init__(self, version, **changes):
        super().__init__()
        self.shown = answer(version, "pmd-rxq-show")
        self.tables |= {
            "Interface": recorded_table(version, "interfaces"),
            "Bridge": recorded_table(version, "bridges"),
        }
        for old, new in changes.values():
            self.shown = self.shown.replace(old, new)
            self.tables = {name: text.replace(old, new) for name, text in self.tables.items()}


UNUSED = "queue 1 of vhu0 is disabled: the guest uses 1 of 2 queues (ethtool -L)"
FAR = "{} is on NUMA node 1, and node 0's core 0 polls it"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_queue_that_the_guest_does_not_use_is_told(version):
    """As it is in the recordings."""
    queues = found(RecordedMachine(version))["receive queues"]
    assert (queues.state, queues.summary) == (State.LIMITED, UNUSED)
    assert "ethtool -L" in queues.fix


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("key", "port"), [('"numa","0"', "vhu0"), ('"numa_id","0"', "null0")], ids=["a guest's memory", "a NIC"]
)
def test_a_port_that_another_nodes_core_polls_is_told(version, key, port):
    """DPDK's ports say numa_id, vhost-user ports numa, in every release."""
    queues = found(RecordedMachine(version, other=(key, key.replace("0", "1"))))["receive queues"]
    assert queues.state is State.LIMITED
    assert FAR.format(port) in queues.summary
    assert "pmd-cpu-mask" in queues.fix


def test_a_node_that_nobody_says_is_no_other_node():
    for said in ('"numa","-1"', '"numa","none"'):
        assert found(RecordedMachine("4.0.0", other=('"numa","0"', said)))["receive queues"].summary == UNUSED


def test_a_guest_that_uses_no_queue():
    machine = RecordedMachine("3.5.0", other=("queue-id:  0 (enabled) ", "queue-id:  0 (disabled)"))
    assert "no queue of vhu0 is enabled" in found(machine)["receive queues"].summary


def test_queues_of_an_old_switch_say_nothing_of_use():
    machine = MachineDouble()
    machine.shown = f"pmd thread numa_id 0 core_id 0:\n\tisolated : false\n\tport: {PORT}\tqueue-id: 0 1\n"
    queues = found(machine)["receive queues"]
    assert (queues.state, queues.summary) == (State.PRESENT, "core 0: 2 queues")


def test_queues_in_a_form_that_is_not_known_hide_nothing_else():
    machine = MachineDouble()
    machine.shown = machine.shown.replace("queue-id:", "queue:")
    topics = found(machine)
    assert topics["receive queues"].state is State.UNKNOWN
    assert "not in the form that is known" in topics["receive queues"].summary
    assert {topics[name].state for name in ("datapath", "switch's ports", "vhost-user", "PMD threads")} == {
        State.PRESENT
    }


def test_a_machine_that_does_not_answer_is_a_finding_and_others_are_read():
    machine = MachineDouble()
    machine.dead = True
    topics = found(machine)
    assert "database connection failed" in topics["switch"].summary
    assert topics["agents"].state is State.PRESENT and topics["hugepages"].state is State.PRESENT


def test_apis_that_do_not_answer():
    broken = cloud()

    def refuse():
        raise SDKException("no answer")

    broken.network.agents = refuse
    topics = {one.topic: one for one in verify(broken, (EXPECTED,), {})}
    assert list(topics) == ["cloud"] and "no answer" in topics["cloud"].summary


def test_functions_and_pages_of_sysfs():
    read = machine_of(SYSFS)
    assert (read.functions, read.pages) == ({"0000:af:00.0": 8}, {0: {2048: (960, 390)}})
    expected = ExpectedMachine(host=HOST, agents=(), functions={"0000:af:00.0": 8, "0000:af:00.1": 4})
    (functions,) = verify_machine(expected, MachineDouble())
    assert functions.summary == "0000:af:00.1 has 0, and not 4"
    full = SYSFS.replace("free_hugepages:390", "free_hugepages:0")
    double = MachineDouble()
    double.on_machine = lambda argv: type("Answer", (), {"out": full})
    (pages, *_) = verify_machine(EXPECTED, double)
    assert (pages.state, "none left on node 0" in pages.summary) == (State.LIMITED, True)


def test_rows_of_the_database():
    first = ["a", ["set", [1, 2]], ["map", [["k", "v"]]]]
    text = table(["name", "tags", "map"], first, ["b", ["set", []], ["map", []]])
    assert rows(text) == [{"name": "a", "tags": [1, 2], "map": {"k": "v"}}, {"name": "b", "tags": None, "map": {}}]


def test_the_kernels_switch_has_no_threads_to_check():
    expected = ExpectedMachine(host=HOST, agents=(), datapath_type="system")
    read = read_switch(MachineDouble(datapath="system"))
    topics = {one.topic.partition(": ")[2]: one for one in check_switch(read, expected)}
    assert list(topics) == ["datapath", "switch's ports", "vhost-user"]
    assert topics["datapath"].summary == "br-data0 has netdev"


MAPS = """\
557d0c5f6000 default file=/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk mapped=28 N0=28 kernelpagesize_kB=4
1180200000 local file=/memfd:seg_2-0\\040(deleted) huge dirty=1 N0=1 kernelpagesize_kB=2048
1180400000 local file=/memfd:seg_2-1\\040(deleted) huge dirty=1 N0=1 kernelpagesize_kB=2048
1190000000 bind:1 file=/dev/hugepages/rtemap_0 huge dirty=3 N0=1 N1=2 kernelpagesize_kB=1048576
7f0000000000 default file=/dev/hugepages/libvirt/qemu/1-instance-1/ram huge dirty=384 N0=384 kernelpagesize_kB=2048
7f1000000000 default file=/memfd:memory-backend-memfd\\040(deleted) huge dirty=9 N0=9 kernelpagesize_kB=2048
"""
"""The first three lines of Open vSwitch 3.1 with DPDK 22.11, kernel 6.18; the others in the same form."""


def test_pages_of_the_switch_are_counted_without_guests_memory():
    assert pages_of(MAPS) == {0: {2048: 2, 1048576: 1}, 1: {1048576: 2}}


def test_nova_s_belief_is_compared_with_what_the_switch_holds():
    machine = MachineDouble()
    machine.maps = Answer(0, MAPS, "")
    for reserved, state in ((600, State.PRESENT), (1, State.ABSENT)):
        pages = {0: {2048: reserved, 1048576: 1}, 1: {1048576: 2}}
        topic = found(machine, EXPECTED.model_copy(update={"reserved_pages": pages}))["switch's hugepages"]
        assert topic.state is state
    assert "holds 2 pages of 2048 KiB, and Nova leaves it 1" in topic.summary
    machine.maps = Answer(0, "", "cat: /proc/7/numa_maps: Permission denied")
    topic = found(machine, EXPECTED.model_copy(update={"reserved_pages": pages}))["switch's hugepages"]
    assert (topic.state, topic.summary) == (State.UNKNOWN, machine.maps.said)
    assert "switch's hugepages" not in found(machine), "of switches without hugepages nobody asks"
