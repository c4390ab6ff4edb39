"""Neutron's agent for VPP: what it makes of ports, on a double of VPP's API; and the options that reach VPP."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from nfvbed.cloud.devcloud.cloud import DevCloud
from nfvbed.cloud.devcloud.services import library
from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.devcloud import open_cloud
from nfvbed.dataplanes.vpp import node as vpp_node
from nfvbed.dataplanes.vpp.compute import VppCompute
from nfvbed.dataplanes.vpp.neutron_vpp.names import AgentSettings, Uplink, socket_name
from nfvbed.dataplanes.vpp.neutron_vpp.plumbing import Plumbing, Port, interfaces
from nfvbed.dataplanes.vpp.nodeprocess import VppSetup
from nfvbed.errors import DeployError, PrerequisiteError, SwitchDiedError, UnsupportedError
from nfvbed.spec.layout import layout
from tests.unit.dataplanes.vpp.vpp_double import VppDouble

MGMT, DATA0 = Port("p-mgmt", "n-mgmt", "mgmt"), Port("p-data0", "n-data0", "data0")
UPLINKS = {
    "mgmt": Uplink("device", "mgmt"),
    "data0": Uplink("vhost-user", "gen0.sock"),
    "data1": Uplink("memif", "gen1.sock", 512),
}
BRIDGED = AgentSettings("/proc/7/root/run/nfvbed", UPLINKS)
CONNECTED = AgentSettings("/proc/7/root/run/nfvbed", UPLINKS, "l2-cross-connect")


@pytest.fixture(name="vpp")
def _vpp():
    return VppDouble()


@pytest.fixture(name="variant")
def _variant(root):
    return open_project(root).load_variant


def test_interfaces_of_physical_networks_are_made_with_or_without_ports(vpp):
    assert Plumbing(vpp, BRIDGED).sync([]) == frozenset()
    made = {tag: vpp.interfaces[number] for tag, number in interfaces(vpp).items()}
    assert {tag: one.made_of for tag, one in made.items()} == {
        "uplink:mgmt": "mgmt",
        "uplink:data0": "/proc/7/root/run/nfvbed/gen0.sock",
        "uplink:data1": "/proc/7/root/run/nfvbed/gen1.sock",
    }
    assert all(one.flags & 1 for one in made.values())
    assert vpp.joined() == (set(), {})


def test_a_nic_that_vpp_opened_itself_becomes_the_uplink_and_one_that_is_not_there_is_an_error(vpp):
    settings = AgentSettings("/run/nfvbed", {"data": Uplink("interface", "i1")})
    with pytest.raises(ValueError, match="VPP has no interface i1"):
        Plumbing(vpp, settings).sync([])
    vpp.open_nic()
    Plumbing(vpp, settings).sync([Port("p", "n", "data", 200)])
    assert vpp.of("uplink:data").interface_name == "i1" and vpp.of("uplink:data").flags & 1
    assert vpp.of("uplink:data.200").made_of == vpp.of("uplink:data").sw_if_index


def test_a_port_joins_its_network_in_a_domain_that_has_the_networks_name(vpp):
    Plumbing(vpp, BRIDGED).sync([MGMT, DATA0])
    pairs, domains = vpp.joined()
    assert pairs == set()
    assert domains == {"n-mgmt": {"uplink:mgmt", "port:p-mgmt"}, "n-data0": {"uplink:data0", "port:p-data0"}}
    guest = vpp.of("port:p-data0")
    assert guest.made_of == f"/proc/7/root/run/nfvbed/{socket_name('p-data0')}"
    assert guest.flags & 1


def test_a_second_look_changes_nothing(vpp):
    for settings in (BRIDGED, CONNECTED):
        Plumbing(vpp, settings).sync([MGMT, DATA0])
        before = len(vpp.calls)
        Plumbing(vpp, settings).sync([MGMT, DATA0])
        assert set(vpp.calls[before:]) == {"sw_interface_dump", "l2_xconnect_dump", "bridge_domain_dump"}


def test_two_interfaces_are_cross_connected_where_that_is_asked_for_and_more_are_a_domain(vpp):
    plumbing = Plumbing(vpp, CONNECTED)
    plumbing.sync([DATA0])
    assert vpp.joined() == ({frozenset(("uplink:data0", "port:p-data0"))}, {})
    second = Port("p-second", "n-data0", "data0")
    plumbing.sync([DATA0, second])
    assert vpp.joined() == (set(), {"n-data0": {"uplink:data0", "port:p-data0", "port:p-second"}})
    assert plumbing.sync([second]) == {"p-data0"}
    assert vpp.joined() == ({frozenset(("uplink:data0", "port:p-second"))}, {})


def test_a_port_that_is_gone_is_removed_and_its_domain_with_the_last_one(vpp):
    plumbing = Plumbing(vpp, BRIDGED)
    plumbing.sync([MGMT, DATA0])
    assert plumbing.sync([MGMT]) == {"p-data0"}
    assert vpp.joined() == (set(), {"n-mgmt": {"uplink:mgmt", "port:p-mgmt"}})
    assert "port:p-data0" not in interfaces(vpp)
    assert "uplink:data0" in interfaces(vpp)


def test_networks_within_the_host_have_no_uplink(vpp):
    ports = [Port("a", "n-link1", None), Port("b", "n-link1", None)]
    Plumbing(vpp, BRIDGED).sync(ports)
    assert vpp.joined()[1] == {"n-link1": {"port:a", "port:b"}}


def test_a_vlan_is_an_interface_on_that_of_its_physical_network_and_takes_the_tag_off(vpp):
    ports = [Port("a", "n-100", "data0", 100), Port("b", "n-100", "data0", 100), Port("c", "n-200", "data0", 200)]
    Plumbing(vpp, BRIDGED).sync(ports)
    of_vlan = vpp.of("uplink:data0.100")
    assert (of_vlan.made_of, of_vlan.vlan, of_vlan.rewrite) == (vpp.of("uplink:data0").sw_if_index, 100, 3)
    assert vpp.joined()[1] == {
        "n-100": {"uplink:data0.100", "port:a", "port:b"},
        "n-200": {"uplink:data0.200", "port:c"},
    }


def test_a_vpp_that_was_restarted_gets_all_of_it_again(vpp):
    plumbing = Plumbing(vpp, BRIDGED)
    plumbing.sync([MGMT, DATA0])
    before = vpp.joined()
    vpp.restarted()
    plumbing.sync([MGMT, DATA0])
    assert vpp.joined() == before


@pytest.mark.parametrize(
    "message",
    ["create_vhost_user_if_v2", "bridge_domain_add_del_v2", "sw_interface_set_l2_bridge", "af_packet_create_v3"],
)
def test_what_failed_half_way_is_gone_on_with(vpp, message):
    plumbing = Plumbing(vpp, BRIDGED)
    vpp.fails_at = message
    with pytest.raises(DeployError):
        plumbing.sync([MGMT, DATA0])
    vpp.fails_at = None
    plumbing.sync([MGMT, DATA0])
    assert vpp.joined()[1] == {"n-mgmt": {"uplink:mgmt", "port:p-mgmt"}, "n-data0": {"uplink:data0", "port:p-data0"}}


def test_the_limit_of_addresses_is_each_domains(vpp):
    Plumbing(vpp, AgentSettings("/x", UPLINKS, mac_table_size=100)).sync([MGMT])
    assert [domain["limit"] for domain in vpp.domains.values()] == [100]


def test_the_agents_settings_are_read_as_they_are_written():
    assert AgentSettings.parse(CONNECTED.text()) == CONNECTED
    for text in ("{}", "[]", '{"uplinks": {"a": {"kind": 1}}, "folder": ""}'):
        with pytest.raises(ValueError, match="agent"):
            AgentSettings.parse(text)


@pytest.fixture(name="program")
def _program(tmp_path, monkeypatch):
    path = tmp_path / "vpp"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    monkeypatch.setenv("VPP_BIN", str(path))


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize("name", ["vpp", "vpp-memif"])
@pytest.mark.parametrize("topology", ["pvp", "pvvp", "pv3p", "p2p"])
def test_variants_of_vpp_reach_it(tmp_path, variant, name, topology):
    VppCompute(open_cloud(tmp_path)).check(variant(name), layout(topology))


@pytest.mark.usefixtures("program")
@pytest.mark.parametrize(
    ("name", "key", "values"),
    [
        ("vpp-af-packet", "vnf_ports", {}),
        ("vpp-pci", "port_type", {}),
        ("vpp", "rx_queue_size", {"rx_queue_size": 512}),
        ("vpp", "rx_queues", {"rx_queues": 2}),
        ("vpp", "rx_mode", {"rx_mode": "interrupt"}),
    ],
)
def test_what_does_not_reach_vpp_is_refused_by_name(tmp_path, variant, name, key, values):
    found = variant(name)
    options = type(found.options).model_validate(found.options.model_dump(exclude_unset=True) | values)
    with pytest.raises(UnsupportedError, match=f"^{key} of {name}"):
        VppCompute(open_cloud(tmp_path)).check(found.model_copy(update={"options": options}), layout("pvp"))


def test_without_vpp_nothing_is_started(tmp_path, variant, monkeypatch):
    monkeypatch.setenv("VPP_BIN", str(tmp_path / "none"))
    with pytest.raises(PrerequisiteError, match="VPP is not there"):
        VppCompute(open_cloud(tmp_path)).check(variant("vpp"), layout("pvp"))


def test_a_variants_options_are_how_vpp_is_started(variant):
    found = variant("vpp-memif")
    options = type(found.options).model_validate(
        found.options.model_dump(exclude_unset=True)
        | {"buffers": 8192, "main_heap_mib": 256, "workers": 2, "mac_table_size": 50}
    )
    setup = VppSetup.of(options, (3, (0, 1)))
    assert (setup.main_core, setup.worker_cores, setup.main_heap_mib, setup.buffers) == (3, (0, 1), 256, 8192)
    assert setup.uplinks["data0"] == Uplink("memif", "gen0.sock", 1024)
    assert setup.uplinks["mgmt"] == Uplink("device", "mgmt")
    assert (setup.forwarding, setup.mac_table_size) == ("l2-cross-connect", 50)


GUEST = PlacedInstance(
    "1",
    "vnf",
    "vpp",
    (InstancePort("p-data0", "data0", "fa:16:3e:00:00:01"), InstancePort("p-1", "data1", "fa:16:3e:00:00:02")),
)
MODES = {"polling": 1, "interrupt": 2}


@pytest.fixture(name="compute")
def _compute(tmp_path, vpp, monkeypatch):
    """A compute whose VPP is the double, with a guest; frames are counted by number of the interface."""
    Plumbing(vpp, CONNECTED).sync([MGMT, DATA0, Port("p-1", "n-data1", "data1")])
    numbers = range(max(vpp.interfaces) + 1)
    counted = [[(number * 10, 0) for number in numbers]]
    entries = {
        "/sys/node/names": [],
        **dict.fromkeys(("/sys/node/calls", "/sys/node/vectors", "/sys/node/clocks"), [[]]),
    }
    entries |= {"/if/rx": counted, "/if/tx": counted, "/if/drops": [[0 for _ in numbers]]}
    connection = SimpleNamespace(api=vpp, read=lambda *, errors: entries)
    monkeypatch.setattr(VppCompute, "_connection", connection)
    monkeypatch.setattr(DevCloud, "find_outside", lambda cloud, host: SimpleNamespace(pid=1))
    return VppCompute(open_cloud(tmp_path))


def test_hops_are_the_interfaces_of_the_path(compute, vpp):
    hops = compute.hops([GUEST])
    assert [hop.name for hop in hops] == ["vpp port p0", "vpp graph", "vpp port v1a", "vpp port v1b", "vpp port p1"]
    tags = ("uplink:data0", "port:p-data0", "port:p-1", "uplink:data1")
    of_ports = [hop.rx_packets for hop in hops if hop.rx_packets is not None]
    assert of_ports == [10 * vpp.of(tag).sw_if_index for tag in tags]


def test_a_path_whose_interfaces_are_not_there_is_an_error(compute):
    other = PlacedInstance("2", "vnf2", "vpp", (InstancePort("p-9", "data0", ""), InstancePort("p-1", "data1", "")))
    with pytest.raises(SwitchDiedError, match="lacks interfaces") as raised:
        compute.hops([other])
    assert "port:p-9" in raised.value.observed


@pytest.mark.parametrize("resting", [True, False])
def test_workers_poll_measured_interfaces_alone_and_only_while_something_is_measured(compute, vpp, resting):
    for tag in ("uplink:mgmt", "uplink:data0", "port:p-1"):
        vpp.somebody_joins(tag)
    compute.rest(resting)
    wanted = MODES["interrupt" if resting else "polling"]
    assert {vpp.of(tag).mode for tag in ("uplink:data0", "port:p-1")} == {wanted}
    assert {vpp.of(tag).mode for tag in ("uplink:mgmt", "uplink:data1", "port:p-data0")} == {None}


def test_what_a_node_gets_of_nfvbed_needs_nothing_else_of_it(tmp_path):
    """The agent's and the driver's own imports are Neutron's, which are tried in a cloud."""
    for copy in vpp_node.AGENT:
        target = tmp_path / Path(copy.path).relative_to(library.FOLDER)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(copy.source.read_bytes())
    names = (
        "dataplanes.vpp.api",
        "dataplanes.vpp.neutron_vpp.plumbing",
        "dataplanes.vpp.neutron_vpp.names",
    )
    source = "; ".join(f"import nfvbed.{name}" for name in names) + "; print(nfvbed.__file__)"
    # -S: without the libraries that nfvbed has here.
    done = subprocess.run(
        [sys.executable, "-S", "-c", source],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path))
    own = {copy.path for copy in vpp_node.AGENT}
    missing = [copy.path for copy in vpp_node.DRIVER if copy.path not in own]
    assert [Path(path).name for path in missing] == ["driver.py"]
