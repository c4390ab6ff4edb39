"""What a dry run of `nfvbed onboard` foresees is what the command does: refused, or another data plane makes room."""

import contextlib

import pytest

from nfvbed.cli.main import main
from nfvbed.cli.support import require_deployable
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import BusyError
from nfvbed.sites.catalogue import open_site
from nfvbed.sites.kolla.measured.cloud import RackCloud, RackCompute
from tests.unit.sites.kolla.rack_doubles import install, make_root

AT = ("--site", "mine")
PINS = {"compute1": "ovs-dpdk", "compute2": "ovs-kernel"}


@pytest.fixture(name="rack")
def _rack(tmp_path, monkeypatch):
    make_root(tmp_path, pins=PINS)
    monkeypatch.setenv("NFVBED_ROOT", str(tmp_path))
    monkeypatch.setattr(RackCloud, "choose", lambda self, compute: None)
    monkeypatch.setattr(RackCompute, "adopt", lambda *_: None)  # the double's instances are all on compute1
    return install(monkeypatch, tmp_path)


def said(capsys, *words):
    status = main(list(words))
    out = capsys.readouterr()
    return status, " ".join((out.out + out.err).split())


def test_a_data_plane_without_vnfs_makes_room_for_another_one(rack, capsys):
    assert said(capsys, "onboard", "vloop", *AT, "--variant", "ovs-kernel")[0] == 0
    assert said(capsys, "offboard", *AT)[0] == 0
    other = ("onboard", "vloop", *AT, "--variant", "ovs-dpdk")
    status, out = said(capsys, *other, "--dry-run")
    assert status == 0, out
    assert out.startswith("ovs-kernel, which has no VNFs, would make room") and "would be onboarded on ovs-dpdk" in out
    same = said(capsys, "onboard", "vloop", *AT, "--variant", "ovs-kernel", "--dry-run")
    assert same[0] == 0 and "would make room" not in same[1]
    assert said(capsys, *other)[0] == 0


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--variant", "ovs-kernel"), 13),
        (("--variant", "ovs-dpdk", "--topology", "pvvp"), 13),
        (("--variant", "ovs-dpdk", "--forwarding", "mac"), 21),
        (("--variant", "ovs-dpdk"), 0),
    ],
    ids=["another data plane", "another path", "another way", "the same"],
)
def test_beside_vnfs_both_say_the_same(rack, capsys, words, code):
    assert said(capsys, "onboard", "vloop", *AT, "--variant", "ovs-dpdk")[0] == 0
    foreseen = said(capsys, "onboard", "vloop", *AT, *words, "--dry-run")
    real = said(capsys, "onboard", "vloop", *AT, *words)
    assert (foreseen[0], real[0]) == (code, code)
    if code:
        assert foreseen[1] == real[1]


def test_a_descriptor_of_its_own_is_not_beside_vnfs_of_another_data_plane(rack, capsys):
    assert said(capsys, "onboard", "vloop", *AT, "--variant", "ovs-dpdk")[0] == 0
    project = open_project()
    spec = project.load_site("mine")
    with contextlib.closing(open_site(spec, project.root)) as site:
        existing = site.find_deployed()
        assert require_deployable(site, project.load_variant("ovs-dpdk", spec), existing) == ""
        with pytest.raises(BusyError, match="ovs-kernel") as refused:
            require_deployable(site, project.load_variant("ovs-kernel", spec), existing)
    assert refused.value.fix == "nfvbed offboard --site mine, then again"
