"""Open vSwitch with DPDK and its ceilings on the real host. As root."""

import contextlib
import os
import signal
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.dataplane import DeployRequest
from nfvbed.dataplanes.ovs import pmd
from nfvbed.dataplanes.ovs.binaries import locate
from nfvbed.dataplanes.ovs.database import PortRequest
from nfvbed.dataplanes.ovs.dpdk.adapter import OvsDpdk
from nfvbed.dataplanes.ovs.instance import DpdkSettings, OvsInstance, settings
from nfvbed.errors import DeployError, NfvbedError, SwitchDiedError
from nfvbed.host.arrangement import resolve
from nfvbed.host.topology import read_topology
from nfvbed.host.workspace import Workspace
from nfvbed.measure.trial import wait_for_links
from nfvbed.records import CellRole, Readiness, Role
from nfvbed.spec.layout import layout
from nfvbed.spec.site import ArrangementSpec
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.disturbed import death_of, each_is_counted_once, pass_all

PROJECT = open_project()
FRAMES = 2000
REQUEST = TrafficRequest(duration_ns=1_000_000_000, frame_size=64, rate_pps=10_000, frames=FRAMES, learning_frames=1)
SYSTEM_PLACES = ("/run/openvswitch", "/etc/openvswitch", "/var/log/openvswitch", "/var/lib/openvswitch")


@pytest.fixture(name="site")
def _site(lab):
    system = system_files()
    yield lab
    assert system_files() == system, "an Open vSwitch of the system was touched"


@pytest.fixture
def workspace(site):
    made = Workspace.create()
    yield made
    made.close()


def system_files():
    paths = [path for place in SYSTEM_PLACES for path in Path(place).rglob("*")]
    return {str(path): path.lstat().st_mtime_ns for path in paths if path.exists()}


def variant(**options):
    loaded = PROJECT.load_variant("ovs-dpdk")
    return loaded.model_copy(update={"options": loaded.options.model_copy(update=options)})


def open_generator(site, deployment):
    """Open it as a measurement does: a link that is up may take a moment until its rings are in use."""
    generator = site.open_generator(deployment)
    wait_for_links(generator)
    site.wait_for_generator(deployment)
    generator.run(TrafficRequest(duration_ns=100_000_000, frame_size=64, rate_pps=10_000))
    return generator


def arrangement():
    return resolve(read_topology(), ArrangementSpec())


@pytest.mark.parametrize("flows", ["port-to-port", "normal"])
def test_every_frame_is_counted_at_every_hop(site, flows):
    deployment = site.deploy(variant(flows=flows), "p2p")
    generator = open_generator(site, deployment)
    passage = pass_all(
        generator, REQUEST, lambda: (site.hops(deployment), site.counters(deployment)), each_is_counted_once
    )
    site.verify(deployment)
    (before, first), (after, second) = passage.before, passage.after
    assert [hop.name for hop in after] == ["br0 port p0", "br0 datapath", "br0 port p1"]
    assert second.packets - first.packets >= sum(passage.sent)
    assert second.busy_cycles > first.busy_cycles
    assert second.source in (pmd.SOURCE, pmd.ROUNDED_SOURCE)
    assert after[0].drops == before[0].drops
    generator.close()
    site.destroy(deployment)


def test_jumbo_frames_pass_ports_that_are_asked_for_their_mtu(site):
    deployment = site.deploy(variant().carrying(9000), "p2p")
    generator = open_generator(site, deployment)
    for size in (2000, 9018):
        pass_all(generator, replace(REQUEST, frame_size=size))
    generator.close()
    site.destroy(deployment)


def test_deployment_says_what_is_deployed(site):
    deployment = site.deploy(variant(), "p2p")
    (thread,) = site.work_threads(deployment)
    assert (thread.role, thread.core, thread.polling) == (Role.SWITCH, arrangement().switch_cores[0], True)
    assert os.sched_getaffinity(thread.tid) == {thread.core}
    assert deployment.versions["openvswitch"][0].isdigit()
    assert "DPDK" in deployment.versions["dpdk"]
    assert [step for step, _ in deployment.steps] == [
        f"deploy.{step}" for step in ("hugepages", "database", "switch", "bridge", "rules")
    ]
    # Another process, that has only the record, sees the same.
    assert OvsDpdk().counters(deployment).packets == 0
    OvsDpdk().verify(deployment)
    site.destroy(deployment)
    with pytest.raises(NfvbedError):
        OvsDpdk().verify(deployment)


def test_generator_can_be_started_again(site):
    deployment = site.deploy(variant(), "p2p")
    for _ in range(2):
        generator = open_generator(site, deployment)
        pass_all(generator, REQUEST)
        generator.close()
    site.destroy(deployment)


@pytest.mark.parametrize("role", [CellRole.SUBJECT, CellRole.REFERENCE])
def test_switch_killed_in_mid_trial(site, role):
    deployment = site.deploy(variant(), "p2p", role)
    generator = open_generator(site, deployment)
    pid = deployment.threads[0].pid
    killer = threading.Timer(0.2, os.kill, (pid, signal.SIGKILL))
    killer.start()
    # The generator may notice its peer's end or not: what counts is what `verify` says.
    with contextlib.suppress(NfvbedError):
        generator.run(TrafficRequest(duration_ns=500_000_000, frame_size=64, rate_pps=10_000))
    killer.join()
    death = death_of(lambda: site.verify(deployment))
    assert "signal 9" in death.observed
    assert "VHOST_CONFIG" in death.observed, "the last lines of its log"
    with pytest.raises(SwitchDiedError):
        site.counters(deployment)
    generator.close()
    site.destroy(deployment)


@pytest.mark.parametrize("role", [CellRole.REFERENCE, CellRole.LOOPBACK])
def test_ceilings_pass_every_frame(site, role):
    deployment = site.deploy(variant(), "p2p", role)
    assert deployment.role is role
    generator = open_generator(site, deployment)
    sent = pass_all(generator, REQUEST).sent
    if role is CellRole.REFERENCE:
        assert site.counters(deployment).packets >= sum(sent)
        first, second = site.hops(deployment)
        assert min(first.rx_packets, second.tx_packets) >= sent[0]
        (thread,) = site.work_threads(deployment)
        assert thread.core == arrangement().switch_cores[0]
    generator.close()
    site.destroy(deployment)


@pytest.mark.slow
def test_reference_forwards_when_the_generator_comes_late(site):
    deployment = site.deploy(variant(), "p2p", CellRole.REFERENCE)
    time.sleep(10)  # testpmd's own wait for links ends after nine seconds
    generator = open_generator(site, deployment)
    pass_all(generator, REQUEST)
    generator.close()
    site.destroy(deployment)


def test_busy_socket(workspace):
    (workspace.directory / "p0.sock").touch()
    with pytest.raises(DeployError, match="socket is busy") as caught:
        OvsDpdk().deploy(DeployRequest(variant(), layout("p2p"), workspace, arrangement()))
    assert caught.value.where.endswith("p0.sock")


def test_port_that_cannot_be_opened_is_reported_in_the_switchs_words(workspace):
    placed = arrangement()
    instance = OvsInstance(workspace, locate(), placed.control_cores)
    instance.start_database()
    dpdk = DpdkSettings(64, workspace.hugepages(128), placed.switch_cores, placed.control_cores[0])
    with instance.connect() as database:
        database.initialise(settings(dpdk, f"nfvbed-{workspace.id}"))
        instance.start_switch(workspace.network_namespace("switch"))
        assert database.wait_for_switch().dpdk_initialized
        with pytest.raises(DeployError) as caught:
            database.add_bridge("br0", [PortRequest("p0", "dpdk", 1, {"dpdk-devargs": "0000:ff:1f.7"})])
    assert "0000:ff:1f.7" in caught.value.observed


def test_switch_that_cannot_start_is_reported_with_its_log(workspace):
    placed = arrangement()
    instance = OvsInstance(workspace, locate(), placed.control_cores)
    instance.start_database()
    dpdk = DpdkSettings(64, workspace.hugepages(128), placed.switch_cores, placed.control_cores[0])
    broken = settings(dpdk, f"nfvbed-{workspace.id}") | {"dpdk-extra": "--no-such-option"}
    with instance.connect() as database:
        database.initialise(broken)
        instance.start_switch(workspace.network_namespace("switch"))
        with pytest.raises(SwitchDiedError) as caught:
            database.wait_for_switch()
    # Up to Open vSwitch 3.5 by a signal; a later DPDK names the argument.
    assert "the last lines of its log" in caught.value.observed
    assert any(said in caught.value.observed for said in ("Unable to initialize DPDK", "no-such-option"))


def test_probe_says_ready_and_leaves_nothing(site):
    support = site.probe(variant())
    assert support.readiness is Readiness.READY, support.reason
    refused = site.probe(variant(n_rxq=4))
    assert refused.readiness is Readiness.UNSUPPORTED
    assert refused.fix == "n_rxq: 1"
