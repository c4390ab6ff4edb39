"""Warnings that the host itself raises, on the real thing: fewer hugepages than asked for. As root."""

from dataclasses import replace

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.host.cores.topology import read_topology
from nfvbed.host.facts import host_facts
from nfvbed.measure.task import TrialTask
from nfvbed.measure.trial import Measurement
from nfvbed.records import Preset, QualityWarning, Readiness
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.lab_host import ROOT
from tests.sample_records import RUN

REQUEST = TrafficRequest(duration_ns=50_000_000, frame_size=64)
TASK = TrialTask(run=RUN, cell="c", sequence=1, round=1, preset=Preset.MRR, request=REQUEST)
FAR_TOO_MUCH_MIB = 64 * 1024 * 1024


def test_fewer_hugepages_than_asked_for_are_a_warning_about_every_trial(lab_with_vnfs):
    variant = open_project(ROOT).load_variant("ovs-dpdk").model_copy(update={"hugepages_mib": FAR_TOO_MUCH_MIB})
    support = lab_with_vnfs.probe(variant)
    assert support.readiness is Readiness.DEGRADED
    assert "hugepages" in support.reason and support.fix
    deployment = lab_with_vnfs.deploy(variant, "p2p")
    generator = lab_with_vnfs.open_generator(deployment)
    try:
        measurement = Measurement(lab_with_vnfs, deployment, generator)
        measurement.warm_up(REQUEST)
        record = measurement.measure(replace(TASK, request=replace(REQUEST, rate_pps=1000)))
    finally:
        generator.close()
    assert QualityWarning.HUGEPAGES_SHORT in record.warnings
    assert sum(direction.received for direction in record.directions) > 0
    lab_with_vnfs.destroy(deployment)


def test_this_host_says_what_it_can_tell():
    reported = host_facts(read_topology())["told"]
    assert set(reported) == {"clock", "thermal_throttling", "numa"}
    assert all(reported.values())
