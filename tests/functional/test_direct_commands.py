"""`deploy`, `trace` and `onboard` of variants without p2p, and of those that a host may not run. As root."""

import json

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.records import Readiness
from nfvbed.sites.catalogue import open_site
from tests.functional.disturbed import retried
from tests.functional.lab_host import assert_back_to, snapshot

PROJECT = open_project()


def traced(ask, variant):
    """Trace until all frames of a trace arrive, a few times at most."""

    def trace():
        status, out, err = ask("trace", variant, "--json")
        assert status == 0, err
        return json.loads(out)

    return retried(trace, lambda found: found["complete"])


@pytest.mark.no_hugepages
def test_a_variant_without_p2p_is_deployed_with_its_own_vnf(ask, before, mark):
    status, out, err = ask("deploy", "macvtap-private", "--json")
    assert status == 0, err
    stands = json.loads(out)
    assert stands["topology"] == "pvp"
    assert [(vnf["kind"], vnf["forwarding"]) for vnf in stands["vnfs"]] == [("process", "router")]
    assert PROJECT.load_variant("macvtap-private").not_applicable["p2p"] in err
    now = snapshot(mark)
    found = traced(ask, "macvtap-private")
    assert (found["topology"], found["complete"]) == ("pvp", True)
    status, out, err = ask("onboard", "vloop")
    assert status == 0, err
    assert "was deployed already" in out
    assert snapshot(mark) == now
    assert ask("destroy")[0] == 0
    assert_back_to(before, mark)


@pytest.mark.no_hugepages
def test_it_is_traced_without_a_deployment_too(ask, before, mark):
    found = traced(ask, "macvtap")
    assert (found["topology"], found["complete"]) == ("pvp", True)
    assert_back_to(before, mark)


@pytest.mark.usefixtures("vloop_image")
@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("ovs-kernel", ("deploy", "ovs-kernel")),
        ("ovs-kernel", ("trace", "ovs-kernel")),
        ("ovs-kernel", ("onboard", "vloop", "--variant", "ovs-kernel", "--dry-run")),
        ("linux-bridge-vhost-net", ("onboard", "vloop", "--variant", "linux-bridge-vhost-net")),
    ],
)
def test_what_the_host_lacks_is_reported_as_the_doctor_tells_it(ask, before, mark, name, command):
    support = open_site(PROJECT.load_site("lab"), PROJECT.root).probe(PROJECT.load_variant(name))
    status, _, err = ask(*command)
    if support.readiness is Readiness.UNSUPPORTED:
        assert status == 11, err
        assert f"{name} cannot run here" in err
        assert support.reason in err
        assert support.fix in err
    else:
        assert status == 0, err
        assert ask("destroy")[0] == 0
    assert_back_to(before, mark)


def test_a_missing_image_is_reported_while_what_is_deployed_is_left_alone(ask, before, mark):
    status, _, err = ask("deploy", "linux-bridge")
    assert status == 0, err
    now = snapshot(mark)
    status, _, err = ask("onboard", "vloop", "--kind", "vm", "--image", "/nowhere/own.qcow2")
    assert status == 12, err
    assert "the VNF's image is not there" in err
    assert "/nowhere/own.qcow2, named by image of" in err
    assert "set up again" not in err
    assert snapshot(mark) == now
    assert ask("destroy")[0] == 0
    assert_back_to(before, mark)
