"""The order of verifying: what was read before a path is set up counts, and then what only a path shows."""

from types import SimpleNamespace

import pytest

from nfvbed.cli.main import main
from nfvbed.errors import OnboardError
from nfvbed.records.findings import Finding, State
from nfvbed.sites.verify.path import TOPIC, verify_with_path

VARIANT, CHOICE = object(), object()


def finding(topic, state, summary="s"):
    return Finding(topic=topic, state=state, summary=summary, probed="p")


class SiteDouble:
    """A double of a site whose switch is set right, and has a port, once a path is there."""

    def __init__(self, failure=None):
        self.failure, self.deployed, self.paths = failure, False, []

    def inspect(self, deployed):
        if self.deployed:
            return finding("mask", State.PRESENT), finding("queues", State.PRESENT)
        return finding("mask", State.ABSENT), finding("queues", State.UNKNOWN)

    def deploy(self, variant, topology, vnf):
        self.paths.append((variant, topology, vnf))
        if self.failure:
            raise self.failure
        self.deployed = True
        return SimpleNamespace(steps=(("onboard.first-frame", 21_400_000_000),))


def verified(site, vnf=None, choice=lambda: CHOICE):
    deployed = SimpleNamespace(vnf=vnf, deployment=SimpleNamespace(topology="pvvp"))
    return {one.topic: one for one in verify_with_path(site, deployed, VARIANT, choice)}


def test_an_instance_is_booted_where_none_runs():
    site = SiteDouble()
    found = verified(site)
    assert site.paths == [(VARIANT, "pvp", CHOICE)]
    assert {topic: one.state.value for topic, one in found.items()} == {
        "mask": "absent",
        "queues": "present",
        TOPIC: "present",
    }
    assert found[TOPIC].summary.endswith("booted for it (pvp), 21.4 s after it was asked for")


def test_instances_that_run_are_used():
    site, vnf = SiteDouble(), object()
    assert "through the instances that run (pvvp)" in verified(site, vnf)[TOPIC].summary
    assert site.paths == [(VARIANT, "pvvp", vnf)]


def test_frames_that_do_not_come_are_a_finding():
    failure = OnboardError("no frame comes through", observed="0 of 20", fix="nfvbed trace")
    found = verified(SiteDouble(failure))
    assert (found[TOPIC].state, found[TOPIC].summary) == (State.ABSENT, "no frame comes through; 0 of 20")
    assert found["queues"].state is State.UNKNOWN


def test_nothing_is_set_up_where_it_is_only_read():
    site = SiteDouble()
    assert verified(site, choice=None)[TOPIC].state is State.UNKNOWN
    assert site.paths == []


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--site", "lab"), 11, "site lab has no cloud that could be verified"),
        (("--site", "devcloud", "--root-less"), 2, "No such option"),
    ],
)
def test_the_verb_refuses_what_it_cannot(words, code, said, capsys):
    assert main(["verify", *words]) == code
    assert said in capsys.readouterr().err
