"""A mobile core on a cloud, from what Tacker is asked for to the bearers that frames go over."""

import base64
import io
import zipfile
from dataclasses import replace
from types import SimpleNamespace

import pytest

from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.cloud.tacker.api import TackerVnf, VnfIdentity
from nfvbed.errors import OnboardError, UnsupportedError
from nfvbed.host.qemu.images import Image
from nfvbed.records import Accelerator, PortKind
from nfvbed.sites.openstack import mobilecore, vnfs
from nfvbed.sites.openstack.images import GlanceImage
from nfvbed.sites.openstack.mobilecore import BEARER, BEARERS, CorePlace, MobileCore
from nfvbed.spec.choices import resolve
from nfvbed.spec.layout import layout
from nfvbed.spec.vnf import VnfUse
from tests.unit.vnfs.descriptors import several
from tests.unit.vnfs.descriptors.requests import PROJECT

CORE = MobileCore(PROJECT, "vepc")
CHOICE = resolve(VnfUse(vnf="vepc", kind="vm"), PROJECT.load_variant("ovs-dpdk"), PROJECT)
SEED = "5eed" * 8
PLACE = CorePlace(("left", "right"), SEED)
SAID = [
    "vepc: ping carried: 10 of 10, after 37.4 s of the guest",
    "vepc: tcp carried: 131072 of 131072 bytes and back in 2.1 s, after 39.6 s of the guest",
    f"{BEARER}001010000000002 10.45.0.3 3 4098",
    f"{BEARER}001010000000003 10.45.0.4 5 4099",
    f"{BEARERS}2 from 10.77.2.20 to 10.77.2.11",
]


def placed(name, *networks):
    ports = tuple(
        InstancePort(f"{name}-{network}", network, f"02:00:00:00:00:{number:02x}")
        for number, network in enumerate(networks)
    )
    return PlacedInstance(f"id of {name}", name, "controller", ports)


INSTANCES = (placed("edge", "left", "right"), placed("core", "left", "right"))


@pytest.fixture(name="image")
def _image(tmp_path):
    path = tmp_path / "vepc.qcow2"
    path.write_bytes(b"an image")
    return GlanceImage("nfvbed-vepc-dddd", Image(path, "qcow2", "d" * 64, None))


def test_a_template_has_the_secret_the_networks_and_the_generators_address(image):
    asked = CORE.request(VnfIdentity("abcd", "vnf1"), PLACE, image, "legacy")
    assert (asked.owner, asked.name) == ("abcd", "vnf1")
    assert asked.networks[:2] == (("core_s1-u", "left"), ("core_sgi", "right")), "its path"
    nodes = asked.descriptor["topology_template"]["node_templates"]
    for name in ("core", "edge"):
        words = nodes[name]["properties"]["user_data"].split()
        assert {f"vnf.seed={SEED}", "vnf.generator.s1-u=10.77.2.20", "vnf.generator.sgi=10.77.9.20"} <= set(words)
    assert nodes["VL_s1-u"]["properties"]["network_name"] == "left"


def test_a_package_has_them_too_and_is_another_one_for_each_deployment(image):
    one, other = (CORE.request(VnfIdentity(owner, "vnf1"), PLACE, image, "sol") for owner in ("abcd", "ef01"))
    assert (one.flavour, one.parameters["lcm-operation-user-data-class"]) == (several.TWO, "UserData")
    with zipfile.ZipFile(io.BytesIO(one.descriptor)) as sent:
        assert sent.read(f"BaseHOT/{several.TWO}/vepc.yaml").decode().count(f"vnf.seed={SEED}") == 2
    assert one.descriptor != other.descriptor


def test_it_is_ready_when_the_generators_bearers_are_said():
    assert [mark.step for mark in CORE.ready.marks] == ["functions", "attach", "ping", "tcp", "bearers"]


def test_bearers_are_read_from_the_consoles():
    table = CORE.table(SAID)
    assert tuple(map(str, (table.enb, table.sgw, table.server))) == ("10.77.2.20", "10.77.2.11", "10.77.9.20")
    first, second = table.bearers
    assert (str(first.ue), first.uplink_teid, first.downlink_teid) == ("10.45.0.3", 3, 4098)
    assert second.imsi == "001010000000003"


@pytest.mark.parametrize(
    "lines",
    [SAID[:-1], SAID[-1:], [*SAID, f"{BEARER}001010000000004 10.45.0.5 7"], [*SAID, SAID[2]], [f"{BEARERS}x"]],
    ids=["no end", "no bearer", "a word less", "twice", "no address"],
)
def test_lines_that_are_not_as_they_must_be_are_told(lines):
    with pytest.raises(OnboardError, match="bearers of VNF vepc cannot be read"):
        CORE.table(lines)


def user_data(machine):
    return SimpleNamespace(user_data=base64.b64encode(f"vnf.name=vepc vnf.machine={machine} x".encode()).decode())


def test_the_path_is_through_the_machine_with_both_ends():
    connection = SimpleNamespace(compute=SimpleNamespace(get_server=lambda one: user_data(one.removeprefix("id of "))))
    assert CORE.between(connection, INSTANCES).name == "core"
    with pytest.raises(OnboardError, match="no instance of VNF vepc is its machine core"):
        CORE.between(connection, INSTANCES[:1])


def test_frames_go_over_its_bearers_and_results_name_its_gateway():
    vnf = TackerVnf("legacy", "v-1", "d-1", "vnf1", "abcd", "s-1", INSTANCES)
    plain = vnfs.handle(0, replace(vnf, instances=INSTANCES[1:]), CHOICE, PortKind.VHOST_USER, Accelerator.TCG)
    assert (mobilecore.path_of((plain,)), mobilecore.rig_of((plain,))) == (None, {})
    core = mobilecore.with_bearers(plain, CORE.table(SAID), (("bearers", 5),))
    path = mobilecore.path_of((core,))
    assert path.gateway_macs == ("02:00:00:00:00:00", "02:00:00:00:00:01")
    assert len(path.table.bearers) == 2
    assert mobilecore.rig_of((core,)) == {"gateway": "nextepc", "bearers": 2, "synthetic": False}
    assert core.steps[-1] == ("onboard.vnf1.bearers", 5)
    assert mobilecore.with_hosts(core, {"core": "controller", "edge": "controller"}) is core
    apart = mobilecore.with_hosts(core, {"edge": "second", "core": "controller"})
    assert mobilecore.rig_of((apart,))["computes"] == {"core": 1, "edge": 2}


def test_its_machines_are_where_nova_has_put_them():
    connection = SimpleNamespace(compute=SimpleNamespace(get_server=lambda one: user_data(one.removeprefix("id of "))))
    instances = (replace(INSTANCES[0], host="second"), INSTANCES[1])
    assert CORE.hosts(connection, instances) == {"edge": "second", "core": "controller"}


def test_it_is_in_no_other_topology():
    assert mobilecore.is_core(CHOICE)
    mobilecore.check(layout("vepc"), CHOICE, "devcloud")
    with pytest.raises(UnsupportedError, match="cannot be in topology pvp"):
        mobilecore.check(layout("pvp"), CHOICE, "devcloud")
