"""`nfvbed steer` on a site that joins VNFs once: the path is shown, and what cannot be changed is refused by name."""

import json

import pytest

from nfvbed.records import Deployment, Hop
from nfvbed.records.chain import ChainReport
from nfvbed.sites.deployedchain import DeployedChain
from tests.unit.cli.memory_site import MemorySite
from tests.unit.cli.test_other_site import AT, reported
from tests.unit.cli.test_other_site import _site as _site

STEER = ("steer", *AT)


@pytest.fixture(name="onboarded")
def _onboarded(capsys):
    reported(capsys, "onboard", "vloop", *AT, "--variant", "ovs-kernel", "--topology", "pvvp")


class Free(DeployedChain):
    """A path whose order is noted, and nothing else."""

    fixed = ""

    def apply(self, order):
        MemorySite.log.append(f"order {order}")
        return self.deployment.model_copy(update={"order": order})

    def foresee(self, length):
        return f"it would have {length}"

    def redeploy(self, length, tell):
        tell(self.foresee(length))
        MemorySite.log.append(f"length {length}")
        return self.deployment


@pytest.fixture(name="free")
def _free(onboarded, monkeypatch):
    def chain(self, deployment):
        return Free(None, deployment, self.name)

    monkeypatch.setattr(MemorySite, "chain", chain)
    monkeypatch.setattr(Free, "cables", lambda self: ())


def test_without_vnfs_there_is_no_path(capsys):
    refused = reported(capsys, *STEER, code=2).err
    assert "no VNF is onboarded on site memory" in refused
    assert "nothing is deployed" in refused


def test_the_path_is_shown_with_why_it_is_fixed(capsys, onboarded):
    report = ChainReport.model_validate_json(reported(capsys, *STEER, "--json").out)
    assert (report.site, report.variant, report.topology) == ("memory", "ovs-kernel", "pvvp")
    assert report.path == ("vnf1", "vnf2")
    assert [vnf.forwarding for vnf in report.vnfs] == ["io", "io"]
    assert [hop.name for hop in report.hops] == ["memory"]
    assert report.fixed == "the site joins VNFs once, when it deploys them"
    assert (report.cables, report.lengths) == ((), ())
    shown = reported(capsys, *STEER).out
    assert "port 0 - vnf1 - vnf2 - port 1" in shown
    assert "The order is fixed: the site joins VNFs once" in shown
    assert MemorySite.log[-2:] == ["destroy ovs-kernel", "close"]


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_a_fixed_order_and_length_are_refused(capsys, onboarded, dry):
    refused = reported(capsys, *STEER, "--order", "vnf2,vnf1", *dry, code=11).err
    assert "the order of the VNFs of ovs-kernel (pvvp) is fixed" in refused
    assert "site memory" in refused
    refused = reported(capsys, *STEER, "--length", "3", "--redeploy", *dry, code=11).err
    assert "not set up again with another length on site memory" in refused
    assert MemorySite.log[-1] == "close"


def test_an_order_is_applied_and_shown(capsys, free):
    foreseen = reported(capsys, *STEER, "--order", "vnf2,vnf1", "--dry-run").out
    assert foreseen == "ovs-kernel (pvvp): frames from port 0 would pass vnf2, vnf1; instead of vnf1, vnf2\n"
    same = reported(capsys, *STEER, "--order", "vnf1,vnf2", "--dry-run").out
    assert "the order is the same" in same
    assert not [entry for entry in MemorySite.log if entry.startswith("order")]
    assert json.loads(reported(capsys, *STEER, "--order", "vnf2,vnf1", "--json").out)["path"] == ["vnf2", "vnf1"]
    assert "order (1, 0)" in MemorySite.log


@pytest.mark.parametrize("order", ["vnf1", "vnf1,vnf1", "vnf1,vnf3", "", "vnf2,vnf1,", "vnf2 vnf1"])
def test_what_is_no_order_is_refused_before_anything_is_changed(capsys, free, order):
    assert "exactly once" in reported(capsys, *STEER, "--order", order, code=2).err
    assert not [entry for entry in MemorySite.log if entry.startswith("order")]


def test_another_length_needs_agreement(capsys, free):
    refused = reported(capsys, *STEER, "--length", "3", code=2).err
    assert "it would have 3" in refused
    assert "--redeploy" in refused
    assert reported(capsys, *STEER, "--length", "3", "--redeploy", "--dry-run").out == "it would have 3\n"
    assert "length 3" not in MemorySite.log
    assert "it would have 3" in reported(capsys, *STEER, "--length", "3", "--redeploy").err
    assert "length 3" in MemorySite.log
    assert "one after the other" in reported(capsys, *STEER, "--length", "3", "--order", "vnf1", code=2).err


def test_what_is_not_counted_is_said(capsys, free, monkeypatch):
    class Blind:
        hops = (Hop(name="somewhere", drops={"rx_dropped": 7, "errors": 0}),)

    monkeypatch.setattr(MemorySite, "look", lambda self, deployment, *parts: Blind)
    shown = reported(capsys, *STEER).out
    assert "rx_dropped 7" in shown
    assert "errors" not in shown


def test_a_record_without_an_order_is_as_it_was_before():
    made = Deployment(id="1", variant="x", site="lab", topology="pvvp", ports=())
    assert "order" not in made.model_dump(mode="json")
    changed = made.model_copy(update={"order": (1, 0)})
    assert Deployment.model_validate_json(changed.model_dump_json()) == changed
