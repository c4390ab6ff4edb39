"""Open vSwitch with DPDK and its ceilings on the real host. As root."""

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
from nfvbed.errors import DeployError, SwitchDiedError
from nfvbed.host.cores.arrangement import resolve
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.workspace.workspace import Workspace
from nfvbed.measure.trial import wait_for_links
from nfvbed.records import CellRole, Readiness
from nfvbed.spec.layout import layout
from nfvbed.spec.site import ArrangementSpec
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.disturbed import each_is_counted_once, pass_all

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


def test_the_normal_action_counts_every_frame_at_every_hop(site):
    deployment = site.deploy(variant(flows="normal"), "p2p")
    assert "DPDK" in deployment.versions["dpdk"]
    assert [step for step, _ in deployment.steps] == [
        f"deploy.{step}" for step in ("hugepages", "database", "switch", "bridge", "rules")
    ]
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


def test_probe_refuses_queues_that_its_ports_have_not(site):
    refused = site.probe(variant(n_rxq=17))
    assert refused.readiness is Readiness.UNSUPPORTED
    assert refused.fix == "n_rxq: 16 at most"
