"""`nfvbed package` and `nfvbed onboard --check`."""

import json
import zipfile
from pathlib import Path

import pytest
import yaml

from nfvbed.cli.main import main
from nfvbed.host.cores.topology import CpuTopology
from nfvbed.sites.lab import machine, site
from nfvbed.vnfs.descriptors import cloudimage, csar

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.setenv("NFVBED_ROOT", str(ROOT))
    monkeypatch.chdir(tmp_path)
    # The image need not be built for this.
    monkeypatch.setattr("nfvbed.cli.package.checksums", lambda path: {"sha256": "a" * 64, "sha512": "b" * 128})
    eight = tuple(range(8))
    monkeypatch.setattr(machine, "read_topology", lambda: CpuTopology(allowed=eight, nodes=(eight,)))
    monkeypatch.setattr(site, "find_remembered", lambda: None)


def test_package_is_written_and_checked(tmp_path, capsys):
    assert main(["package", "vloop"]) == 0
    assert csar.read(tmp_path / "vloop.csar").entry == "Definitions/vloop.yaml"
    assert main(["package", "vloop.csar"]) == 0
    assert "10 hashes are right, not signed; entry Definitions/vloop.yaml, flavours: default" in capsys.readouterr().out


def test_legacy_form_takes_names_from_the_options(tmp_path):
    words = ["--form", "legacy", "--output", "x.yaml", "--network", "in=left", "--image", "own", "--most", "2"]
    assert main(["package", "vloop", *words, "--forwarding", "bridge", "--flavor", "pinned"]) == 0
    topology = yaml.safe_load((tmp_path / "x.yaml").read_text())["topology_template"]
    assert topology["node_templates"]["VL_0"]["properties"]["network_name"] == "left"
    assert {name: one["default"] for name, one in topology["inputs"].items()} == {
        "image": "own",
        "flavor": "nfvbed.pinned",
    }
    assert topology["node_templates"]["VDU1"]["properties"]["user_data"] == "vloop.forward=bridge"
    assert topology["policies"][0]["machines"]["properties"]["max_instances"] == 2


def test_hot_goes_to_standard_output(capsysbinary):
    assert main(["package", "vloop", "--form", "hot", "--output", "-"]) == 0
    (hot,) = yaml.safe_load_all(capsysbinary.readouterr().out)
    assert hot["resources"]["VDU1"]["type"] == "OS::Nova::Server"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["no-such-vnf"], 10, "unknown VNF"),
        (["vloop", "--forwarding", "fly"], 2, "cannot forward so"),
        (["vloop", "--forwarding", "router"], 11, "no descriptor carries"),
        (["vloop", "--network", "in"], 2, "--network in=data0"),
        (["vloop", "--network", "up=x"], 10, "has no port 'up'"),
        (["vloop", "--flavor", "huge"], 10, "unknown flavor"),
        (["vloop", "--output", "no-such-folder/x"], 30, "could not be written"),
    ],
)
def test_what_cannot_be_is_refused(words, code, said, capsys):
    assert main(["package", *words]) == code
    assert said in capsys.readouterr().err


def test_foreign_package_is_refused_with_its_place(tmp_path, capsys):
    with zipfile.ZipFile(tmp_path / "bad.csar", "w") as made:
        made.writestr("../x", b"")
    assert main(["package", "bad.csar"]) == 10
    assert "climbs out of the archive" in capsys.readouterr().err


def test_missing_image_is_told(monkeypatch, capsys):
    monkeypatch.setattr("nfvbed.cli.package.checksums", lambda path: cloudimage.checksums(path.with_name("none.qcow2")))
    assert main(["package", "vloop"]) == 10
    assert "make images" in capsys.readouterr().err


def check(capsys, *words):
    code = main(["onboard", "vloop", "--check", "--json", *words])
    return code, [one["subject"] for one in json.loads(capsys.readouterr().out)["mismatches"]]


@pytest.mark.parametrize("site", ["lab", "devcloud"])
def test_what_fits_is_told_so(site, capsys):
    assert check(capsys, "--variant", "ovs-dpdk", "--site", site) == (0, [])


@pytest.mark.parametrize(
    ("words", "subjects"),
    [
        (["--variant", "ovs-dpdk", "--kind", "vm", "--flavor", "numa"], ["NUMA nodes"]),
        (["--variant", "macvtap", "--topology", "pvvp", "--kind", "process"], ["ports"]),
        (["--variant", "ovs-kernel", "--site", "devcloud"], ["site"]),
        (["--variant", "sriov", "--site", "devcloud", "--forwarding", "mac"], ["site"]),
        (["--variant", "ovs-dpdk", "--site", "devcloud", "--topology", "pvpv"], ["site"]),
        (["--variant", "ovs-dpdk", "--site", "rack"], ["site"]),
        (["--variant", "ovs-dpdk", "--site", "guest-node"], ["site"]),
        (["--variant", "vale", "--topology", "pvp", "--kind", "vm"], ["ports"]),
        (["--variant", "ovs-dpdk", "--site", "devcloud", "--forwarding", "router"], ["descriptor"]),
        (["--variant", "ovs-dpdk", "--site", "devcloud", "--flavor", "numa"], ["NUMA nodes", "hugepages"]),
        (["--variant", "ovs-dpdk", "--site", "devcloud", "--topology", "pv3p"], ["hugepages"]),
    ],
)
def test_what_does_not_fit_is_told_and_is_an_exit_code(words, subjects, capsys):
    code, found = check(capsys, *words)
    assert code == 10
    assert found == subjects


def test_mismatch_is_one_line_with_its_fix(capsys):
    assert main(["onboard", "vloop", "--check", "--variant", "ovs-dpdk", "--kind", "vm", "--flavor", "numa"]) == 10
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.endswith("1 do not fit")
    (told,) = (line for line in lines if "NUMA nodes" in line)  # Beside it, the image where it is not built.
    assert "; fix: " in told


def test_variant_must_be_named(capsys):
    assert main(["onboard", "vloop", "--check"]) == 2
    assert "--variant" in capsys.readouterr().err
