"""Open vSwitch with memif ports, and their ceilings: real frames through all of them. As root."""

from pathlib import Path

import pytest

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.dataplanes.ovs import rxq
from nfvbed.dataplanes.wiring import port_numbers
from nfvbed.host.cores.arrangement import resolve as resolve_arrangement
from nfvbed.measure.trial import wait_for_links
from nfvbed.records import PortKind
from nfvbed.records.readings import Part
from nfvbed.spec.choices import resolve
from nfvbed.spec.layout import layout
from nfvbed.spec.vnf import VnfUse
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.disturbed import pass_all

PROJECT = open_project()
REQUEST = TrafficRequest(duration_ns=200_000_000, frame_size=64, rate_pps=2_000, frames=400, learning_frames=1)


@pytest.fixture(name="site")
def _site(lab_with_vnfs):
    return lab_with_vnfs


def memif(**use):
    variant = PROJECT.load_variant("ovs-dpdk-memif")
    return variant, resolve(VnfUse(forwarding="io", **use), variant, PROJECT)


def passes(site, deployment):
    """Send frames both ways; the generator may be opened again, as it is between cells."""
    generator = site.open_generator(deployment)
    wait_for_links(generator)
    generator.run(TrafficRequest(duration_ns=50_000_000, frame_size=64, rate_pps=1_000))
    passage = pass_all(generator, REQUEST, lambda: site.look(deployment, Part.HOPS).hops)
    for old, hop in zip(passage.before, passage.after, strict=True):
        if hop.rx_packets is not None:
            assert hop.rx_packets - old.rx_packets >= min(passage.sent), hop.name
            assert hop.tx_packets - old.tx_packets >= min(passage.sent), hop.name
    generator.close()


def test_frames_pass_two_vnfs(site):
    variant, choice = memif()
    deployment = site.deploy(variant, "pvvp", vnf=choice)
    assert {port.kind for ports in deployment.vnf_ports for port in ports} == {PortKind.MEMIF}
    passes(site, deployment)
    site.destroy(deployment)


def test_each_of_two_polling_threads_sends_on_a_queue_of_its_own(site, monkeypatch):
    """On two cores the second thread is on the generator's core: that shows queues, and no rate."""

    def arranged(topology, spec, switch_cores, *more):
        found = resolve_arrangement(topology, spec, 1, *more)
        return found.model_copy(update={"switch_cores": (*found.switch_cores, found.generator_core)})

    monkeypatch.setattr("nfvbed.sites.lab.machine.resolve", arranged)
    variant, choice = memif()
    threads = {name: (place % 2,) for place, name in enumerate(port_numbers(layout("pvp")))}
    options = variant.options.model_copy(update={"pmd_cores": 2, "rxq_affinity": threads})
    variant = variant.model_copy(update={"options": options})
    deployment = site.deploy(variant, "pvp", vnf=choice)
    assert len({thread.core for thread in deployment.threads}) == 2
    passes(site, deployment)
    queues = rxq.read_loads(Path(deployment.control["unixctl"]), 5).queues
    polling = {name: {queue.core for queue in queues if queue.port == name} for name in threads}
    order = [thread.core for thread in deployment.threads]
    assert polling == {name: {order[thread]} for name, (thread,) in threads.items()}
    assert sum(queue.port == "v1a" for queue in queues) == 3
    site.destroy(deployment)
