"""What is VALE's own, on a double that forwards frames: ports are attached, detached, and refused. As root.

That it counts, is reset and ends as every data plane does, and Lagopus so: `test_data_planes_conform.py`.
"""

import pytest

from nfvbed.dataplanes.vale.control import ValeControl
from nfvbed.errors import DeployError, SwitchDiedError
from nfvbed.records.readings import Part
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.brought_doubles import with_vale
from tests.functional.declared import PROJECT, vnf
from tests.functional.disturbed import pass_all

TRICKLE = TrafficRequest(duration_ns=300_000_000, frame_size=64, rate_pps=1_000, learning_frames=0)


def assert_all_pass(site, deployment):
    generator = site.open_generator(deployment)
    try:
        generator.run(TRICKLE)  # A bridge, which VALE's double is made of, forwards a moment after its ports are up.
        pass_all(generator, TRICKLE, lambda: received(site, deployment), switch_had_each_once)
    finally:
        generator.close()


def received(site, deployment):
    return [hop.rx_packets for hop in site.look(deployment, Part.HOPS).hops]


def switch_had_each_once(passage):
    risen = [last - first for first, last in zip(passage.before, passage.after, strict=True)]
    return [risen[1], risen[-2]] == passage.sent


def test_vale_attaches_a_switch_for_every_cable(lab_with_vnfs, monkeypatch, tmp_path):
    with_vale(monkeypatch, tmp_path)
    site = lab_with_vnfs
    deployment = site.deploy(PROJECT.load_variant("vale"), "pvp", vnf=vnf("bridge"))
    netns = deployment.control["switch_netns"]
    ports = ["valenfv0:s0", "valenfv0:v1a", "valenfv1:v1b", "valenfv1:s1"]
    assert sorted(ValeControl(netns).ports()) == sorted(ports)
    ValeControl(netns).detach("valenfv1:s1")
    with pytest.raises(SwitchDiedError, match="not attached") as caught:
        site.verify(deployment)
    assert caught.value.where == "valenfv1:s1"
    assert [step for step, _ in site.reset(deployment, 0).steps] == ["reset.detach", "reset.attach"]
    site.verify(deployment)
    assert_all_pass(site, deployment)
    with pytest.raises(DeployError, match="No such device"):
        ValeControl(netns).attach("valenfv1:nothing")
    site.destroy(deployment)
