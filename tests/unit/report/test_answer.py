"""The answer claims only what was judged."""

import dataclasses
import re
import shlex

import click

from nfvbed.cli.overrides import collect, override_options
from nfvbed.compare.comparison import ComparisonOptions, compare
from nfvbed.compare.verdict import Rules
from nfvbed.dataplanes.catalogue import open_project
from nfvbed.records import Status
from nfvbed.report.answer import Answer, answer
from tests.sample_records import BRIDGE, CEILINGS, CHAIN, OVS, PVP, SIMULATED, Scenario, build, with_vnf


def said(*systems: object, **more: object) -> Answer:
    return answer(compare([build(Scenario(systems=systems, **more))], ComparisonOptions(baseline=systems[0].name)))


def test_a_clear_leader_is_named_with_its_lead():
    found = said(BRIDGE, OVS)
    assert found.headline.startswith("ovs-dpdk forwards most, at every traffic point measured: ")
    assert found.headline.endswith("the rate of linux-bridge.")
    assert "whole systems compared; 97.6 % interval" in found.sentences[0]


def test_a_limited_leader_is_at_least():
    fast = dataclasses.replace(OVS, capacity={64: (15.5e6, 8.0e6)}, noise=0.002)
    found = said(BRIDGE, fast, *CEILINGS, far_rounds=(), changing=())
    assert "at least" in found.headline
    assert "forwards at least 15." in found.sentences[0]


def test_twins_have_no_winner():
    found = said(OVS, dataclasses.replace(OVS, name="twin"), rounds=12)
    assert found.headline == "No data plane is clearly ahead."
    assert all("the same as" in text for text in found.sentences)


def test_a_leader_at_some_points_is_named_with_them():
    other = dataclasses.replace(OVS, name="other", capacity={64: (9e6, 6e6), 1518: (5.7e6, 3.1e6)})
    found = said(other, OVS)
    assert found.headline.startswith("ovs-dpdk is clearly ahead at 64 B; not decided: p2p, 1518 B.")


def test_leaders_that_change_with_the_size_are_no_single_winner():
    other = dataclasses.replace(OVS, name="other", capacity={64: (9e6, 6e6), 1518: (9.7e6, 8.1e6)})
    found = said(other, OVS)
    assert found.headline.startswith("No single winner: ovs-dpdk at 64 B, other at 1518 B clearly ahead; it depends")


def test_paths_are_distinguished_and_their_ratios_never_joined():
    found = said(BRIDGE, OVS, *PVP[:4], far_rounds=(), changing=())
    assert found.headline.startswith("ovs-dpdk forwards most, at every traffic point measured: against linux-bridge ")
    spans = r" \d\.\d to 1\d\.\d times in p2p, 6\.\d times in pvp native, 10\.\d times in pvp process-io\.$"
    assert re.search(spans, found.headline)
    native, same = found.sentences[2:]
    assert native.startswith("pvp native, 64 B: ") and "whole systems compared" in native
    assert same.startswith("pvp process-io, 64 B: ") and "through the same VNF" in same


def test_paths_of_one_variant_alone_do_not_blur_the_answer():
    assert "every traffic point measured" in said(BRIDGE, OVS, *CHAIN, far_rounds=(), changing=()).headline


def test_chains_of_one_variant_are_the_answer():
    found = said(*CHAIN, far_rounds=(), changing=())
    assert re.fullmatch(
        r"ovs-dpdk holds half of the one-VNF rate through a chain of [23] VNFs \(.*\)\.", found.headline
    )


def test_rates_of_emulated_guests_are_no_answer():
    guests = (
        dataclasses.replace(with_vnf(system, "vm-io", "vm-io", (3e4, 3e4)), emulated=True) for system in (BRIDGE, OVS)
    )
    found = said(*guests)
    assert found.headline.startswith("No rate can be given") and found.points == ()


def surveyed(*systems: object) -> Answer:
    data = build(Scenario(systems=systems, rounds=5, far_rounds=(), changing=()))
    return answer(compare([data], ComparisonOptions(rules=Rules(purpose="survey"))))


def test_a_survey_is_answered_with_its_order_and_the_command_that_would_decide():
    close = dataclasses.replace(OVS, name="vpp", noise=0.1)
    found = surveyed(BRIDGE, dataclasses.replace(close, name="ovs-dpdk"), close)
    assert found.headline.startswith("Highest rates: p2p ")
    assert "(ranges overlap: " in found.headline
    first = found.points[0].row.variant
    other = {"vpp": "ovs-dpdk", "ovs-dpdk": "vpp"}[first]
    assert found.decide[0].startswith(f"nfvbed run demo --variant {first} --variant {other} --topology p2p")
    assert "ranges overlap: " in found.sentences[0]
    apart = surveyed(BRIDGE, OVS)
    assert apart.headline == "Highest rates, at every traffic point measured: ovs-dpdk."
    assert apart.decide == ("", "")


def test_the_command_of_a_survey_is_one_that_works():
    """Read it as the command line does, on the experiment that surveys all there is."""
    close = dataclasses.replace(OVS, name="vpp", noise=0.1)
    words = shlex.split(
        next(command for command in surveyed(dataclasses.replace(close, name="ovs-dpdk"), close).decide if command)
    )
    options = click.Command("run", params=override_options(click.pass_context(lambda _: None)).__click_params__)
    chosen = options.make_context("run", words[3:]).params
    experiment = open_project().load_study("demo-all", collect(chosen)).experiment
    assert (experiment.purpose, set(experiment.variants)) == ("compare", {"ovs-dpdk", "vpp"})
    assert (experiment.laid_out, experiment.repetitions.max_rounds) == (("p2p",), 12)


def test_one_data_plane_is_no_comparison():
    assert said(OVS).headline == "No comparison: one data plane."
    assert said(OVS, SIMULATED).headline == "No comparison: no two data planes that can be compared."


def test_nothing_measured_is_said():
    stopped = tuple((f"ovs-dpdk/p2p/{size}", Status.FAILED, "died") for size in (64, 1518))
    assert said(OVS, blocked=stopped).headline == "Nothing was measured."
