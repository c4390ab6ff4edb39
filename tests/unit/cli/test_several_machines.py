"""`nfvbed package` and `nfvbed onboard` of VNFs of several machines."""

import json
from pathlib import Path

import pytest
import yaml

from nfvbed.cli import onboard_machines
from nfvbed.cli.main import main
from nfvbed.errors import UnsupportedError
from nfvbed.host.cores.topology import CpuTopology
from nfvbed.host.qemu.images import Image
from nfvbed.sites.lab import machine, site
from nfvbed.spec.machines import FormSpec
from nfvbed.vnfs.descriptors import csar, imports
from nfvbed.vnfs.descriptors.descriptorfile import DescriptorVnf, VnfcInstance
from nfvbed.vnfs.descriptors.epa import mismatch_of
from nfvbed.vnfs.descriptors.onboardable import RequiredImage

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.setenv("NFVBED_ROOT", str(ROOT))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.qcow2").write_bytes(b"an image")
    eight = tuple(range(8))
    monkeypatch.setattr(machine, "read_topology", lambda: CpuTopology(allowed=eight, nodes=(eight,)))
    monkeypatch.setattr(site, "find_remembered", lambda: None)


def test_package_has_both_flavours(tmp_path, capsys):
    assert main(["package", "vepc", "--image-file", "own.qcow2"]) == 0
    assert "placement is wished for and not required" in capsys.readouterr().err
    assert list(imports.flavours(csar.read(tmp_path / "vepc.csar"))) == ["default", "two-guests"]
    assert main(["package", "vepc.csar"]) == 0
    assert "flavours: default, two-guests" in capsys.readouterr().out


def test_image_is_packed_where_it_is_asked_for(tmp_path):
    words = ["--image-file", str(tmp_path / "own.qcow2"), "--with-image", "--deployment-flavour", "two-guests"]
    assert main(["package", "vepc", *words]) == 0
    assert "Files/images/own.qcow2" in csar.read(tmp_path / "vepc.csar").archive.sizes


def test_template_has_one_flavour_with_names_from_the_options(tmp_path, capsys):
    words = ["--form", "legacy", "--output", "x.yaml", "--network", "s1-u=left", "--image", "own"]
    assert main(["package", "vepc", *words, "--deployment-flavour", "two-guests", "--placement", "strict"]) == 0
    assert capsys.readouterr().err == ""
    topology = yaml.safe_load((tmp_path / "x.yaml").read_text())["topology_template"]
    assert topology["node_templates"]["VL_s1-u"]["properties"]["network_name"] == "left"
    assert {name: one["default"] for name, one in topology["inputs"].items()} == {
        "image_core": "own",
        "flavor_core": "nfvbed.hugepages",
        "image_edge": "own",
        "flavor_edge": "nfvbed.hugepages",
    }


def test_hot_goes_to_standard_output(capsysbinary):
    zones = ["--zone", "core=left", "--zone", "edge=right"]
    assert main(["package", "vepc", "--form", "hot", "--output", "-", *zones]) == 0
    (hot,) = yaml.safe_load_all(capsysbinary.readouterr().out)
    servers = [name for name, one in hot["resources"].items() if one["type"] == "OS::Nova::Server"]
    assert len(servers) == 8


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["vepc"], 10, "--image-file"),
        (["vepc", "--image-file", "none.qcow2"], 10, "the image cannot be read"),
        (["vepc", "--form", "hot", "--placement", "strict"], 11, "cannot be kept apart"),
        (["vepc", "--form", "hot", "--zone", "core"], 2, "--zone is a name and a value"),
        (["vepc", "--form", "hot", "--zone", "cor=x", "--placement", "soft"], 10, "did you mean 'core'?"),
        (["vepc", "--form", "hot", "--network", "s13=x"], 10, "in links: 's13'"),
        (["vepc", "--form", "hot", "--deployment-flavour", "three"], 10, "in flavours: 'three'"),
        (["vepc", "--flavor", "pinned"], 2, "--flavor: not of a VNF of several machines"),
        (["vepc", "--flavour", "two-guests"], 2, "--deployment-flavour NAME"),
        (["vepc", "--most", "2"], 2, "--most: not of a VNF of several machines"),
        (["vepc", "--forwarding", "io"], 2, "--forwarding: not of a VNF of several machines"),
        (["vloop", "--placement", "soft"], 2, "placement are of a VNF of several machines"),
        (["vloop", "--deployment-flavour", "default"], 2, "--deployment-flavour is of a VNF of several machines"),
        (["vloop", "--image-file", "x"], 2, "--image-file is of a VNF of several machines"),
    ],
)
def test_what_cannot_be_is_refused(words, code, said, capsys):
    assert main(["package", *words]) == code
    assert said in capsys.readouterr().err


def check(capsys, *words):
    code = main(["onboard", "vepc", "--check", "--json", "--site", "devcloud", *words])
    return code, [one["subject"] for one in json.loads(capsys.readouterr().out)["mismatches"]]


def test_two_guests_fit_a_devcloud(capsys):
    assert check(capsys, "--variant", "ovs-dpdk", "--deployment-flavour", "two-guests") == (0, [])


@pytest.mark.parametrize(
    ("words", "subjects"),
    [
        (["--variant", "ovs-dpdk", "--deployment-flavour", "default"], ["hugepages"]),
        (["--variant", "linux-bridge", "--deployment-flavour", "two-guests"], ["networks"]),
        (["--variant", "ovs-dpdk", "--deployment-flavour", "default", "--placement", "strict"], ["placement"]),
        (["--variant", "ovs-dpdk", "--deployment-flavour", "two-guests", "--placement", "strict"], ["placement"]),
        (["--variant", "vale", "--deployment-flavour", "two-guests"], ["site"]),
        (["--variant", "sriov", "--deployment-flavour", "two-guests"], ["site"]),
        (["--variant", "ovs-kernel", "--deployment-flavour", "two-guests"], ["site"]),
    ],
)
def test_what_does_not_fit_is_told(words, subjects, capsys):
    assert check(capsys, *words) == (10, subjects)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--site", "devcloud", "--check"], 2, "--variant VARIANT"),
        (["--site", "devcloud", "--check", "--variant", "ovs-dpdk", "--flavor", "pinned"], 2, "--flavor: not of"),
        (["--site", "devcloud", "--variant", "ovs-dpdk", "--topology", "pvvp"], 2, "--topology: not of"),
        (["--variant", "ovs-dpdk", "--kind", "vm", "--bearers", "8"], 2, "bearers: of its machines"),
    ],
)
def test_what_cannot_be_onboarded_is_refused(words, code, said, capsys):
    assert main(["onboard", "vepc", *words]) == code
    assert said in capsys.readouterr().err


def test_options_of_several_machines_are_none_of_one(capsys):
    assert main(["onboard", "vloop", "--variant", "ovs-dpdk", "--placement", "soft"]) == 2
    assert "placement are of a VNF of several machines" in capsys.readouterr().err


class Cloud:
    """Double of a site that is an OpenStack: it notes what it was asked to onboard."""

    def __init__(self):
        self.asked = []

    descriptor_form = "legacy"

    def find_deployed(self):
        return None

    def fit(self, variant, topology, choice):
        return ()

    def guest_host(self, variant, vnfs):
        return None

    def fit_networks(self, variant, name, flavour):
        return ()

    def require(self, variant):
        self.asked.append(variant.name)

    def onboard_descriptor(self, variant, found, tell):
        self.asked.append((variant.name, found))
        instance = VnfcInstance("1", "core", "node", (("data0", "02:00:00:00:00:01"),), "login:")
        return DescriptorVnf(found.name, "legacy", (instance,), (("create", 1),))

    def close(self):
        pass


def test_template_of_a_flavour_is_onboarded(tmp_path, monkeypatch, capsys):
    cloud = Cloud()
    monkeypatch.setattr(onboard_machines, "open_site", lambda *_: cloud)
    monkeypatch.setattr(onboard_machines, "_MADE", tmp_path / "made")
    words = ["onboard", "vepc", "--site", "devcloud", "--variant", "ovs-dpdk", "--deployment-flavour", "two-guests"]
    assert main([*words, "--dry-run", "--param", "image_core=cirros"]) == 0
    assert "vepc (flavour two-guests) would be onboarded as vepc on ovs-dpdk" in capsys.readouterr().out
    assert not (tmp_path / "made").exists()
    assert main([*words, "--network", "s1-u=left", "--param", "image_core=cirros"]) == 0
    variant, found = cloud.asked[-1]
    assert (variant, found.name, dict(found.values)) == ("ovs-dpdk", "vepc", {"image_core": "cirros"})
    kept = yaml.safe_load((tmp_path / "made/vepc-two-guests.yaml").read_text())["topology_template"]
    assert kept["node_templates"]["VL_s1-u"]["properties"]["network_name"] == "left"
    nodes = found.request("abcd", "5eed").descriptor["topology_template"]["node_templates"]
    assert nodes["VL_s1-u"]["properties"]["network_name"] == "left"
    assert [nodes[name]["properties"]["image"] for name in ("core", "edge")] == ["cirros", "vepc"]
    assert "nfvbed offboard vepc" in capsys.readouterr().out


@pytest.fixture(name="image")
def _image(tmp_path, monkeypatch):
    """The image of the mobile core, as it were built."""
    path = tmp_path / "vepc.qcow2"
    path.write_bytes(b"an image")
    found = Image(path, "qcow2", "d" * 64, None)
    monkeypatch.setattr(onboard_machines.image_files, "find", lambda *_: found)
    return found


def test_package_of_a_flavour_is_onboarded_where_the_site_takes_packages(tmp_path, monkeypatch, image, capsys):
    cloud = Cloud()
    cloud.descriptor_form = "sol"
    monkeypatch.setattr(onboard_machines, "open_site", lambda *_: cloud)
    monkeypatch.setattr(onboard_machines, "_MADE", tmp_path / "made")
    words = ["onboard", "vepc", "--site", "devcloud-sol", "--variant", "ovs-dpdk"]
    assert main([*words, "--network", "sgi=right"]) == 0
    given = cloud.asked[-1][1]
    assert (given.name, given.flavour, given.form) == ("vepc", "two-guests", "package")
    asked_for = given.request("abcd", "5eed")
    assert dict(asked_for.networks) == {
        "core_s1-u": "data0",
        "core_sgi": "right",
        "edge_s1-u": "data0",
        "edge_sgi": "right",
    }
    assert asked_for.parameters["lcm-operation-user-data-class"] == "UserData"
    assert (given.image, given.console.failed) == (RequiredImage("vepc", image), "vepc: failed: ")
    found = csar.read(tmp_path / "made/vepc-two-guests.csar")
    assert list(imports.flavours(found)) == ["two-guests"]
    assert "name: nfvbed-vepc-dddddddddddd" in found.archive.text("Definitions/vepc_flavour.yaml")
    assert "nfvbed offboard vepc" in capsys.readouterr().out


def test_networks_that_never_reach_are_said_before_room_that_lacks_just_now(monkeypatch, capsys):
    class Unreached(Cloud):
        def fit_networks(self, variant, name, flavour):
            made = [link.name for link in flavour.links if link.made]
            return (mismatch_of(UnsupportedError(f"{made} do not reach {variant.name}", observed="no VLANs"), "x"),)

        def guest_host(self, variant, vnfs):
            raise AssertionError("room was looked at")

    monkeypatch.setattr(onboard_machines, "open_site", lambda *_: Unreached())
    words = ["onboard", "vepc", "--site", "devcloud", "--variant", "macvtap", "--deployment-flavour", "two-guests"]
    assert main(words) == 11
    assert "do not reach macvtap" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--param", "image_cor=cirros"], "no input 'image_cor'"),
        (["--name", "data7=left"], "names nothing of the cloud's 'data7'"),
    ],
)
def test_what_its_template_does_not_have_is_refused(monkeypatch, image, words, said, capsys):
    monkeypatch.setattr(onboard_machines, "open_site", lambda *_: Cloud())
    assert main(["onboard", "vepc", "--site", "devcloud", "--variant", "ovs-dpdk", *words]) == 2
    assert said in capsys.readouterr().err


def test_names_of_the_cloud_come_in_the_place_of_its_own(tmp_path, monkeypatch, image):
    cloud = Cloud()
    monkeypatch.setattr(onboard_machines, "open_site", lambda *_: cloud)
    monkeypatch.setattr(onboard_machines, "_MADE", tmp_path / "made")
    words = ["--name", "data0=left", "--name", "nfvbed.hugepages=large"]
    assert main(["onboard", "vepc", "--site", "devcloud", "--variant", "ovs-dpdk", *words]) == 0
    found = cloud.asked[-1][1]
    assert {(one.kind, one.name) for one in found.names()} == {
        ("image", "nfvbed-vepc-dddddddddddd"),
        ("flavor", "large"),
        ("network", "left"),
        ("network", "data1"),
    }


def test_package_without_an_image_is_refused(monkeypatch, capsys):
    vepc = onboard_machines.MachinesVnfSpec
    monkeypatch.setattr(vepc, "form", lambda self, flavour: FormSpec())
    words = ["onboard", "vepc", "--site", "devcloud-sol", "--variant", "ovs-dpdk", "--deployment-flavour", "two-guests"]
    assert main(words) == 11
    assert "nfvbed package vepc --image-file FILE" in capsys.readouterr().err
