"""The last screen: at most 40 lines of 100 columns, warnings once, the answer, and no word broken."""

import dataclasses
import re
from collections.abc import Sequence

import pytest

from nfvbed.compare.comparison import Comparison, ComparisonOptions, compare
from nfvbed.compare.verdict import Rules
from nfvbed.records import QualityWarning, Status
from nfvbed.report.terminal.screen import HEIGHT, ScreenContext, screen
from tests.sample_many import many_variants
from tests.sample_records import BRIDGE, CEILINGS, CHAIN, OVS, PVP, SIMULATED, Scenario, build
from tests.sample_results import with_tests

PAGE = "results/reports/01940000-0000-7000-8000-000000000001/index.html"
ABOUT = ScreenContext(
    title="Two data planes on this machine, port to port and through a VNF",
    machines=("AMD EPYC 7B13, 2 cores, virtual machine, 24 GiB, Linux 6.18.0",),
    page=PAGE,
)
DEMO = Scenario(
    systems=(BRIDGE, OVS, *CEILINGS, *PVP),
    rounds=8,
    common_load=True,
    warnings=(("", QualityWarning.CPU_STOLEN), ("pvp", QualityWarning.CORES_SHARED)),
)
SURVEY = ComparisonOptions(baseline="best", rules=Rules(needed=3, purpose="survey"))


def demo(**changes: object) -> Comparison:
    return compare([build(dataclasses.replace(DEMO, **changes))], ComparisonOptions(baseline="linux-bridge"))


def shown(comparison: Comparison, width: int = 100, about: ScreenContext = ABOUT) -> list[str]:
    return [line.plain.rstrip() for line in screen(comparison, about, width)]


@pytest.fixture(scope="module", name="pair")
def _pair() -> Comparison:
    return demo()


@pytest.fixture(scope="module", name="survey")
def _survey() -> Comparison:
    return compare([many_variants(rounds=3)], SURVEY)


def broken(lines: Sequence[str], names: set[str]) -> list[str]:
    """Return words at the end of a line that are the beginning of a name: what is left of one that was broken."""
    ends = [line.split()[-1] for line in lines if line.split()]
    return [end for end in ends if len(end) > 3 and end not in names and any(name.startswith(end) for name in names)]


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("kind", ["pair", "survey"])
def test_it_fits_and_breaks_no_word(request: pytest.FixtureRequest, kind: str, width: int) -> None:
    comparison = request.getfixturevalue(kind)
    lines = shown(comparison, width)
    assert len(lines) <= HEIGHT
    assert [line for line in lines if len(line) > width and PAGE not in line] == []
    assert broken(lines, {row.variant for row in comparison.rows} | {PAGE}) == []


def test_one_line_a_row_with_all_that_was_asked_for(pair: Comparison) -> None:
    lines = shown(pair)
    assert len([line for line in lines if re.match("  (linux-bridge|ovs-dpdk) ", line)]) == len(pair.rows) == 8
    at = next(number for number, line in enumerate(lines) if line.startswith("p2p, 64 B"))
    assert "latency and missing frames at 0.490 Mpps" in lines[at]
    assert re.fullmatch(
        r"  ovs-dpdk +11\.\d\d +\d+\.\d+–\d+\.\d+ +×\d+\.\d +\d+\.\d+–\d+\.\d+ +▲ higher +\d+\.\d +\d+\.\d +0 +BC",
        lines[at + 2],
    )


def test_the_host_the_answer_and_the_page_are_reported(pair: Comparison) -> None:
    lines = shown(pair)
    assert lines[0] == ABOUT.title
    assert lines[1].startswith("AMD EPYC 7B13") and "placement of cores changed 0." in " ".join(lines[1:3])
    text = " ".join(lines)
    assert "ovs-dpdk is clearly ahead at p2p 64 B" in text
    assert text.endswith(f"Details: nfvbed compare --details Page: {PAGE}")


def test_each_warning_is_explained_once_with_the_rows_that_have_it(pair: Comparison) -> None:
    text = " ".join(" ".join(shown(pair)).split())
    assert text.count("cpu-stolen:") == text.count("cores-shared:") == 1
    assert "B cpu-stolen: measuring threads had to wait for their cores (all rows)" in text
    assert "cores-shared: several roles shared a core (pvp native, pvp process-io)" in text


def test_reasons_of_verdicts_are_numbered_and_reported_once() -> None:
    text = " ".join(" ".join(shown(demo(rounds=4))).split())
    assert "1 undecided: 4 of 8 pairs (ovs-dpdk)" in text
    assert text.count("4 of 8 pairs") == 1


def test_a_row_that_failed_says_why_on_its_line() -> None:
    died = (("linux-bridge/p2p/1518", Status.FAILED, "the switch ended [bold]early[/bold]"),)
    assert "  linux-bridge  failed: the switch ended [bold]early[/bold]" in shown(demo(blocked=died))


def test_a_survey_has_the_first_of_each_path_and_counts_the_rest(survey: Comparison) -> None:
    lines = shown(survey)
    points = len({row.point for row in survey.rows if row.mrr is not None})
    assert len([line for line in lines if line.startswith("  p")]) == points == 8
    assert len([line for line in lines if re.match(r"    \d+ more  ", line)]) == points
    text = " ".join(" ".join(lines).split())
    assert "Highest rates, at every traffic point measured: ovs-dpdk-memif." in text
    assert "unsupported: lagopus" in text
    assert "higher" not in text and "undecided" not in text


def test_overlapping_ranges_are_named_with_the_command_that_decides() -> None:
    twin = dataclasses.replace(OVS, name="twin")
    data = build(Scenario(systems=(OVS, twin), rounds=3, far_rounds=(), changing=()))
    lines = shown(compare([data], SURVEY))
    assert any(line.endswith("overlaps") or " overlaps " in line for line in lines)
    at = lines.index("A survey decides nothing. This would:")
    assert lines[at + 1].startswith("  nfvbed run demo --variant ")
    command = " ".join(line.strip().removesuffix("\\").strip() for line in lines[at + 1 : -2])
    assert "--variant twin" in command and "--set purpose=compare" in command


def test_warnings_of_many_variants_are_reported_once() -> None:
    data = many_variants(rounds=3)
    trials = tuple(t.model_copy(update={"warnings": (*t.warnings, QualityWarning.UNSENT)}) for t in data.trials)
    text = " ".join(shown(compare([dataclasses.replace(data, trials=trials)], SURVEY)))
    assert text.count("unsent") == 1


def test_other_tests_have_lines_and_what_does_not_fit_is_counted() -> None:
    data = with_tests(build(Scenario(far_rounds=(), changing=())))
    lines = shown(compare([data], ComparisonOptions(baseline="linux-bridge")))
    assert len(lines) <= HEIGHT
    assert "Throughput searches" in lines
    assert any(re.fullmatch(r"  \d+ more lines: nfvbed compare --details", line) for line in lines)


def test_a_simulation_says_so_first_and_has_no_letter_for_it() -> None:
    lines = shown(compare([build(Scenario(systems=(SIMULATED,), rounds=6, far_rounds=()))]))
    assert lines[0].strip() == "SIMULATED - NOT A MEASUREMENT"
    assert not any("simulated:" in line for line in lines)


def test_many_traffic_points_are_cut_to_the_screen() -> None:
    systems = [
        dataclasses.replace(OVS, name=name, topology=f"pv{length}p", vnf=vnf, vnf_resolved="process-io")
        for length in range(2, 9)
        for vnf in ("native", "process-io")
        for name in ("one", "two")
    ]
    lines = shown(compare([build(Scenario(systems=tuple(systems), rounds=2, far_rounds=(), changing=()))]))
    assert len(lines) <= HEIGHT
    assert any(re.fullmatch(r"\d+ more traffic points: nfvbed compare --details", line) for line in lines)


def test_chains_of_one_variant_are_answered() -> None:
    data = build(Scenario(systems=CHAIN, far_rounds=(), changing=()))
    assert any("holds half of the one-VNF rate" in line for line in shown(compare([data])))


def test_several_runs_are_distinguished() -> None:
    second = build(Scenario(run="01940000-0000-7000-8000-000000000002", seed=2))
    lines = shown(compare([build(), second], ComparisonOptions(baseline="linux-bridge")))
    assert any("  00000002  " in line for line in lines)
