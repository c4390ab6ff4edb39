"""The compute with OVN of a devcloud: what reaches it, what is refused and why, and how its chassis is checked."""

import json
from pathlib import Path

import pytest

from nfvbed.cloud.devcloud.services.openvswitch import PLAIN, add_bridges, identify
from nfvbed.cloud.verify.commands import Answer, MachineCommands
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.devcloud import compute_of, open_cloud
from nfvbed.dataplanes.ovs.ovn import chassis
from nfvbed.dataplanes.ovs.ovn.chassis import BindingReading, Chassis, ChassisReading
from nfvbed.dataplanes.ovs.ovn.compute import OvnCompute
from nfvbed.dataplanes.ovs.ovn.node import CENTRAL, HOST, KIND, MAPPINGS, SOUTHBOUND
from nfvbed.errors import UnsupportedError
from nfvbed.records.findings import State
from nfvbed.spec.layout import layout

CAPTURED = Path(__file__).parent / "captured" / "ovn-23.03"
"""Output of OVN 23.03.1 and Open vSwitch 3.1.0 before `publish`: one port plugged in, one not; one physical network."""
PORT, OTHER, NETWORK = "9d1e3a52-7c11", "5b0c8f10-22aa", "provnet-4f"
WHOLE = ChassisReading(
    hostname=HOST,
    own={"ovn-bridge-mappings": MAPPINGS},
    for_neutron={"ovn-bridge-mappings": MAPPINGS},
    bindings=(
        BindingReading(name=PORT, type="", chassis=HOST, up=True),
        BindingReading(name=OTHER, type="", chassis="", up=False),
        BindingReading(name=NETWORK, type="localnet", chassis="", up=False),
    ),
    plugged={PORT: "vhu9d1e3a52-7c"},
    patches=(NETWORK,),
    flows={0: 4, 8: 12},
    entered=("vhu9d1e3a52-7c",),
)


@pytest.fixture(name="cloud")
def _cloud(tmp_path):
    return open_cloud(tmp_path)


@pytest.fixture(name="variant")
def _variant(root):
    return open_project(root).load_variant


@pytest.mark.parametrize("topology", ["pvp", "pvvp", "pv3p", "p2p"])
def test_the_logical_switch_reaches_it(cloud, variant, topology):
    compute = compute_of(variant("ovn"), cloud)
    assert type(compute) is OvnCompute
    compute.check(variant("ovn"), layout(topology))


@pytest.mark.parametrize(
    ("name", "key"), [("ovn-acl-stateful", "acl"), ("ovn-acl-stateless", "acl"), ("ovn-router", "path")]
)
def test_what_neutron_decides_is_refused_by_name(cloud, variant, name, key):
    with pytest.raises(UnsupportedError, match=f"^{key} of {name} does not reach") as raised:
        OvnCompute(cloud).check(variant(name), layout("pvp"))
    assert raised.value.where == f"options.{key}"


def test_vnfs_side_by_side_are_refused(cloud, variant):
    with pytest.raises(UnsupportedError, match="topology pvpv has no path there"):
        OvnCompute(cloud).check(variant("ovn"), layout("pvpv"))
    with pytest.raises(UnsupportedError, match="cannot be dealt out"):
        OvnCompute(cloud).lead(())


@pytest.mark.parametrize(("name", "why"), [("ovn-afxdp", "kernel's datapath"), ("ovn-kernel", "kernel module")])
def test_the_rooms_other_data_planes_have_no_compute_and_say_why(cloud, variant, name, why):
    with pytest.raises(UnsupportedError, match=f"{name} is no data plane of a devcloud") as raised:
        compute_of(variant(name), cloud)
    assert why in raised.value.observed


def test_neutrons_server_has_its_driver_only_where_its_node_is_started(cloud):
    assert KIND.mechanism not in cloud.mechanisms()
    assert KIND.mechanism in cloud.mechanisms(HOST)
    assert {one.name for one in cloud.mechanisms()} == {"openvswitch", "linuxbridge", "macvtap", "vpp"}


def test_both_databases_have_a_server_of_their_own():
    servers = [one for one in CENTRAL.processes if one.name.endswith("-database")]
    assert [(one.name, one.argv[2].count("ptcp:")) for one in servers] == [
        ("ovn-nb-database", 1),
        ("ovn-sb-database", 1),
    ]


def test_its_bridges_learn_and_those_of_neutrons_agent_do_not():
    assert "fail-mode=standalone" in add_bridges(KIND.switch).argv
    assert "fail-mode=secure" in add_bridges(PLAIN).argv
    assert f'external_ids:ovn-bridge-mappings="{MAPPINGS}"' in identify(KIND.switch).argv


def test_a_chassis_as_it_must_be():
    found = chassis.check(WHOLE, HOST, MAPPINGS)
    assert [one.topic for one in found] == [
        f"{HOST}: {what}" for what in ("chassis", "port bindings", "OpenFlow rules")
    ]
    assert {one.state for one in found} == {State.PRESENT}
    assert found[1].summary == "1 ports of instances bound and up; physical networks: 1 joined"
    assert found[2].summary == "16 in 2 tables"


@pytest.mark.parametrize(
    ("change", "topic", "said"),
    [
        ({"hostname": ""}, "chassis", f"the southbound database has no chassis {HOST}"),
        ({"hostname": "other"}, "chassis", f"its host name is other, and not {HOST}"),
        ({"for_neutron": {}}, "chassis", f"Neutron reads ovn-bridge-mappings none, and not {MAPPINGS}"),
        (
            {"plugged": {"ab": "vhuab", PORT: "vhu9d1e3a52-7c"}, "entered": ("vhuab", "vhu9d1e3a52-7c")},
            "port bindings",
            "vhuab is plugged in for port ab, which OVN does not have",
        ),
        ({"plugged": {OTHER: "vhu5b"}, "entered": ("vhu5b",)}, "port bindings", f"port {OTHER} is bound to no chassis"),
        ({"plugged": {}, "entered": ()}, "port bindings", f"port {PORT} is bound here, and no interface is plugged in"),
        ({"patches": ("gone",)}, "port bindings", "patch port for gone, which no logical switch has"),
        ({"patches": ()}, "port bindings", "no physical network is joined to the integration bridge"),
        ({"flows": {}}, "OpenFlow rules", "the integration bridge has no rule: every frame is dropped"),
        ({"entered": ()}, "OpenFlow rules", "no rule takes frames of vhu9d1e3a52-7c"),
    ],
)
def test_each_fault_is_named_under_its_topic(change, topic, said):
    found = {
        one.topic.removeprefix(f"{HOST}: "): one
        for one in chassis.check(WHOLE.model_copy(update=change), HOST, MAPPINGS)
    }
    assert found[topic].state is State.ABSENT
    assert said in found[topic].summary
    assert found[topic].fix


def test_a_port_that_is_bound_and_not_up_is_named():
    down = WHOLE.bindings[0].model_copy(update={"up": False})
    read = WHOLE.model_copy(update={"bindings": (down, *WHOLE.bindings[1:])})
    assert "is bound and not up" in chassis.check(read, HOST, MAPPINGS)[1].summary


class RecordedCommands(MachineCommands):
    """Answers of a chassis's tools as they were recorded."""

    def __init__(self):
        super().__init__(HOST)
        self.asked_for = []

    def on_machine(self, argv):
        return self.by_switch(argv)

    def by_switch(self, argv):
        self.asked_for.append(argv)
        return Answer(0, (CAPTURED / self._file(argv)).read_text() if "set" not in argv else "", "")

    @staticmethod
    def _file(argv):
        if argv[-1] == "br-int":
            return "flows.txt" if argv[0] == "ovs-ofctl" else "list-ports.txt"
        if argv[-2:] == ("Chassis", HOST):
            return "other-config.json"
        tables = {"Chassis": "chassis", "Port_Binding": "port-bindings", "Interface": "interfaces", "Port": "ports"}
        return f"{tables[argv[-1]]}.json"


def test_a_chassis_is_read_from_its_tools():
    read = Chassis(HOST, RecordedCommands(), SOUTHBOUND).read("br-int")
    port = "9d1e3a52-7c11-4d0c-9d59-2f0a6b6d5a10"
    assert read.hostname == HOST
    told = "mgmt:br-mgmt,data0:br-data0,data1:br-data1"
    assert read.own["ovn-bridge-mappings"] == told
    assert read.for_neutron == {}
    assert {(one.name[:8], one.type, one.chassis, one.up) for one in read.bindings} == {
        ("5b0c8f10", "", "", False),
        ("provnet-", "localnet", "", False),
        ("9d1e3a52", "", HOST, True),
    }
    assert read.plugged == {port: "vhu9d1e3a52-7c"}
    assert read.patches == ("provnet-data0",)
    assert (min(read.flows), read.flows[0]) == (0, 4)
    assert read.entered == ("patch-br-int-to-provnet-data0", "vhu9d1e3a52-7c")
    states = {one.topic: one.state for one in chassis.check(read, HOST, told)}
    assert states == {
        f"{HOST}: chassis": State.ABSENT,  # nobody has written down what Neutron reads
        f"{HOST}: port bindings": State.PRESENT,
        f"{HOST}: OpenFlow rules": State.PRESENT,
    }


def test_what_neutron_reads_is_taken_from_what_ovn_says():
    commands = RecordedCommands()
    Chassis(HOST, commands, SOUTHBOUND).publish()
    own = dict(json.loads((CAPTURED / "other-config.json").read_text())["data"][0][0][1])
    written = commands.asked_for[-1]
    assert written[:6] == ("ovn-sbctl", f"--db={SOUTHBOUND}", "--timeout=20", "set", "Chassis", HOST)
    keys = ("datapath-type", "iface-types", "ovn-bridge-mappings")
    assert written[6:] == tuple(f'external_ids:{key}="{own[key]}"' for key in keys)
