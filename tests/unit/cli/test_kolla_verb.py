"""`nfvbed kolla`: files on disk, and the table of releases."""

import json

import pytest

from nfvbed.cli.main import main
from nfvbed.dataplanes.catalogue import open_project


def test_files_are_written_and_what_is_missing_is_said(tmp_path, capsys):
    assert main(["kolla", "render", "ovs-dpdk", "--site", "rack", "--output", str(tmp_path / "o")]) == 0
    said = capsys.readouterr().out
    assert "does not have yet" not in said
    assert "inventory/groups: not written" in said
    assert (tmp_path / "o" / "inventory" / "host_vars" / "compute1.yml").is_file()
    assert main(["kolla", "render", "sriov", "--site", "rack", "--output", str(tmp_path / "o")]) == 0
    assert "removed, of the rendering before: config/neutron/compute1/openvswitch_agent.ini" in capsys.readouterr().out


def test_the_proof_of_ocata_is_its_playbook(tmp_path, capsys):
    arguments = ["--site", "rack", "--release", "ocata", "--output", str(tmp_path / "o")]
    assert main(["kolla", "render", "ovs-kernel", *arguments]) == 0
    assert "make test-kolla-all has the release's playbook make the services' files of them" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("ovs-dpdk", "--site", "lab"), 2, "a site of kind kolla: box, box-twins, rack"),
        (("ovs-dpdk", "--site", "rack", "--release", "2025"), 10, "unknown release '2025'"),
        (("ovs-dkpd", "--site", "rack"), 10, "did you mean 'ovs-dpdk'"),
        (("linux-bridge", "--site", "rack"), 11, "--release ocata"),
        (("ovs-dpdk", "--site", "rack", "--multinode", "nowhere"), 10, "nowhere cannot be read"),
    ],
)
def test_bad_input_is_an_error_and_writes_nothing(tmp_path, capsys, arguments, code, said):
    folder = tmp_path / "o"
    assert main(["kolla", "render", *arguments, "--output", str(folder)]) == code
    assert said in capsys.readouterr().err
    assert not folder.exists()


def test_every_variant_is_in_the_table_with_a_reason(capsys):
    assert main(["kolla", "releases", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    project = open_project()
    assert set(rows) == set(project.variant_names)
    for cells in rows.values():
        assert set(cells) == set(project.kolla_release_names)
        assert all(cell["rendered"] or (cell["reason"] and cell["fix"]) for cell in cells.values())


def test_the_table_is_one_screen_and_one_variant_is_told_in_full(capsys):
    assert main(["kolla", "releases"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 100
    assert all(any(name in line for line in lines) for name in open_project().variant_names)
    assert main(["kolla", "releases", "linux-bridge"]) == 0
    assert "Neutron dropped its Linux bridge agent in 2025.1" in capsys.readouterr().out
    assert main(["kolla", "releases", "vpp"]) == 0
    said = capsys.readouterr().out
    assert "nfvbed_nics: its test on an emulated machine passed" in said
    assert "nfvbed_vpp: no test on a machine has passed" in said
    assert main(["kolla", "releases", "--json", "vpp"]) == 0
    assert json.loads(capsys.readouterr().out)["vpp"]["2026.1"]["roles_untested"] == ["nfvbed_vpp"]
