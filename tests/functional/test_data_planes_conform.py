"""What holds for every data plane: each variant that tests/support.yml says runs here, deployed once for all checks.

Checks come in the order in which a deployment stands them: counting first, its end last. What a plane does otherwise
is in `quirks.py` of its room; what only one plane has is in the file of that plane. As root.
"""

import contextlib
import os
import signal
import time
from dataclasses import replace
from typing import get_args

import pytest
from hdrh.histogram import HdrHistogram

from nfvbed.dataplanes.ovs.binaries import binaries_of
from nfvbed.dataplanes.ovs.ovn.logicaloptions import RELEASES_WITH_OVN
from nfvbed.dataplanes.ovs.packagesets import ReleaseName
from nfvbed.errors import (
    GeneratorError,
    NfvbedError,
    PrerequisiteError,
    SwitchDiedError,
    UnsupportedError,
    VnfDiedError,
)
from nfvbed.measure.task import TrialTask
from nfvbed.measure.trace import follow
from nfvbed.measure.trial import Measurement
from nfvbed.records import (
    NOT_SEPARABLE,
    CellRole,
    HopKind,
    PortKind,
    Preset,
    QualityWarning,
    Role,
    TrialRecord,
)
from nfvbed.records.readings import Part, Unavailable
from nfvbed.records.results import ResultKind
from nfvbed.sites.lab.machine import LabMachine
from nfvbed.spec.choices import resolve
from nfvbed.traffic.generator import TrafficRequest
from tests.functional.conftest import lab_of_project
from tests.functional.declared import PROJECT, validated
from tests.functional.deployed_plane import (
    Case,
    ceilings,
    data_planes,
    deployed,
    other_variants,
    paths_with_vnf,
    refused,
    vnf_for,
)
from tests.functional.disturbed import PATIENCE_S, death_of, pass_all, retried, wait_until
from tests.sample_records import RUN

SURPLUS = 10
"""Frames that a hop may count beside those of a trial: learning frames, and those of the kernel's neighbours."""
PACED = TrafficRequest(duration_ns=300_000_000, frame_size=64, rate_pps=10_000)
FULL = TrafficRequest(duration_ns=200_000_000, frame_size=64)
LONG = TrafficRequest(duration_ns=60_000_000_000, frame_size=64, rate_pps=1_000)
WATCHED = TrafficRequest(duration_ns=1_600_000_000, frame_size=64, rate_pps=20_000, timeline_ns=1_000_000)
WATCHED_IN_KERNEL = replace(WATCHED, duration_ns=800_000_000)
"""A switch of the kernel is reset in some 50 ms, one that is a process is started again."""
RESET_AFTER_S = 0.2
KILL_AFTER_S = 0.1


def task(request, preset=Preset.PACED, **more):
    return TrialTask(run=RUN, cell="c", sequence=0, round=0, preset=preset, request=request, **more)


def measurement_of(plane):
    return Measurement(plane.site, plane.deployment, plane.generator)


def each_counted(passage, frames):
    """Whether every place on the way counted each frame that was sent once, both ways."""
    traces = follow(frames, passage.result, passage.before.hops, passage.after.hops)
    places = [(trace, point) for trace in traces for point in trace.points if point.packets is not None]
    return all(trace.sent <= point.packets <= trace.sent + SURPLUS for trace, point in places)


def assert_counted(plane):
    """Send some frames: every place on the path counts each once, and so does the switch."""
    request = plane.counted
    passage = pass_all(plane.generator, request, plane.look, lambda passage: each_counted(passage, request.frames))
    hops, (before, after) = passage.after.hops, (passage.before.counters, passage.after.counters)
    silent = [hop.name for hop in hops if hop.kind is not HopKind.INSIDE and None in (hop.rx_packets, hop.tx_packets)]
    assert silent == [], "every port of the path counts"
    ports = [hop for hop in hops if hop.kind is HopKind.SWITCH_PORT]
    assert len({hop.name for hop in hops}) == len(hops)
    assert len(ports) >= 2 + 2 * len(plane.deployment.vnfs), "both ends of every cable"
    cables = 1 + len(plane.deployment.vnfs)
    switched = after.packets - before.packets
    assert sum(passage.sent) * cables <= switched <= (sum(passage.sent) + 2 * SURPLUS) * cables
    others_work = plane.port_kinds & plane.quirks.not_separable
    if others_work or QualityWarning.CORES_SHARED in plane.deployment.warnings:
        assert after.busy_cycles == NOT_SEPARABLE
    else:
        assert after.busy_cycles > before.busy_cycles
    assert after.source
    plane.site.verify(plane.deployment)


def assert_threads_sit(plane):
    """Its threads forward on the switch's cores, each on one of its own."""
    cores = plane.site.host_view(plane.deployment).arrangement.switch_cores
    of_switch = [
        thread for thread in plane.site.look(plane.deployment, Part.THREADS).threads if thread.role is Role.SWITCH
    ]
    assert of_switch
    assert {thread.core for thread in of_switch} <= set(cores)
    assert all(os.sched_getaffinity(thread.tid) == {thread.core} for thread in of_switch)


def kill_in_mid_trial(plane, end, request):
    """End something while frames flow; give what the trial says, which may be nothing yet.

    By a clock that runs from before, a busy host has it ended before the trial: while the switch joins its ports.
    """

    def end_soon():
        time.sleep(KILL_AFTER_S)
        end()

    failures = []
    try:
        measurement_of(plane).measure(task(request, meanwhile=end_soon))
    except NfvbedError as failure:
        failures.append(failure)
    return failures


@contextlib.contextmanager
def deployed_shortest(request, factory):
    """Deploy a case on its shortest path; virtual machines need their image."""
    case = request.param
    if case.guests:
        request.getfixturevalue("vloop_image")
    vnf = None if case.topology == "p2p" else resolve(case.variant.native_vnf, case.variant, PROJECT)
    with deployed(case, factory.mktemp("double"), vnf) as plane:
        yield plane


@pytest.mark.no_hugepages
class TestDataPlane:
    """On its shortest path: port to port, or through one VNF. One variant of each data plane; slow: of all of them."""

    @pytest.fixture(scope="class", name="plane", params=data_planes())
    @classmethod
    def _plane(cls, request, tmp_path_factory):
        with deployed_shortest(request, tmp_path_factory) as plane:
            yield plane

    def test_every_frame_is_counted_at_every_hop(self, plane):
        assert_counted(plane)

    def test_another_process_sees_the_same(self, plane):
        seen = plane.look().counters
        assert plane.adapter.counters(plane.deployment).packets >= seen.packets
        plane.adapter.verify(plane.deployment)
        assert plane.deployment.versions and all(plane.deployment.versions.values())
        assert all(length >= 0 for _, length in plane.deployment.steps)

    def test_its_threads_sit_where_the_arrangement_says(self, plane):
        assert_threads_sit(plane)

    def test_maximum_load_passes_frames_in_both_directions(self, plane):
        record = measurement_of(plane).measure(task(FULL, Preset.MRR))
        assert record.intended_load_pps is None
        assert all(d.received for d in record.directions)
        assert all(d.corrupted == d.duplicated == 0 for d in record.directions)
        assert record.forwarded_rate_pps <= record.offered_load_pps

    def test_another_generator_takes_the_ports_over_also_from_one_that_is_killed_in_mid_trial(self, plane):
        first = plane.generator.hello().pid
        plane.close_generator()
        pass_all(plane.generator, plane.counted)
        second, started = plane.generator.hello().pid, time.monotonic()
        (failure,) = kill_in_mid_trial(plane, lambda: os.kill(second, signal.SIGKILL), LONG)
        assert isinstance(failure, GeneratorError)
        assert "exit status -9" in str(failure)
        assert failure.exit_code == 24
        assert time.monotonic() - started < PATIENCE_S, "not at the end of the trial"
        plane.close_generator()
        try:
            plane.site.verify(plane.deployment)
            assert plane.generator.hello().pid not in (first, second)
        except SwitchDiedError as death:
            # A switch may still read the memory of a memif peer that is gone (docs/limits.md).
            assert PortKind.MEMIF in plane.port_kinds and "signal 11" in death.observed, death
            print(f"the switch ended with its peer: {death.observed.splitlines()[0]}")
            plane.deploy_again()

    def test_a_paced_trial_loses_nothing_and_its_record_is_complete(self, plane):
        record = retried(lambda: measurement_of(plane).measure(task(PACED)), lambda record: record.loss_ratio == 0)
        assert record.loss_ratio == 0
        assert [d.intended for d in record.directions] == [3000, 3000]
        for direction in record.directions:
            # What others' use of the core kept from being sent in time is unsent, and is not lost.
            assert direction.received == direction.sent == direction.intended - direction.unsent
            assert (direction.lost, direction.reordered, direction.duplicated, direction.corrupted) == (0, 0, 0, 0)
        latency = [HdrHistogram.decode(text) for text in record.latency_hdr]
        assert [h.get_total_count() for h in latency] == [d.received for d in record.directions]
        assert {t.role for t in record.cpu} >= {Role.GENERATOR, Role.SWITCH}
        assert record.cost.packets >= sum(d.received for d in record.directions)
        assert record.cost.cycles_per_packet is None or record.cost.cycles_per_packet > 10
        assert TrialRecord.model_validate_json(record.model_dump_json()) == record

    def test_a_reset_brings_it_back_under_traffic_or_is_refused_with_the_reason(self, plane):
        if plane.why_no_reset:
            with pytest.raises(UnsupportedError, match=plane.why_no_reset):
                plane.site.reset(plane.deployment, 0)
            plane.site.verify(plane.deployment)
            return
        process, seen, reports = plane.process, [], []
        watched = task(
            WATCHED if process is not None else WATCHED_IN_KERNEL,
            ResultKind.RESET,
            counters=False,
            look=seen.append,
            meanwhile=lambda: reports.append(plane.site.reset(plane.deployment, RESET_AFTER_S)),
        )
        record = measurement_of(plane).measure(watched)
        (report,) = reports
        assert ("killed" in report.kind) == (process is not None), "results of different kinds are not the same test"
        assert report.duration_ns > 0
        assert all(name.startswith("reset.") and length > 0 for name, length in report.steps)
        assert all(direction.received for direction in record.directions)
        for line in seen[0].timelines:
            assert plane.quirks.flows_outlive_process or (line.missing() > 0 and line.gap is not None)
        assert process is None or not process.alive()
        # It flows again without loss on the same ports, and is counted.
        assert_counted(plane)

    def test_a_switch_that_ends_in_mid_trial_is_named_and_so_is_every_later_look(self, plane):
        process = plane.process
        # The generator may notice its peer's end or not: what counts is what `verify` says.
        kill_in_mid_trial(plane, plane.end_switch, PACED)
        death = death_of(lambda: plane.site.verify(plane.deployment))
        assert death.exit_code == 23
        if process is not None:
            assert "signal 9; the last lines of its log" in death.observed
            assert f"pid {process.pid}" in death.where
            with pytest.raises(SwitchDiedError):
                plane.site.look(plane.deployment, Part.COUNTERS)
            plane.close_generator()
            if PortKind.MEMIF in {port.kind for port in plane.deployment.ports}:
                with pytest.raises(SwitchDiedError):
                    plane.site.open_generator(plane.deployment)

    def test_destroyed_it_is_gone_and_leaves_nothing(self, plane):
        plane.destroy()
        with pytest.raises(NfvbedError):
            plane.adapter.verify(plane.deployment)


@pytest.mark.no_hugepages
class TestOtherVariant:
    """The other variants of the same data planes and ports, of which the tier slow asks all of the above."""

    @pytest.fixture(scope="class", name="plane", params=other_variants())
    @classmethod
    def _plane(cls, request, tmp_path_factory):
        with deployed_shortest(request, tmp_path_factory) as plane:
            yield plane

    def test_every_frame_is_counted_at_every_hop_and_nothing_stays(self, plane):
        assert_counted(plane)
        assert_threads_sit(plane)
        plane.destroy()


OF_RELEASES = {"ovs-dpdk": get_args(ReleaseName), "ovn": RELEASES_WITH_OVN, "ovs-overlay-local": get_args(ReleaseName)}
"""Variants, and the releases of Open vSwitch that they can have."""
SLEEPING = ("3.1", "3.5", "4.0")
"""Releases whose polling threads can sleep, so that two hosts can share a core."""


def root_of(variant):
    """Return the root of a release's packages.

    The tier slow unpacks the newest. Older ones are downloads of their own, which `make releases` makes on demand; a
    test of one that is not there is skipped, and says that.

    Raises:
        PrerequisiteError: the newest is not there.
    """
    try:
        return binaries_of(variant.options).root
    except PrerequisiteError as missing:
        if variant.options.release == get_args(ReleaseName)[-1]:
            raise
        pytest.skip(str(missing))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "release"), [(name, one) for name, known in OF_RELEASES.items() for one in known])
def test_a_release_counts_every_frame_is_reset_and_says_what_it_is(tmp_path, name, release):
    variant = validated(name, release=release)
    root = root_of(variant)
    with deployed(Case(variant, "p2p"), tmp_path) as plane:
        versions = plane.deployment.versions
        packages = dict(line.split() for line in (root / "packages.txt").read_text().splitlines()[1:])
        assert versions["openvswitch"].startswith(f"{release}.")
        assert versions["dpdk"].removeprefix("DPDK ") == packages["dpdk"].partition("-")[0]
        assert versions["libc6"] == packages["libc6"] and f"{len(packages)} of " in versions["packages"]
        assert versions.get("ovn") == (packages["ovn-host"].partition("-")[0] if name == "ovn" else None)
        assert_counted(plane)
        if name != "ovs-overlay-local":  # Its hosts are not reset.
            plane.site.reset(plane.deployment, 0)
            assert_counted(plane)
        plane.destroy()


@pytest.mark.slow
@pytest.mark.parametrize("release", SLEEPING)
def test_two_hosts_of_a_release_pass_every_frame_through_their_tunnel(tmp_path, release):
    variant = validated("ovs-overlay-geneve", release=release, underlay="veth", rules=0)
    root_of(variant)
    with deployed(Case(variant, "p2p"), tmp_path) as plane:
        assert plane.deployment.versions["openvswitch"].startswith(f"{release}.")
        assert_counted(plane)
        plane.destroy()


@pytest.mark.no_hugepages
class TestWithVnf:
    """Through one VNF that is a process."""

    @pytest.fixture(scope="class", name="plane", params=paths_with_vnf())
    @classmethod
    def _plane(cls, request, tmp_path_factory):
        with deployed(request.param, tmp_path_factory.mktemp("double"), vnf_for(request.param.variant)) as plane:
            yield plane

    def test_every_frame_is_counted_at_every_hop(self, plane):
        assert_counted(plane)

    def test_a_vnf_killed_in_mid_trial_is_named_and_the_switch_lives(self, plane):
        (handle,) = plane.deployment.vnfs
        kill_in_mid_trial(plane, lambda: os.kill(handle.pids[0], signal.SIGKILL), PACED)
        deaths = []

        def noticed():
            with contextlib.suppress(SwitchDiedError):
                try:
                    plane.site.verify(plane.deployment)
                except VnfDiedError as failure:
                    deaths.append(failure)
            return deaths

        assert wait_until(noticed)
        assert deaths[0].exit_code == 22
        assert "signal 9" in str(deaths[0])
        plane.adapter.verify(plane.deployment)
        plane.destroy()


class TestCeiling:
    """Each kind of ports without a switch: looped back, with a poller, with a VNF alone."""

    @pytest.fixture(scope="class", name="plane", params=ceilings())
    @classmethod
    def _plane(cls, request, tmp_path_factory):
        case = request.param
        vnf = vnf_for(case.variant) if case.role is CellRole.VNF else None
        with deployed(case, tmp_path_factory.mktemp("double"), vnf) as plane:
            yield plane

    def test_it_passes_every_frame(self, plane):
        assert plane.deployment.vnf_ports == () or plane.deployment.role is CellRole.VNF
        passage = pass_all(plane.generator, plane.counted, plane.look)
        counted = [hop for hop in passage.after.hops if hop.kind is HopKind.SWITCH_PORT]
        if plane.deployment.role is CellRole.REFERENCE:
            old = {hop.name: hop for hop in passage.before.hops}
            assert counted[0].rx_packets - old[counted[0].name].rx_packets >= passage.sent[0]
            assert counted[-1].tx_packets - old[counted[-1].name].tx_packets >= passage.sent[0]
            cores = plane.site.host_view(plane.deployment).arrangement.switch_cores
            threads = plane.site.look(plane.deployment, Part.THREADS).threads
            pollers = [thread for thread in threads if thread.polling and thread.role is not Role.GENERATOR]
            assert [os.sched_getaffinity(thread.tid) for thread in pollers] == [{cores[0]}]
        else:
            assert isinstance(passage.after.counters, Unavailable)
        if plane.deployment.role is CellRole.LOOPBACK:
            record = measurement_of(plane).measure(task(FULL, Preset.MRR))
            assert all(d.received and d.corrupted == d.duplicated == 0 for d in record.directions)
            assert record.cost is None

    def test_it_cannot_be_reset(self, plane):
        with pytest.raises(UnsupportedError, match="there is no reset"):
            plane.site.reset(plane.deployment, 0)

    def test_its_end_is_named_and_it_leaves_nothing(self, plane):
        if plane.deployment.role is CellRole.REFERENCE:
            threads = plane.site.look(plane.deployment, Part.THREADS).threads
            pid = next(thread.pid for thread in threads if thread.polling and thread.role is not Role.GENERATOR)
            kill_in_mid_trial(plane, lambda: os.kill(pid, signal.SIGKILL), PACED)
            assert "signal 9" in death_of(lambda: plane.site.verify(plane.deployment)).observed
        plane.destroy()


@pytest.mark.parametrize("name", refused())
def test_what_cannot_run_here_is_refused_with_the_reason_and_what_to_do(before, name):
    with pytest.raises((UnsupportedError, PrerequisiteError)) as refusal:
        LabMachine(*lab_of_project()).require(PROJECT.load_variant(name))
    assert refusal.value.observed
    assert refusal.value.fix
