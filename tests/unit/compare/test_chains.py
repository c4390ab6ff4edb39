"""The longest chain that holds half of the one-VNF rate, decided by intervals."""

import dataclasses

import pytest

from nfvbed.compare.chains import Chain, ShareJudgement, ShareReference, ShareRequirement, find_chains
from nfvbed.compare.comparison import ComparisonOptions, compare
from nfvbed.compare.rows.summary import CellSummary, Limit
from nfvbed.records import QualityWarning
from tests.sample_records import CEILINGS, CHAIN, OVS, Scenario, System, build, with_vnf


def rows_of(*systems: System, rounds: int = 9) -> tuple[CellSummary, ...]:
    return compare([build(Scenario(systems=systems, far_rounds=(), changing=(), rounds=rounds))]).rows


def chain_of(*rates: float, noise: float = 0.012) -> Chain:
    systems = (
        dataclasses.replace(with_vnf(OVS, "process-io", "process-io", (rate, rate), f"pv{length}p"), noise=noise)
        for length, rate in enumerate(rates, start=1)
    )
    (chain,) = find_chains(rows_of(*systems))
    return chain


def test_the_longest_chain_that_holds_half():
    chain = chain_of(4e6, 3e6, 2.4e6, 1.6e6)
    assert [link.length for link in chain.links] == [1, 2, 3, 4]
    assert [link.holding for link in chain.links] == [ShareJudgement.HOLDS] * 3 + [ShareJudgement.DOES_NOT]
    assert (chain.longest, chain.undecided, chain.exhausted) == (3, (), True)
    assert chain.links[1].ratio == pytest.approx(0.75, rel=0.03)


def chain_and_p2p(share: float, *rates: float) -> tuple[Chain, ...]:
    direct = dataclasses.replace(OVS, capacity={64: (5e6, 5e6)})
    chained = [with_vnf(OVS, "n", "n", (rate, rate), f"pv{length}p") for length, rate in enumerate(rates, start=1)]
    return find_chains(rows_of(direct, *chained), ShareRequirement(share=share, of=ShareReference.P2P))


def test_another_share_of_the_one_vnf_rate():
    rows = rows_of(*(with_vnf(OVS, "n", "n", (rate, rate), f"pv{n}p") for n, rate in enumerate((4e6, 3e6, 2.4e6), 1)))
    (chain,) = find_chains(rows, ShareRequirement(share=0.7))
    assert (chain.longest, chain.exhausted, chain.hold.share) == (2, True, 0.7)
    (chain,) = find_chains(rows, ShareRequirement(share=0.9))
    assert (chain.longest, chain.exhausted) == (1, True)


def test_a_share_of_p2p():
    (chain,) = chain_and_p2p(0.5, 4e6, 3e6, 2e6)
    assert [link.holding for link in chain.links] == [
        ShareJudgement.HOLDS,
        ShareJudgement.HOLDS,
        ShareJudgement.DOES_NOT,
    ]
    assert chain.longest == 2
    assert chain.links[0].ratio == pytest.approx(0.8, rel=0.03)
    (chain,) = chain_and_p2p(0.9, 4e6, 3e6)
    assert (chain.longest, chain.exhausted) == (0, True)
    assert find_chains(rows_of(*CHAIN), ShareRequirement(of=ShareReference.P2P)) == (), "p2p was not measured"


def test_a_ratio_of_about_a_half_is_undecided():
    chain = chain_of(4e6, 3e6, 2e6, 1.6e6, noise=0.05)
    assert chain.links[2].holding is ShareJudgement.UNDECIDED
    assert "holds a half" in chain.links[2].reason
    assert (chain.longest, chain.undecided) == (2, (3,))


def test_where_all_hold_a_longer_one_may_too():
    chain = chain_of(4e6, 3.5e6, 3e6)
    assert (chain.longest, chain.exhausted) == (3, False)


def test_pvp_and_pvvp_are_chains_as_well():
    rows = rows_of(with_vnf(OVS, "n", "n", (4e6, 4e6)), with_vnf(OVS, "n", "n", (3e6, 3e6), "pvvp"))
    assert [link.length for link in find_chains(rows)[0].links] == [1, 2]


def test_a_single_trial_decides_nothing():
    (chain,) = find_chains(rows_of(*CHAIN, rounds=1))
    assert chain.links[1].holding is ShareJudgement.UNDECIDED
    assert "too few" in chain.links[1].reason


def limited(row: CellSummary) -> CellSummary:
    return row.model_copy(update={"limits": (Limit(kind=QualityWarning.GENERATOR_LIMITED, detail=""),)})


def test_a_rate_that_the_generator_set_decides_one_way_only():
    rows = rows_of(*CHAIN)
    (chain,) = find_chains((limited(rows[0]), *rows[1:]))
    assert chain.links[1].holding is ShareJudgement.UNDECIDED
    (chain,) = find_chains((*rows[:3], limited(rows[3])))
    assert chain.links[1].holding is ShareJudgement.HOLDS
    assert chain.links[3].holding is ShareJudgement.UNDECIDED


def test_what_is_no_chain_gives_none():
    assert compare([build(Scenario(systems=(OVS, *CEILINGS)))]).chains == ()
    assert find_chains(rows_of(CHAIN[0])) == ()
    assert find_chains(rows_of(*CHAIN[1:])) == (), "without its first length"
    parallel = with_vnf(OVS, "process-io", "process-io", (4e6, 4e6), "pvpv")
    assert find_chains(rows_of(CHAIN[0], parallel)) == ()
    emulated = [dataclasses.replace(system, emulated=True) for system in CHAIN]
    assert find_chains(rows_of(*emulated)) == ()


def test_the_comparison_has_the_chains():
    comparison = compare([build(Scenario(systems=CHAIN, far_rounds=(), changing=()))])
    assert [(chain.variant, chain.vnf, chain.frame_size) for chain in comparison.chains] == [
        ("ovs-dpdk", "process-io", 64)
    ]


def test_a_comparison_asks_for_another_share():
    data = build(Scenario(systems=CHAIN, far_rounds=(), changing=()))
    (half,) = compare([data]).chains
    (most,) = compare([data], ComparisonOptions(hold=ShareRequirement(share=0.9))).chains
    assert most.hold == ShareRequirement(share=0.9)
    assert most.longest < half.longest
    assert most.whole_pps == half.whole_pps == most.links[0].rate_pps
