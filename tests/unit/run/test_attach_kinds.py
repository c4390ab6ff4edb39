"""Tests of a mobile core's control plane: where they do not apply, what is counted, what is restarted."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError
from nfvbed.records import Status
from nfvbed.run.kinds import attaches
from nfvbed.spec.testkinds.attaches import AttachRateTest, RestorationTest, SessionsTest
from nfvbed.vnfs.epc.carrying import BearerReport, Direction
from nfvbed.vnfs.epc.live import absence_of_bearers
from nfvbed.vnfs.epc.reports import NO_ANSWER, AttachReport, Outcome

PROJECT = open_project(Path(__file__).parents[3])
NS_PER_MS = 1_000_000


class Core:
    """Functions whose attaches take 1, 2, 3, ... ms, and of whom some fail."""

    def __init__(self, failures=()):
        self.starts, self.asked, self._failures, self._number = 0, [], set(failures), 0

    def begin(self):
        self.starts += 1
        return float(self.starts)

    def attach(self, number, in_flight):
        self.asked.append((number, in_flight))
        found = []
        for _ in range(number):
            self._number += 1
            cause = NO_ANSWER if self._number in self._failures else ""
            found.append(Outcome(imsi="00101" + "0" * 10, duration_ns=self._number * NS_PER_MS, failure=cause))
        return AttachReport(outcomes=tuple(found), busy_ns=number * 10 * NS_PER_MS)


def figures(row):
    return {found.name: found.value for found in row.quantities}


def test_functions_are_restarted_every_40_ues_and_that_is_counted():
    core = Core()
    (row,) = attaches.rate_rows(core, AttachRateTest(kind="attach-rate", attaches=200), 4)
    assert core.asked == [(40, 4)] * 5
    found = figures(row)
    assert (found["attached"], found["failed"], found["starts of the functions"]) == (200, 0, 5)
    assert found["attach rate"] == pytest.approx(100)
    assert (found["attach P50"], found["attach P99"], found["longest attach"]) == (100, 198, 200)
    assert found["start of the functions"] == 3


def test_failures_are_counted_by_cause_and_have_no_latency():
    core = Core(failures=range(51, 71))
    row, cause = attaches.rate_rows(core, AttachRateTest(kind="attach-rate", attaches=70, ues_per_start=35), 1)
    assert [number for number, _ in core.asked] == [35, 35]
    assert (figures(row)["attached"], figures(row)["failed"], figures(row)["longest attach"]) == (50, 20, 50)
    assert (cause.label, figures(cause)) == (f"1 in flight: {NO_ANSWER}", {"failed": 20})


def test_where_nothing_attaches_rate_and_latency_are_missing_and_not_zero():
    row, _ = attaches.rate_rows(
        Core(failures=range(1, 4)), AttachRateTest(kind="attach-rate", attaches=3, ues_per_start=3), 1
    )
    assert {figures(row)[name] for name in ("attach rate", "attach P50", "attach P99", "longest attach")} == {None}


@pytest.mark.parametrize(
    ("ordered", "share", "expected"),
    [([], 0.5, None), ([7.0], 0.99, 7.0), ([1.0, 2.0, 3.0, 4.0], 0.5, 2.0), ([1.0, 2.0, 3.0, 4.0], 0.99, 4.0)],
)
def test_percentiles_are_of_the_nearest_rank(ordered, share, expected):
    assert attaches.percentile(ordered, share) == expected


def report(uplink, downlink, wrong=0):
    return BearerReport(
        uplink=Direction(sent=10, received=uplink, wrong=wrong), downlink=Direction(sent=10, received=downlink, wrong=0)
    )


def test_bearer_carries_where_all_frames_come_both_ways():
    found = (report(10, 10), report(10, 9), report(0, 0), report(10, 10, wrong=1))
    assert attaches.carrying(found) == 1
    assert attaches.passing(found) == 3
    assert [(lost.name, lost.value) for lost in attaches.missing(found)] == [
        ("missing uplink", 10),
        ("missing downlink", 11),
        ("wrong", 1),
    ]


def cell(topology, vnfs=()):
    deployment = SimpleNamespace(topology=topology, vnfs=vnfs, ports=())
    return SimpleNamespace(setup=SimpleNamespace(deployment=deployment))


@pytest.mark.parametrize(
    ("execute", "spec"),
    [
        (attaches.attach_rate, AttachRateTest(kind="attach-rate")),
        (attaches.sessions, SessionsTest(kind="sessions")),
        (attaches.restoration, RestorationTest(kind="restoration")),
    ],
)
def test_other_topologies_have_no_mobile_core(execute, spec):
    outcome = execute(cell("pvp"), spec)
    assert (outcome.status, outcome.payload) == (Status.NOT_APPLICABLE, None)
    assert outcome.reason == "topology pvp has no mobile core; topology vepc has"


def test_bearers_of_another_gateway_or_at_other_ports_are_not_tried():
    def deployment(gateway, *ports):
        return SimpleNamespace(vnfs=(SimpleNamespace(facts={"gateway": gateway}),), ports=ports)

    def port(kernel):
        kind = SimpleNamespace(is_kernel=kernel)
        return SimpleNamespace(kind=kind, spec="port0", netns="/run/netns/x")

    assert absence_of_bearers(deployment("nextepc", port(True), port(True))) == ""
    assert "gateway xdp has the bearers" in absence_of_bearers(deployment("xdp", port(True)))
    assert "are sent from kernel ports" in absence_of_bearers(deployment("nextepc", port(False), port(True)))


FILE = """name: trial
title: A trial
variants: [linux-bridge]
frame_sizes: [128]
topologies: [{topology}]
vnfs: [{{{vnf}}}]
ceilings: false
tests: [{{kind: {kind}}}]
"""
KINDS = ("attach-rate", "sessions", "restoration")


@pytest.mark.parametrize("kind", KINDS)
def test_file_without_a_mobile_core_is_refused_with_the_place(tmp_path, kind):
    path = tmp_path / "trial.yml"
    path.write_text(FILE.format(topology="pvp", vnf="kind: process, forwarding: io", kind=kind))
    with pytest.raises(ConfigurationError, match=f"test {kind} of trial.yml needs a mobile core") as refused:
        PROJECT.load_study(path)
    assert refused.value.exit_code == 10
    assert "trial.yml:8" in refused.value.where
    assert refused.value.observed == "topologies: pvp"
    path.write_text(FILE.format(topology="vepc", vnf="vnf: vepc, forwarding: nextepc", kind=kind))
    assert [test.kind for test in PROJECT.load_study(path).experiment.tests] == [kind]


@pytest.mark.parametrize(
    ("model", "keys", "words"),
    [
        (AttachRateTest, {"kind": "attach-rate", "ues_per_start": 51}, "less than or equal to 50"),
        (AttachRateTest, {"kind": "attach-rate", "in_flight": [21]}, "less than or equal to 20"),
        (SessionsTest, {"kind": "sessions", "ues": [51]}, "less than or equal to 50"),
        (
            SessionsTest,
            {"kind": "sessions", "cycles": 4, "cycle_ues": 10},
            "one start of the functions takes 36 that detach",
        ),
        (RestorationTest, {"kind": "restoration", "functions": ["igw"]}, "'store', 'hss'"),
    ],
)
def test_more_than_the_pools_hold_is_refused_when_the_file_is_read(model, keys, words):
    with pytest.raises(ValidationError, match=words):
        model.model_validate(keys)


LIMITED = """name: trial
title: A trial
variants: [linux-bridge]
frame_sizes: [128]
topologies: [vepc]
vnfs: [{{vnf: vepc, forwarding: nextepc{pcrf}}}]
ceilings: false
tests: [{{kind: {test}}}]
"""


@pytest.mark.parametrize(
    "test",
    [
        "attach-rate, attaches: 50, ues_per_start: 50",
        "sessions, ues: [10, 50], cycles: 0",
        "restoration, ues: 50",
    ],
)
def test_more_than_nextepcs_pcrf_takes_is_refused_with_the_place_and_the_way_out(tmp_path, test):
    path = tmp_path / "trial.yml"
    path.write_text(LIMITED.format(pcrf="", test=test))
    with pytest.raises(ConfigurationError, match="of trial.yml attaches more UEs than process-nextepc-vepc") as refused:
        PROJECT.load_study(path)
    assert refused.value.exit_code == 10
    assert "trial.yml:8" in refused.value.where
    assert refused.value.observed == "50 UEs between two starts of the functions; with pcrf: nextepc they take 40"
    assert "`pcrf: stand-in` in vnfs, which takes 50" in refused.value.fix
    path.write_text(LIMITED.format(pcrf=", pcrf: stand-in", test=test))
    assert PROJECT.load_study(path).experiment.tests


def test_lengths_are_foreseen():
    assert AttachRateTest(kind="attach-rate", attaches=200, in_flight=(1, 4)).expected()[1] == 2
    assert SessionsTest(kind="sessions", ues=(1, 2), cycles=0).expected()[1] == 2
    assert SessionsTest(kind="sessions").expected()[1] == 4
    assert RestorationTest(kind="restoration").expected()[1] == 6
