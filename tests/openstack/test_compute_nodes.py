"""Compute nodes beside the controller: instances on the kernel's bridge and on macvtap, a killed agent, the end."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nfvbed.cloud.devcloud import enable
from nfvbed.cloud.devcloud.cloud import SWITCH_MIB
from nfvbed.cloud.devcloud.nodes.channel import Command
from nfvbed.cloud.instances import InstancePort, PlacedInstance
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.devcloud import open_cloud
from nfvbed.dataplanes.linux_bridge.compute import LinuxBridgeCompute
from nfvbed.dataplanes.macvtap.compute import MacvtapCompute
from nfvbed.host.cores.arrangement import Arrangement
from nfvbed.host.network import napi
from nfvbed.records import Role
from nfvbed.spec.layout import layout
from tests import footprint
from tests.openstack.cloud_driver import ROOT, Cloud, nfvbed, wait
from tests.openstack.test_devcloud import left_by_the_cloud

pytestmark = [pytest.mark.on_demand, pytest.mark.timeout(2400)]
FRAMES = Path(__file__).with_name("frames_in_node.py")
SENT = 200
TWO_GUESTS_MIB = 1536


@pytest.fixture(scope="module", name="before")
def _before():
    assert open_cloud(ROOT).find_node() is None, "a devcloud of this checkout runs: nfvbed devcloud stop"
    return footprint.take()


@pytest.fixture(scope="module", name="cloud")
def _cloud(before):
    # A compute has for its guests as much as the controller.
    started = nfvbed("start", "--hugepages-mib", str(TWO_GUESTS_MIB + SWITCH_MIB))
    try:
        assert started.returncode == 0, started.stderr
        cloud = Cloud()
        for forward in ("io", "bridge"):
            cloud.vloop(f"vloop-{forward}", forward)
        yield cloud
    finally:
        nfvbed("stop")


@pytest.fixture(scope="module", name="bridge")
def _bridge(cloud):
    return _started(cloud, LinuxBridgeCompute(open_cloud(ROOT)), "linux-bridge")


@pytest.fixture(scope="module", name="macvtap")
def _macvtap(cloud):
    return _started(cloud, MacvtapCompute(open_cloud(ROOT)), "macvtap")


def _started(cloud, compute, name):
    variant = open_project(ROOT).load_variant(name)
    compute.check(variant, layout("pvp"))
    started = time.monotonic()
    compute.start()
    print(f"{name}: started in {time.monotonic() - started:.0f} s")
    enable.only(cloud.api, compute.host)
    compute.apply(variant, Arrangement(switch_cores=(0,), generator_core=1, control_cores=(1,)))
    return compute


def _boot(cloud, host, image, networks, name="vnf"):
    """Boot vloop and wait until it forwards; return it as an instance on a compute."""
    identifier = cloud.boot(name, image, "nfvbed.hugepages", networks)
    found = cloud.server(identifier)
    assert found["OS-EXT-SRV-ATTR:host"] == host
    names = {one["id"]: one["name"] for one in cloud.api.get("neutron", "/v2.0/networks")["networks"]}
    ports = [
        InstancePort(one["id"], names[one["network_id"]], one["mac_address"])
        for one in cloud.api.get("neutron", f"/v2.0/ports?device_id={identifier}")["ports"]
    ]
    placed = PlacedInstance(identifier, name, host, tuple(sorted(ports, key=lambda port: networks.index(port.network))))
    assert wait(lambda: "vloop: ready" in cloud.console(identifier), 180), cloud.console(identifier)
    return placed


def _frames(compute, source, target, *more):
    """Send frames by one of the generator's links; return how many came out of the other one."""
    first, _ = compute.attach(None, None)
    argv = ["nsenter", f"--net={first.netns}", sys.executable, str(FRAMES), source, target, str(SENT), *more]
    return int(subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout)


def _forwards_both_ways(compute, instances):
    forth, back = [(mac,) for mac in compute.destination_macs(instances) or ()] or [(), ()]
    assert wait(lambda: _frames(compute, "g0", "g1", *forth) == SENT, 30)
    assert _frames(compute, "g1", "g0", *back) == SENT


def _shows_them(compute, variant, instances):
    """Check that hops and threads are those of these instances, and that the path's counters say the same."""
    compute.adopt(variant, instances)
    hops = [hop for hop in compute.hops(instances) if hop.rx_packets is not None]
    assert [(hop.vnf, hop.port) for hop in hops] == [
        (None, 0),
        (None, 0),
        *((vnf, port) for vnf in range(len(instances)) for port in (0, 1)),
        (None, 1),
        (None, 1),
    ]
    assert all(hop.rx_packets >= SENT for hop in hops), hops
    threads = compute.threads(instances)
    assert sum(thread.role is Role.VNF for thread in threads) >= len(instances)
    assert {thread.core for thread in threads if thread.role is Role.SWITCH} == {0}
    assert all(Path(f"/proc/{thread.pid}/task/{thread.tid}").exists() for thread in threads)
    assert compute.counters().packets >= 2 * SENT
    compute.verify()


@pytest.mark.parametrize("forward", ["io", "bridge"])
def test_vloop_forwards_on_the_kernels_bridge(cloud, bridge, forward):
    instance = _boot(cloud, "linux-bridge", f"vloop-{forward}", ("data0", "data1"))
    try:
        _forwards_both_ways(bridge, [instance])
        _shows_them(bridge, open_project(ROOT).load_variant("linux-bridge"), [instance])
    finally:
        cloud.delete_server(instance.id)


def test_two_vloops_are_joined_by_a_local_network(cloud, bridge):
    first = _boot(cloud, "linux-bridge", "vloop-io", ("data0", "link1"), "first")
    try:
        second = _boot(cloud, "linux-bridge", "vloop-io", ("link1", "data1"), "second")
        try:
            _forwards_both_ways(bridge, [first, second])
            _shows_them(bridge, open_project(ROOT).load_variant("linux-bridge"), [first, second])
        finally:
            cloud.delete_server(second.id)
    finally:
        cloud.delete_server(first.id)


def test_an_instance_on_the_bridge_has_an_address_on_the_management_network(cloud, bridge):
    server = cloud.boot("cirros", "cirros", "nfvbed.small", ("mgmt",))
    try:
        assert cloud.server(server)["OS-EXT-SRV-ATTR:host"] == "linux-bridge"
        assert cloud.answers(cloud.address(server)), cloud.console(server)
    finally:
        cloud.delete_server(server)


def test_a_killed_agent_is_named_and_started_again(cloud, bridge):
    channel = open_cloud(ROOT).find_compute("linux-bridge").channel
    (agent,) = [one for one in channel.services() if one.name == "neutron-linuxbridge-agent"]
    channel.check(Command(("/usr/bin/kill", "-KILL", str(agent.pid))))
    found = nfvbed("status")
    assert found.returncode == 20
    assert "linux-bridge/neutron-linuxbridge-agent does not run" in found.stdout
    assert nfvbed("logs", "linux-bridge/neutron-linuxbridge-agent").returncode == 0
    assert nfvbed("start").returncode == 0
    status = nfvbed("status", "--json")
    assert (status.returncode, json.loads(status.stdout)["missing"]) == (0, [])


def test_vloop_forwards_on_macvtap(cloud, bridge, macvtap):
    instance = _boot(cloud, "macvtap", "vloop-io", ("data0", "data1"))
    try:
        _forwards_both_ways(macvtap, [instance])
        assert _frames(macvtap, "g0", "g1") == 0  # a foreign address
        _shows_them(macvtap, open_project(ROOT).load_variant("macvtap"), [instance])
    finally:
        cloud.delete_server(instance.id)


def test_detaching_can_be_done_twice_and_takes_the_threads_away(bridge):
    threads = bridge.threads([])
    assert len(threads) == 4
    bridge.detach()
    bridge.detach()
    assert napi.still_there(threads) == ()


def test_release_leaves_instances_to_the_controller(cloud):
    enable.release(cloud.api)
    services = cloud.api.get("nova", "/v2.1/os-services?binary=nova-compute")["services"]
    assert [one["host"] for one in services if one["status"] == "enabled"] == ["controller"]


def test_stop_leaves_nothing(cloud, before):
    assert nfvbed("stop").returncode == 0
    assert left_by_the_cloud(before) == []
