"""nfvgen on another host, over SSH, through a Linux bridge of the lab. As root.

The other host is a network namespace with an sshd of its own; the generator's ends of the bridge's veth pairs are moved
into it, as cables are plugged in.
"""

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import GeneratorError, PrerequisiteError
from nfvbed.host.network import veth
from nfvbed.host.remote.generator import open_generator
from nfvbed.measure.warnings import traffic_warnings
from nfvbed.records import QualityWarning
from nfvbed.spec.remote import GeneratorHostSpec
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.disturbed import all_arrived, retried, wait_until
from tests.functional.xdp_driver import CORE, NFVGEN, ip
from tests.unit.traffic.trex.folder import CONFIGURATION, PORTS, install

pytestmark = pytest.mark.no_hugepages

RATE_PPS = 20_000
SHORT = TrafficRequest(duration_ns=300_000_000, frame_size=64, rate_pps=RATE_PPS)
LONG = TrafficRequest(duration_ns=1_500_000_000, frame_size=64, rate_pps=RATE_PPS)


@pytest.fixture(name="deployment")
def _deployment(lab, far):
    """A bridge of the lab whose outside ends are on the other host."""
    deployed = lab.deploy(open_project().load_variant("linux-bridge"), "p2p")
    try:
        here = Path(deployed.ports[0].netns).name
        for name in veth.GENERATOR_LINKS:
            ip("-n", here, "link", "set", name, "netns", far.namespace.name)
        veth.prepare(f"/run/netns/{far.namespace.name}", veth.GENERATOR_LINKS)
        yield deployed
    finally:
        lab.destroy(deployed)
        wait_until_unplugged(far)


def wait_until_unplugged(far):
    """Wait for the other host to lose the ends: the kernel removes a namespace's links after its name has gone."""
    wait_until(lambda: not far.links().intersection(veth.GENERATOR_LINKS))
    assert not far.links().intersection(veth.GENERATOR_LINKS)


@pytest.fixture(name="host")
def _host(far):
    with far.host() as connected:
        yield connected


def spec_of(far, **changes):
    ports = [{"device": name} for name in veth.GENERATOR_LINKS]
    return GeneratorHostSpec.model_validate(far.keys() | {"nfvgen": NFVGEN, "core": CORE, "ports": ports} | changes)


@pytest.fixture(name="generator")
def _generator(far, deployment, host):
    opened = open_generator(host, spec_of(far))
    yield opened
    opened.close()
    assert not far.processes("nfvgen")
    assert not list(far.folder.glob("nfvbed-*"))


def forwarded(deployment):
    """Frames that the bridge's ports took and gave, by direction, as the kernel of this host counts them."""
    within = veth.read(deployment.control["switch_netns"], veth.SWITCH_LINKS)
    first, second = (within[name] for name in veth.SWITCH_LINKS)
    return [(first.rx_packets, second.tx_packets), (second.rx_packets, first.tx_packets)]


def counted(generator, deployment, request):
    """Run a trial; return its result, and what the bridge counted meanwhile."""
    before = forwarded(deployment)
    result = generator.run(request)
    after = forwarded(deployment)
    pairs = zip(before, after, strict=True)
    return result, [(there[0] - was[0], there[1] - was[1]) for was, there in pairs]


def assert_all_counted(found, request):
    """Every frame was sent, passed the bridge, and came back with its time."""
    result, passed = found
    for direction, (into, out), latency in zip(result.directions, passed, result.latency_hdr, strict=True):
        assert direction.intended == RATE_PPS * request.duration_ns // 10**9
        assert direction.received == direction.sent > 0
        # Learning frames are broadcast: the bridge counts them, the generator does not.
        assert 0 <= into - direction.sent <= request.learning_frames
        assert 0 <= out - direction.sent <= request.learning_frames
        assert HdrHistogram.decode(latency).get_total_count() == direction.received


def is_whole(found):
    return all_arrived(found[0])


def test_frames_of_another_host_pass_the_bridge_and_are_counted_on_the_way(far, generator, deployment):
    info = generator.hello()
    assert (info.engine.name, info.pid, info.link_up) == ("nfvgen-xdp", 0, (True, True))
    assert info.raw["pid"] in far.processes(NFVGEN), "it runs there"
    found = retried(lambda: counted(generator, deployment, SHORT), is_whole)
    assert_all_counted(found, SHORT)
    assert found[0].reconnections == 0


def test_a_copy_of_this_machine_s_program_sends_where_devices_have_these_mac_addresses(far, deployment, host):
    listed = json.loads(ip("-n", far.namespace.name, "-j", "link", "show"))
    macs = {link["ifname"]: link["address"] for link in listed}
    ports = [{"mac": macs[name]} for name in veth.GENERATOR_LINKS]
    generator = open_generator(host, spec_of(far, nfvgen=None, ports=ports))
    try:
        found = retried(lambda: counted(generator, deployment, SHORT), is_whole)
        assert_all_counted(found, SHORT)
    finally:
        generator.close()
    assert not list(far.folder.glob("nfvbed-*")), "nothing of the copy is left"


def test_a_trial_goes_on_when_its_connection_is_cut(generator, deployment, host):
    def cut():
        time.sleep(0.4)
        os.kill(host.master_pid, signal.SIGKILL)

    def trial():
        thread = threading.Thread(target=cut)
        thread.start()
        found = counted(generator, deployment, LONG)
        thread.join()
        return found

    found = retried(trial, is_whole)
    assert_all_counted(found, LONG)
    assert found[0].reconnections == 1
    assert generator.run(SHORT).reconnections == 0, "the next one has a connection"


def test_a_trial_goes_on_without_a_network_and_is_marked(far, generator, deployment):
    def drop():
        time.sleep(0.1)
        far.link("down")
        time.sleep(4.5)  # three signs of life, a second each, find no answer
        far.link("up")

    thread = threading.Thread(target=drop)
    thread.start()
    result, passed = counted(generator, deployment, SHORT)
    thread.join()
    # What the host's disturbances lose is lost; what was counted there arrived here all the same.
    assert result.reconnections == 1
    assert QualityWarning.RECONNECTED in traffic_warnings(result, paced=True)
    for direction, (into, _) in zip(result.directions, passed, strict=True):
        assert direction.intended == RATE_PPS * 3 // 10
        assert 0 <= into - direction.sent <= SHORT.learning_frames


def test_a_generator_that_is_killed_there_is_named_with_how_it_ended(generator):
    pid = generator.hello().raw["pid"]
    thread = threading.Timer(0.3, lambda: os.kill(pid, signal.SIGKILL))
    thread.start()
    with pytest.raises(GeneratorError, match="nfvgen ended") as caught:
        generator.run(LONG)
    thread.join()
    assert "exit status -9" in caught.value.observed


def test_a_generator_that_does_not_come_up_leaves_nothing(far, deployment, host):
    with pytest.raises(PrerequisiteError, match="cannot be run on another host") as caught:
        open_generator(host, spec_of(far, nfvgen="/opt/nfvgen"))
    assert "/opt/nfvgen" in str(caught.value)
    with pytest.raises(GeneratorError, match="nfvgen ended before it was ready") as caught:
        open_generator(host, spec_of(far, ports=[{"device": "g0"}, {"device": "nothing"}]))
    assert "nothing" in caught.value.observed
    assert wait_until(lambda: not far.processes(NFVGEN) and not list(far.folder.glob("nfvbed-*")))


def test_trex_of_another_host_is_driven_over_ssh_and_ended(far, host, tmp_path):
    """TRex is a double: the way to it, and its end, are real."""
    folder = install(tmp_path / "trex")
    ports = [{"pci": pci} for pci in PORTS]
    spec = spec_of(
        far, nfvgen=None, trex={"folder": str(folder), "configuration": str(folder / CONFIGURATION)}, ports=ports
    )
    generator = open_generator(host, spec)
    try:
        assert generator.hello().engine.name == "trex-stl"
        assert wait_until(lambda: far.processes("_t-rex-64")), "TRex's program runs there; its double answers before"
        host.disconnect()
        result = generator.run(SHORT)
        assert [one.received for one in result.directions] == [5940, 5940] and result.reconnections == 1
    finally:
        generator.close()
    assert not far.processes("_t-rex-64") and not list(far.folder.glob("nfvbed-*"))
