"""The verbs on a site of a cloud that exists already, as far as they come without one."""

import json

import pytest
import yaml

from nfvbed.cli.main import main
from nfvbed.cli.vnf_options import vnf_of_site
from nfvbed.dataplanes.catalogue import open_project

ROOT = open_project().root
CLOUDS = {
    "clouds": {"mine": {"auth": {"auth_url": "http://127.0.0.1:1/v3", "username": "u", "password": "hidden-word"}}}
}
SITE = {
    "kind": "cloud",
    "os_cloud": "mine",
    "networks": ["left", "right"],
    "ports": [{"device": "none0"}, {"device": "none1"}],
}


@pytest.fixture(autouse=True)
def _root(tmp_path, monkeypatch):
    for folder in ("deploy/variants", "vnfd", "flavors", "vsperf-conf"):
        (tmp_path / folder).parent.mkdir(exist_ok=True)
        (tmp_path / folder).symlink_to(ROOT / folder)
    (tmp_path / "deploy" / "sites").mkdir()
    sites = {
        "path": {"onboarding": "none", "existing": {"instances": ["fw"]}},
        "sol": {"onboarding": "sol"},
        "other": {"onboarding": "sol", "os_cloud": "mime"},
    }
    for name, keys in sites.items():
        (tmp_path / "deploy/sites" / f"{name}.yml").write_text(yaml.safe_dump({"name": name, **SITE, **keys}))
    (tmp_path / "clouds.yaml").write_text(yaml.safe_dump(CLOUDS))
    monkeypatch.setenv("NFVBED_ROOT", str(tmp_path))
    monkeypatch.setenv("OS_CLIENT_CONFIG_FILE", str(tmp_path / "clouds.yaml"))


def test_what_runs_there_is_a_vnf_of_its_own():
    project = open_project()
    assert vnf_of_site(project.load_site("path"), "vloop") == "existing"
    assert vnf_of_site(project.load_site("path"), "fw") == "fw", "named, and refused as such"
    assert vnf_of_site(project.load_site("sol"), "vloop") == "vloop"


def test_nothing_is_onboarded_where_nothing_is_onboarded(capsys):
    assert main(["onboard", "vloop", "--site", "path"]) == 11
    said = capsys.readouterr().err
    assert "nothing is onboarded on site path" in said and "nfvbed deploy existing --site path" in said


def test_a_cloud_that_is_not_in_the_users_file_is_named_with_the_nearest(capsys, tmp_path):
    assert main(["doctor", "--site", "other", "--variant", "existing"]) == 11
    said = capsys.readouterr()
    assert "unknown cloud 'mime'" in " ".join((said.out + said.err).split())
    assert "hidden-word" not in said.out + said.err


def test_the_doctor_says_that_the_cloud_does_not_answer(capsys):
    assert main(["doctor", "--site", "path", "--json"]) == 11, "nothing can be measured then"
    said = capsys.readouterr().out
    assert "cloud mine does not answer" in said and "hidden-word" not in said


def test_fit_is_checked_without_this_hosts_memory(capsys):
    assert main(["onboard", "vloop", "--check", "--site", "sol", "--forwarding", "io"]) == 0
    assert "existing (pvp, sol): everything fits" in capsys.readouterr().out


def test_what_takes_nothing_down_says_so(capsys):
    assert main(["destroy", "--site", "path", "--dry-run"]) == 0
    assert capsys.readouterr().out == "nothing is deployed on this host\n"


def test_the_lab_has_no_such_data_plane(capsys, tmp_path):
    (tmp_path / "deploy/sites/lab.yml").write_text("{name: lab, kind: lab}")
    assert main(["deploy", "existing", "--dry-run"]) in (2, 11)
    assert capsys.readouterr().err


@pytest.mark.parametrize(
    ("site", "topologies", "vnf"), [("sol", {"pvp"}, "vm-io"), ("path", {"pvp"}, "existing-image-existing")]
)
def test_the_labs_experiment_is_fitted_to_such_a_cloud(capsys, site, topologies, vnf):
    assert main(["plan", "pvp", "--site", site, "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    cells = plan["cells"]
    assert {cell["variant"] for cell in cells} == {"existing"}
    assert {cell["topology"] for cell in cells} == topologies
    assert {cell["vnf"] for cell in cells} == {vnf}
    assert [cell["lacks"] for cell in cells if cell["lacks"]] == []
    assert "existing without linux-bridge, ovs-dpdk: such a site has existing alone" in plan["left_out_on_site"]
