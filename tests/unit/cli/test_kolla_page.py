"""The commands of docs/howto/kolla.md, run on a rack of doubles: what the page says must work as it is written."""

import json
import re
import shlex
from dataclasses import replace

import click
import pytest

from nfvbed.cli.main import group, main
from nfvbed.dataplanes.catalogue import open_project
from tests.unit.sites.kolla.rack_doubles import install, make_root

PAGE = (open_project().root / "docs/howto/kolla.md").read_text()
PROGRAM = ".venv/bin/nfvbed "


def blocks(heading):
    """Return the commands of a section's blocks, without comments."""
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (text,) = [one for one in section if one.startswith(f"{heading}\n")]
    lines = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith(PROGRAM)]


def every_command():
    lines = [line.strip() for line in PAGE.splitlines() if line.startswith(f"    {PROGRAM}")]
    return [shlex.split(line, comments=True)[1:] for line in lines]


@pytest.fixture(name="rack")
def _rack(tmp_path, monkeypatch):
    make_root(tmp_path)
    monkeypatch.setenv("NFVBED_ROOT", str(tmp_path))
    return install(monkeypatch, tmp_path)


def said(capsys, *words):
    status = main(list(words))
    out = capsys.readouterr()
    return status, " ".join((out.out + out.err).split())


@pytest.mark.parametrize("words", every_command(), ids=" ".join)
def test_every_command_of_the_page_is_one(rack, words):
    found, rest = group, list(words)
    context = click.Context(group)
    while isinstance(found, click.Group):
        found = found.get_command(context, rest.pop(0))
        assert found is not None
    found.make_context(words[0], rest)


def test_the_section_on_measuring_works_as_it_is_written(rack, capsys, tmp_path):
    commands = blocks("Measuring")
    assert [words[0] for words in commands] == ["onboard", "run", "offboard"]
    onboard, run, offboard = commands
    assert said(capsys, *onboard)[0] == 0
    assert [one.name for one in rack.onboarded.values()] == ["vnf1"]
    status, out = said(capsys, *run, "--no-doctor")
    assert status == 0, out
    assert "ovs-dpdk without linux-bridge" in out
    assert "no pvvp" in out and "pvp is onboarded on site mine" in out
    assert len(rack.requests) == 1, "what is onboarded is measured"
    assert said(capsys, *offboard)[0] == 0
    assert rack.removed == ["vnf1"] and not rack.onboarded


def test_without_vnfs_a_run_onboards_its_own_and_removes_them(rack, capsys):
    status, out = said(capsys, *blocks("Measuring")[1], "--no-doctor", "--repetitions", "1")
    assert status == 0, out
    assert {request.name for request in rack.requests} == {"vnf1", "vnf2"}, "pvp, and pvvp"
    assert not rack.onboarded and len(rack.removed) == len(rack.requests)


def test_verify_sends_frames_before_and_after_a_vnf_is_onboarded(rack, capsys):
    verify = next(words for words in blocks("After deploying") if words == ["verify", "--site", "mine"])
    for _ in range(2):
        status, out = said(capsys, *verify)
        assert (status, "frames came through" in out) == (0, True), out
        assert len(rack.onboarded) == (1 if _ else 0)
        main(["onboard", "vloop", "--site", "mine"])
        capsys.readouterr()
    assert said(capsys, "offboard", "--site", "mine")[0] == 0
    assert said(capsys, *verify)[0] == 0
    assert not rack.onboarded


def test_what_is_in_the_way_of_another_vnf_is_offboarded_and_the_cloud_stays(rack, capsys):
    assert said(capsys, "onboard", "vloop", "--site", "mine")[0] == 0
    status, out = said(capsys, "onboard", "vloop", "--site", "mine", "--topology", "pvvp")
    assert status == 13
    assert "nfvbed offboard --site mine, then again" in out and "destroy" not in out
    status, out = said(capsys, "onboard", "vloop", "--site", "mine", "--forwarding", "mac")
    assert status == 21 and "nfvbed offboard --site mine" in out and "destroy" not in out


def test_the_plan_says_what_is_left_out_and_why(rack, capsys):
    assert main(["plan", "pvp", "--site", "mine", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert [cell["id"] for cell in plan["cells"] if not cell["lacks"]] == [cell["id"] for cell in plan["cells"]]
    assert {cell["variant"] for cell in plan["cells"]} == {"ovs-dpdk"}
    assert plan["experiment"]["ceilings"] is False
    assert plan["left_out_on_site"] == [
        "ovs-dpdk without linux-bridge: deployed there: ovs-dpdk",
        "no VNF native, process-io: on site mine VNFs are of kind vm, so it is vloop as that",
        "no ceilings: instances are what bounds a result on site mine",
    ]


def test_what_the_command_line_names_stays(rack, capsys):
    words = ["plan", "pvp", "--site", "mine", "--variant", "linux-bridge", "--topology", "pvvp", "--json"]
    assert main(words) == 0
    plan = json.loads(capsys.readouterr().out)
    assert {cell["topology"] for cell in plan["cells"]} == {"pvvp"}
    assert all("does not have variant linux-bridge" in cell["lacks"] for cell in plan["cells"])


def test_several_variants_are_all_measured_and_one_is_named_to_onboard_on(tmp_path, monkeypatch, capsys):
    make_root(tmp_path, pins={"compute1": "ovs-dpdk", "compute2": "ovs-kernel"})
    monkeypatch.setenv("NFVBED_ROOT", str(tmp_path))
    install(monkeypatch, tmp_path)
    status, out = said(capsys, "onboard", "vloop", "--site", "mine")
    assert status == 2 and "several data planes are deployed on site mine" in out
    assert main(["plan", "openstack", "--site", "mine", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert {cell["variant"] for cell in plan["cells"]} == {"ovs-dpdk", "ovs-kernel"}, "both are there to be compared"
    assert any("ovs-dpdk, ovs-kernel" in note and "deployed there" in note for note in plan["left_out_on_site"])


def test_what_is_measured_in_a_box_works_in_the_order_of_the_page(tmp_path, monkeypatch, capsys):
    make_root(tmp_path, name="box")
    monkeypatch.setenv("NFVBED_ROOT", str(tmp_path))
    rack = install(monkeypatch, tmp_path)
    measured = [words for words in blocks("First in a box") if words[0] in ("verify", "onboard", "run", "offboard")]
    assert [words[0] for words in measured] == ["verify", "onboard", "run", "offboard", "run"]
    for words in measured:
        quick = ("--no-doctor", "--repetitions", "1") if words[0] == "run" else ()
        status, out = said(capsys, *words, *quick)
        assert status == 0, (words, out)
    assert not rack.onboarded


def test_a_dead_vnf_is_healed_from_the_request_that_it_was_made_from(rack, capsys):
    assert said(capsys, "onboard", "vloop", "--site", "mine", "--topology", "pvvp")[0] == 0
    first, second = rack.requests
    (dead,) = [one for one in rack.onboarded.values() if one.name == "vnf2"]
    rack.onboarded[dead.id] = replace(dead, instances=())
    status, out = said(capsys, "heal", "--site", "mine")
    assert status == 0, out
    assert rack.requests == [first, second, second], "what nfvbed writes of it, and not what Tacker has kept"
    assert said(capsys, "heal", "--site", "mine")[0] == 0
    assert len(rack.requests) == 3, "what lives is left alone"
