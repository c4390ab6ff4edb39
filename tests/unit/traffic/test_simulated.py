"""The simulated system has the answer that its options say, and the same one every time."""

from statistics import mean, stdev

import pytest
from hdrh.histogram import HdrHistogram

from nfvbed.dataplanes.catalogue import VariantModel
from nfvbed.errors import GeneratorError, InternalError, UnsupportedError
from nfvbed.records import CellRole, Readiness
from nfvbed.records.readings import Part, Unavailable
from nfvbed.sites.simulated.site import SimulatedSite
from nfvbed.spec.variant import Variant
from nfvbed.spec.vnf import VnfChoice
from nfvbed.traffic.generator import TrafficRequest, TrafficResult
from nfvbed.units import NS_PER_S


def variant(**options: object) -> Variant:
    values = {"name": "simulated", "title": "s", "port_kind": "simulated", "topologies": ("p2p",)}
    return VariantModel.model_validate({**values, "options": {"dataplane": "simulated", **options}})


def trial(site: SimulatedSite, of: Variant, **request: object) -> TrafficResult:
    values = {"duration_ns": NS_PER_S // 2, "frame_size": 64, **request}
    deployment = site.deploy(of, "p2p")
    result = site.open_generator(deployment).run(TrafficRequest(**values))  # type: ignore[arg-type]
    site.destroy(deployment)
    return result


def rates(of: Variant, count: int = 200) -> list[float]:
    site = SimulatedSite()
    return [sum(d.received for d in trial(site, of, stamp=False).directions) * 2.0 for _ in range(count)]


def test_capacity_and_noise_are_those_of_the_options() -> None:
    found = rates(variant(capacity_pps=3_000_000, noise=0.015))
    assert mean(found) == pytest.approx(3_000_000, rel=0.005)
    assert stdev(found) / mean(found) == pytest.approx(0.015, rel=0.2)


def test_the_hidden_state_decides_and_its_distance_shows_it() -> None:
    site = SimulatedSite()
    of = variant(capacity_pps=5e6, far_capacity_pps=2e6, noise=0.0, state_change_per_s=0.5)
    seen = set()
    for _ in range(100):
        deployment = site.deploy(of, "p2p")
        before = site.look(deployment, Part.DISTANCES).core_distance_ns
        result = site.open_generator(deployment).run(TrafficRequest(NS_PER_S // 10, 64, stamp=False))
        after = site.look(deployment, Part.DISTANCES).core_distance_ns
        assert before is not None
        assert after is not None
        if (before < 80) == (after < 80):
            rate = sum(d.received for d in result.directions) * 10
            assert rate == pytest.approx(5e6 if before < 80 else 2e6, rel=0.01)
            seen.add(before < 80)
    assert seen == {True, False}


def test_a_state_that_changes_within_a_trial_gives_a_rate_between() -> None:
    site = SimulatedSite()
    of = variant(capacity_pps=5e6, far_capacity_pps=2e6, noise=0.0, state_change_per_s=50)
    rate = sum(d.received for d in trial(site, of, duration_ns=NS_PER_S * 2).directions) / 2
    assert 2.5e6 < rate < 4.5e6


def test_equal_seeds_give_equal_trials_and_an_offset_others() -> None:
    of = variant(burst_probability_per_s=2.0)
    assert trial(SimulatedSite(), of) == trial(SimulatedSite(), of)
    assert trial(SimulatedSite(), of) != trial(SimulatedSite(offset=3), of)
    assert trial(SimulatedSite(), of) != trial(SimulatedSite(), variant(burst_probability_per_s=2.0, seed=2))


def test_long_frames_cost_what_the_options_say() -> None:
    of = variant(capacity_pps=1e6, noise=0.0, byte_cost=0.0003)
    received = sum(d.received for d in trial(SimulatedSite(), of, frame_size=1518, duration_ns=NS_PER_S).directions)
    assert received == pytest.approx(1e6 * (1 - 0.0003 * (1518 - 64)), rel=0.001)


def test_a_paced_load_below_capacity_is_sent_whole_and_above_it_not() -> None:
    of = variant(capacity_pps=1e6, noise=0.0)
    below = trial(SimulatedSite(), of, rate_pps=100_000, duration_ns=NS_PER_S)
    assert [(d.intended, d.sent, d.unsent, d.lost) for d in below.directions] == [(100_000, 100_000, 0, 0)] * 2
    above = trial(SimulatedSite(), of, rate_pps=800_000, duration_ns=NS_PER_S)
    assert [(d.intended, d.sent, d.unsent) for d in above.directions] == [(800_000, 500_000, 300_000)] * 2


def test_one_direction_only() -> None:
    result = trial(SimulatedSite(), variant(noise=0.0, capacity_pps=1e6), bidirectional=False, duration_ns=NS_PER_S)
    assert [d.received for d in result.directions] == [1_000_000]
    assert len(result.latency_hdr) == 1


def test_bursts_lose_frames() -> None:
    of = variant(burst_probability_per_s=10.0, burst_max_frames=50)
    lost = [sum(d.lost for d in trial(SimulatedSite(offset=n), of, rate_pps=10_000).directions) for n in range(50)]
    assert 0 < mean(lost) == pytest.approx(10 * 0.5 * 25.5, rel=0.3)
    assert all(d.received + d.lost == d.sent for d in trial(SimulatedSite(), of, rate_pps=10_000).directions)


def test_latency_grows_with_the_load() -> None:
    of = variant(capacity_pps=1e6, noise=0.0, latency_ns=5000)

    def median(rate_pps: int) -> int:
        encoded = trial(SimulatedSite(), of, rate_pps=rate_pps).latency_hdr[0]
        assert encoded is not None
        return int(HdrHistogram.decode(encoded).get_value_at_percentile(50))

    assert median(5_000) == pytest.approx(5000, rel=0.1)
    assert median(400_000) > 3 * median(5_000)


def test_ceilings_are_above_the_variant() -> None:
    site = SimulatedSite()
    of = variant(noise=0.0)
    found = []
    for role in (CellRole.SUBJECT, CellRole.REFERENCE, CellRole.LOOPBACK):
        deployment = site.deploy(of, "p2p", role)
        found.append(sum(d.sent for d in site.open_generator(deployment).run(TrafficRequest(10**8, 64)).directions))
        assert isinstance(site.look(deployment, Part.COUNTERS).counters, Unavailable) == (role is CellRole.LOOPBACK)
    assert found == sorted(found)


def test_everything_says_that_it_is_simulated() -> None:
    site = SimulatedSite()
    deployment = site.deploy(variant(), "p2p")
    generator = site.open_generator(deployment)
    assert deployment.simulated
    assert generator.hello().engine.name == "simulated"
    assert site.facts()["simulated"]
    assert site.rig(deployment)["simulated"]
    generator.close()
    with pytest.raises(GeneratorError):
        generator.run(TrafficRequest(1, 64))
    site.destroy(deployment)
    site.destroy(deployment)
    with pytest.raises(InternalError):
        site.verify(deployment)


def test_a_real_variant_is_refused() -> None:
    values = {"name": "b", "title": "b", "port_kind": "veth", "topologies": ("p2p",)}
    real = VariantModel.model_validate({**values, "options": {"dataplane": "linux-bridge"}})
    assert SimulatedSite().probe(real).readiness is Readiness.UNSUPPORTED
    with pytest.raises(UnsupportedError):
        SimulatedSite().deploy(real, "p2p")


@pytest.mark.parametrize(
    ("topology", "role", "capacity"),
    [
        ("p2p", CellRole.SUBJECT, 6e6),
        ("pvp", CellRole.SUBJECT, 3e6),
        ("pvvp", CellRole.SUBJECT, 2e6),
        ("pv5p", CellRole.SUBJECT, 1e6),
        ("pvpv", CellRole.SUBJECT, 3e6),
        ("pvp", CellRole.VNF, 2.5e6),
    ],
)
def test_a_path_is_as_fast_as_its_slowest_part(topology: str, role: CellRole, capacity: float) -> None:
    of = variant(capacity_pps=6e6, vnf_capacity_pps=2.5e6, noise=0.0)
    of = of.model_copy(update={"topologies": (topology,)})
    site = SimulatedSite()
    vnf = None if topology == "p2p" else choice()
    deployment = site.deploy(of, topology, role, vnf=vnf)
    result = site.open_generator(deployment).run(TrafficRequest(NS_PER_S, 64, stamp=False))
    bound = 2.5e6 * (2 if topology == "pvpv" else 1) if vnf else float("inf")
    assert sum(d.received for d in result.directions) == pytest.approx(min(capacity, bound), rel=1e-6)


def choice(kind: str = "process") -> VnfChoice:
    flavor = {"name": "default", "title": "d"}
    ports = ({"name": "in", "role": "in"}, {"name": "out", "role": "out"})
    spec = {"name": "vloop", "title": "v", "kinds": ("process",), "ports": ports, "forwarding": ("io",)}
    return VnfChoice.model_validate(
        {"label": f"{kind}-io", "vnf": spec, "kind": kind, "forwarding": "io", "flavor": flavor}
    )


def test_guests_and_vnfs_at_the_ends_are_not_simulated() -> None:
    for topology, kind in (("pvp", "vm"), ("v2v", "process")):
        with pytest.raises(UnsupportedError, match="not simulated"):
            SimulatedSite().deploy(variant(), topology, vnf=choice(kind))


def test_a_cold_system_is_slow_until_it_is_warm() -> None:
    site = SimulatedSite()
    of = variant(capacity_pps=1e6, noise=0.0, warm_up_s=1.0, cold_share=0.4)
    deployment = site.deploy(of, "p2p")
    generator = site.open_generator(deployment)
    found = [sum(d.sent for d in generator.run(TrafficRequest(NS_PER_S // 2, 64)).directions) for _ in range(3)]
    assert found == [300_000, 300_000, 500_000]
    half_warm = site.open_generator(site.deploy(of, "p2p")).run(TrafficRequest(2 * NS_PER_S, 64))
    assert sum(d.sent for d in half_warm.directions) == 1_600_000


def test_an_overload_leaves_it_slow_until_load_below_has_lasted() -> None:
    site = SimulatedSite()
    of = variant(capacity_pps=1e6, noise=0.0, hysteresis=0.1, recovery_s=1.0)
    generator = site.open_generator(site.deploy(of, "p2p"))

    def unsent(rate_pps: int) -> int:
        request = TrafficRequest(NS_PER_S // 2, 64, rate_pps=rate_pps)
        return sum(d.unsent for d in generator.run(request).directions)

    assert unsent(475_000) == 0, "below capacity"
    assert unsent(550_000) == 50_000, "an overload, of the whole capacity still"
    assert unsent(475_000) == 25_000, "the same load is too much now"
    assert [unsent(440_000), unsent(440_000)] == [0, 0]
    assert unsent(475_000) == 0, "recovered"
