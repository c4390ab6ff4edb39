"""A loop over variants tells what is left, what differs between its passes, and where the doctor is not right."""

import time

import pytest

from nfvbed.errors import BusyError, DeployError, UnsupportedError
from nfvbed.host.workspace.footprint import Footprint
from nfvbed.measure.trace import DirectionTrace, TraceReport
from nfvbed.records import CellRole, Deployment, Readiness, Support
from nfvbed.run import switching
from nfvbed.run.switching import Candidate, SwitchLoop, Visit, problems, topology_for, unlike_manifest
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from tests.unit.run.simulated_runs import WatchedSite, variant


class Clean(Footprint):
    """A machine of which a test says what is left."""

    def left_behind(self, grace_s: float = 0) -> list[str]:
        return list(self.kinds.get("left", ()))


def machine(*left: str) -> Footprint:
    return Clean("", {"left": frozenset(left)})


class Site(WatchedSite):
    """Cannot deploy `sim-b`."""

    error: Exception = UnsupportedError("no module")

    def deploy(
        self, variant: Variant, topology: str, role: CellRole = CellRole.SUBJECT, vnf: VnfChoice | None = None
    ) -> Deployment:
        if variant.name == "sim-b":
            raise self.error
        return super().deploy(variant, topology, role, vnf)


def candidate(name: str, readiness: Readiness = Readiness.READY) -> Candidate:
    return Candidate(variant=variant(name), topology="p2p", support=Support(variant=name, readiness=readiness))


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    def traced(site: object, deployment: Deployment, *_: object) -> TraceReport:
        directions = tuple(DirectionTrace(name=n, frames=9, sent=9, received=9, points=()) for n in ("there", "back"))
        return TraceReport(variant=deployment.variant, topology="p2p", frame_size=64, directions=directions)

    monkeypatch.setattr(switching, "run_trace", traced)
    monkeypatch.setattr(switching, "wait_until_forwarding", lambda *_: time.sleep(0.001))


def test_each_variant_is_visited_in_each_pass_and_every_other_pass_goes_backwards() -> None:
    heard: list[Visit] = []
    site = Site()
    chosen = [candidate("sim-a"), candidate("sim-b", Readiness.UNSUPPORTED), candidate("sim-c")]
    found = SwitchLoop(site, machine(), heard.append).run(chosen, 2)
    assert [visit.variant for visit in heard] == ["sim-a", "sim-b", "sim-c", "sim-c", "sim-b", "sim-a"]
    assert found.problems == ()
    assert not site.running
    assert found.visits[0].switch_ns is None, "nothing was there before the first"
    assert len(found.times_s("sim-c")) == 2
    assert found.median_s("sim-b") is None
    assert found.visits[0].received == (9, 9)


def test_what_is_left_is_a_problem() -> None:
    found = SwitchLoop(Site(), machine("link: p0")).run([candidate("sim-a")], 1)
    assert found.problems == ("sim-a, pass 1: left behind link: p0",)


def test_a_variant_that_the_doctor_calls_ready_must_work() -> None:
    site = Site()
    site.error = DeployError("no bridge")
    found = SwitchLoop(site, machine()).run([candidate("sim-b")], 1)
    assert found.problems == ("sim-b: the doctor says ready, and it did not work: no bridge",)


def test_one_that_it_calls_unsupported_must_not() -> None:
    found = SwitchLoop(Site(), machine()).run([candidate("sim-a", Readiness.UNSUPPORTED)], 1)
    assert len(found.problems) == 1
    assert "frames came through" in found.problems[0]


def test_a_busy_host_ends_the_loop() -> None:
    site = Site()
    site.error = BusyError("another nfvbed")
    with pytest.raises(BusyError):
        SwitchLoop(site, machine()).run([candidate("sim-b")], 1)


def test_passes_that_differ_are_reported_and_frames_that_were_not_sent_do_not_count() -> None:
    whole = Visit(number=1, variant="a", topology="p2p", worked=True, complete=True, received=(9, 9))
    ready = [Support(variant="a", readiness=Readiness.READY)]
    lacking = whole.model_copy(update={"number": 2, "received": (9, 8), "complete": False, "lost_at": "br0 tx"})
    found = problems([whole, lacking], ready)
    assert found == (
        "a: the passes differ: pass 1 9 and 9 frames; pass 2 9 and 8 frames",
        "a, pass 2: frames were lost at br0 tx",
    )
    fewer = whole.model_copy(update={"number": 2, "received": (7, 9), "exact": False})
    assert problems([fewer, fewer], ready) == ()
    assert problems([whole, fewer], ready) == ()


def test_the_manifest_must_say_the_same() -> None:
    ready = Support(variant="a", readiness=Readiness.READY)
    assert unlike_manifest([ready], {"a": "ready"}) == ()
    assert unlike_manifest([ready], {"a": "unsupported"}) == ("a: the doctor says ready, the manifest unsupported",)
    assert "the manifest nothing" in unlike_manifest([ready], {})[0]


def test_a_variant_is_visited_on_a_path_that_it_has() -> None:
    assert topology_for(variant("a"), ("p2p", "pvp")) == "p2p"
    assert topology_for(variant("a").model_copy(update={"topologies": ("pvp", "v2v")}), ("v2v", "p2p", "pvp")) == "pvp"
    assert topology_for(variant("a"), ("pvp",)) == ""
