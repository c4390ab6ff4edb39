"""The adapters of VALE and Lagopus through a whole life, on doubles of both that forward frames. As root.

Nothing here is a test of netmap or of Lagopus: neither is on this host, and the variants are unsupported.
"""

import sys
from pathlib import Path

import pytest

from nfvbed.dataplanes.lagopus.adapter import LagopusRaw
from nfvbed.dataplanes.vale import control
from nfvbed.dataplanes.vale.control import ValeControl
from nfvbed.errors import DeployError, SwitchDiedError
from nfvbed.readings import Part
from nfvbed.records import Readiness
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.declared import PROJECT, vnf
from tests.functional.disturbed import pass_all

TRICKLE = TrafficRequest(duration_ns=300_000_000, frame_size=64, rate_pps=1_000, learning_frames=0)


def double(monkeypatch, tmp_path, variable, module, options=""):
    """Put a double in a program's place; `options` are Python's."""
    program = tmp_path / module
    source = Path(__file__).with_name(f"{module}.py").read_text()
    program.write_text(f"#!{sys.executable}{options}\n{source}")
    program.chmod(0o755)
    monkeypatch.setenv(variable, str(program))


@pytest.fixture(name="vale")
def _vale(monkeypatch, tmp_path):
    monkeypatch.setattr(control, "DEVICE", tmp_path)
    double(monkeypatch, tmp_path, control.TOOL_VARIABLE, "vale_ctl_double", " -IS")
    return PROJECT.load_variant("vale")


@pytest.fixture(name="lagopus")
def _lagopus(monkeypatch, tmp_path):
    double(monkeypatch, tmp_path, "NFVBED_LAGOPUS", "lagopus_double")
    return PROJECT.load_variant("lagopus-raw")


def assert_all_pass(site, deployment, hops):
    """Send through the switch; `hops` reads its counters: of a whole site or of the lab's data planes alone."""
    generator = site.open_generator(deployment)
    try:
        generator.run(TRICKLE)  # A bridge, which VALE's double is made of, forwards a moment after its ports are up.
        pass_all(generator, TRICKLE, lambda: [hop.rx_packets for hop in hops()], switch_had_each_once)
    finally:
        generator.close()


def switch_had_each_once(passage):
    received = [last - first for first, last in zip(passage.before, passage.after, strict=True)]
    return [received[1], received[-2]] == passage.sent


def test_vale_attaches_a_switch_for_every_cable(lab_with_vnfs, vale):
    site = lab_with_vnfs
    assert site.probe(vale).readiness is Readiness.READY
    deployment = site.deploy(vale, "pvp", vnf=vnf("bridge"))
    netns = deployment.control["switch_netns"]
    ports = ["valenfv0:s0", "valenfv0:v1a", "valenfv1:v1b", "valenfv1:s1"]
    assert sorted(ValeControl(netns).ports()) == sorted(ports)
    assert_all_pass(site, deployment, lambda: site.look(deployment, Part.HOPS).hops)
    ValeControl(netns).detach("valenfv1:s1")
    with pytest.raises(SwitchDiedError, match="not attached") as caught:
        site.verify(deployment)
    assert caught.value.where == "valenfv1:s1"
    assert [step for step, _ in site.reset(deployment, 0).steps] == ["reset.detach", "reset.attach"]
    site.verify(deployment)
    assert_all_pass(site, deployment, lambda: site.look(deployment, Part.HOPS).hops)
    with pytest.raises(DeployError, match="No such device"):
        ValeControl(netns).attach("valenfv1:nothing")
    site.destroy(deployment)


def test_lagopus_forwards_by_its_rules_and_is_started_again(lab, lagopus):
    assert lab.probe(lagopus).readiness is Readiness.READY
    deployment = lab.deploy(lagopus, "p2p")
    assert deployment.versions["lagopus"] == "0.2.11-double"
    assert_all_pass(lab, deployment, lambda: lab.hops(deployment))
    counts = lab.counters(deployment).raw["s0 switch"]
    assert min(counts["rx_packets"], counts["tx_packets"]) > 0
    LagopusRaw().lagopus(deployment).process.kill()
    with pytest.raises(SwitchDiedError, match="Lagopus has ended"):
        lab.verify(deployment)
    lab.reset(deployment, 0)
    lab.verify(deployment)
    assert_all_pass(lab, deployment, lambda: lab.hops(deployment))
    lab.destroy(deployment)
