"""Two guests of one VNF on two computes of the whole cloud: frames between them over a VLAN, and over a tunnel.

Guests are emulated: frames are counted, and rates are not looked at.
"""

import json
import re

import pytest

from tests.kolla_box.boxrack import DEPLOYED_S

RUN = ("run", "pvp", "--frame-size", "64", "--purpose", "survey", "--repetitions", "1", "--no-doctor")
DATA_NIC = "dp0"
"""NIC of a compute: the device that Open vSwitch's port `dpdata` has its packet socket on."""
OF_GENERATOR = {"200", "201"}
VXLAN_PORT = 4789
pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(DEPLOYED_S)]


@pytest.fixture(name="pair", params=["vpair", "vpair-tunnel"])
def _pair(request, deployed_box):
    """Have a VNF of two machines onboarded, and yield its name and its record; it is removed at the end."""
    said = deployed_box.nfvbed("onboard", request.param, *deployed_box.at, "--json", timeout_s=DEPLOYED_S)
    yield request.param, json.loads(said)
    deployed_box.nfvbed("offboard", *deployed_box.at)
    for compute in ("compute1", "compute2"):
        assert guests(deployed_box, compute) == []


def guests(box, compute):
    return box.on(compute, "docker", "exec", "nova_libvirt", "virsh", "list", "--uuid").split()


def test_frames_go_between_guests_on_two_computes(deployed_box, pair):
    name, deployment = pair
    (vnf,) = deployment["vnfs"]
    state = vnf["control"]
    (east,) = state["behind"]
    assert {state["machine"]: state["host"], east["machine"]: east["host"]} == {"west": "compute1", "east": "compute2"}
    assert guests(deployed_box, "compute1") == [state["instance"]]
    assert guests(deployed_box, "compute2") == [east["instance"]]
    assert vnf["accelerator"] == "tcg" and vnf["facts"]["compute"] == "compute1, compute2"
    # As the generator sends them to the first guest, and io leaves them: nothing else has this address there.
    on_vlan = f"vlan and ether dst {state['instance_ports'][0]['mac']}"
    wanted = f"udp port {VXLAN_PORT}" if name == "vpair-tunnel" else on_vlan
    # It ends with the twentieth frame; a run on a loaded machine takes minutes before its first one.
    listening = deployed_box.listen("compute2", DATA_NIC, "-c", "20", *wanted.split(), within_s=DEPLOYED_S)
    try:
        deployed_box.nfvbed(*RUN, *deployed_box.at, timeout_s=DEPLOYED_S)
    finally:
        seen = deployed_box.heard(listening)
    if name == "vpair-tunnel":
        assert f".{VXLAN_PORT}: VXLAN" in seen
    else:
        assert set(re.findall(r"vlan (\d+)", seen)) - OF_GENERATOR, "the VLAN between the guests"
    deployed_box.frames_came_both_ways("ovs-dpdk")
    said = deployed_box.nfvbed("verify", *deployed_box.at, timeout_s=DEPLOYED_S)
    assert "frames came through the instances that run" in " ".join(said.split()), "in a table its lines are broken"
