"""Real trials, port to port, through the real switches of the lab: the whole way from deploy to destroy. As root."""

import os
import signal
import threading
import time

import pytest
from hdrh.histogram import HdrHistogram

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError, GeneratorError
from nfvbed.measure.task import TrialTask
from nfvbed.measure.trace import run_trace
from nfvbed.measure.trial import Measurement
from nfvbed.records import CellRole, Preset, Role, TrialRecord
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.disturbed import PATIENCE_S, retried
from tests.sample_records import RUN

PROJECT = open_project()
PACED = TrafficRequest(duration_ns=300_000_000, frame_size=64, rate_pps=10_000)
WARM_UP = TrafficRequest(duration_ns=50_000_000, frame_size=64, rate_pps=10_000)
VARIANTS = ("linux-bridge", "ovs-dpdk")


@pytest.fixture(name="site")
def _site(lab_with_vnfs):
    return lab_with_vnfs


def task(request, preset=Preset.PACED):
    return TrialTask(run=RUN, cell="c", sequence=0, round=0, preset=preset, request=request)


def measured_without_loss(measurement):
    return retried(lambda: measurement.measure(task(PACED)), lambda record: record.loss_ratio == 0)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_paced_trial_loses_nothing_and_its_record_is_complete(site, variant):
    deployment = site.deploy(PROJECT.load_variant(variant), "p2p")
    generator = site.open_generator(deployment)
    measurement = Measurement(site, deployment, generator)
    measurement.warm_up(WARM_UP)
    record = measured_without_loss(measurement)
    generator.close()
    site.destroy(deployment)
    assert [d.intended for d in record.directions] == [3000, 3000]
    for direction in record.directions:
        # What others' use of the core kept from being sent in time is unsent, and is not lost.
        assert direction.received == direction.sent == direction.intended - direction.unsent
        assert (direction.lost, direction.reordered, direction.duplicated, direction.corrupted) == (0, 0, 0, 0)
    latency = [HdrHistogram.decode(text) for text in record.latency_hdr]
    assert [h.get_total_count() for h in latency] == [d.received for d in record.directions]
    assert record.loss_ratio == 0
    assert record.core_distance_ns is not None
    assert {t.role for t in record.cpu} >= {Role.GENERATOR, Role.SWITCH}
    assert record.cost is not None
    assert record.cost.packets >= sum(d.received for d in record.directions)
    assert record.cost.cycles_per_packet is not None
    assert record.cost.cycles_per_packet > 10
    assert TrialRecord.model_validate_json(record.model_dump_json()) == record


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("role", [CellRole.SUBJECT, CellRole.LOOPBACK])
def test_maximum_load_passes_frames_in_both_directions(site, variant, role):
    deployment = site.deploy(PROJECT.load_variant(variant), "p2p", role)
    generator = site.open_generator(deployment)
    measurement = Measurement(site, deployment, generator)
    measurement.warm_up(WARM_UP)
    request = TrafficRequest(duration_ns=200_000_000, frame_size=64)
    record = measurement.measure(task(request, Preset.MRR))
    generator.close()
    site.destroy(deployment)
    assert record.intended_load_pps is None
    assert all(d.received for d in record.directions)
    assert all(d.corrupted == d.duplicated == 0 for d in record.directions)
    assert record.forwarded_rate_pps <= record.offered_load_pps
    assert (record.cost is None) == (role is CellRole.LOOPBACK)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_generator_that_is_killed_in_mid_run_is_named_and_the_host_is_clean(site, variant):
    deployment = site.deploy(PROJECT.load_variant(variant), "p2p")
    generator = site.open_generator(deployment)
    measurement = Measurement(site, deployment, generator)
    measurement.warm_up(WARM_UP)
    killer = threading.Timer(0.5, os.kill, (generator.hello().pid, signal.SIGKILL))
    killer.start()
    started = time.monotonic()
    with pytest.raises(GeneratorError, match="exit status -9") as caught:
        measurement.measure(task(TrafficRequest(duration_ns=60_000_000_000, frame_size=64, rate_pps=1000)))
    assert caught.value.exit_code == 24
    assert time.monotonic() - started < PATIENCE_S, "not at the end of the trial"
    killer.join()
    generator.close()
    site.verify(deployment)
    # The deployment is as good as before: another generator takes the ports over.
    successor = site.open_generator(deployment)
    again = Measurement(site, deployment, successor)
    again.warm_up(WARM_UP)
    assert measured_without_loss(again).loss_ratio == 0
    successor.close()
    site.destroy(deployment)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_trace_follows_every_frame(site, variant):
    deployment = site.deploy(PROJECT.load_variant(variant), "p2p")
    generator = site.open_generator(deployment)
    report = retried(lambda: run_trace(site, deployment, generator, 64, 1000), lambda report: report.complete)
    generator.close()
    site.destroy(deployment)
    assert report.complete, report.model_dump_json(indent=1)
    for direction in report.directions:
        assert len(direction.points) >= 4
        assert all(p.packets is None or p.packets >= direction.sent for p in direction.points)


def test_a_frame_that_no_xdp_frame_can_be_is_refused_before_anything_is_sent(site):
    deployment = site.deploy(PROJECT.load_variant("linux-bridge"), "p2p")
    generator = site.open_generator(deployment)
    with pytest.raises(ConfigurationError, match="9000 bytes do not fit"):
        generator.run(TrafficRequest(duration_ns=10_000_000, frame_size=9000))
    generator.close()
    site.destroy(deployment)
