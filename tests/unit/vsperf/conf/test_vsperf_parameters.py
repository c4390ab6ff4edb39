"""VSPERF's --test-params, and loads in percent of a declared line rate."""

from pathlib import Path
from typing import Any

import pytest

from nfvbed.errors import ConfigurationError
from nfvbed.vsperf.conf import read_settings, select, study_of, with_parameters
from nfvbed.vsperf.conf.parameters import parse_parameters
from tests.unit.vsperf.conf.conf_files import PROJECT, reported, settings_of

NOTHING = read_settings([])


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("TRAFFICGEN_DURATION=10", {"TRAFFICGEN_DURATION": 10}),
        (
            "TRAFFICGEN_PKT_SIZES=(64,128);TRAFFICGEN_DURATION = 30 ; GUEST_LOOPBACK=['l2fwd']",
            {"TRAFFICGEN_PKT_SIZES": (64, 128), "TRAFFICGEN_DURATION": 30, "GUEST_LOOPBACK": ["l2fwd"]},
        ),
        ("VSWITCH=OvsVanilla", {"VSWITCH": "OvsVanilla"}),
        ("TRAFFICGEN_TREX_FORCE_PORT_SPEED", {"TRAFFICGEN_TREX_FORCE_PORT_SPEED": True}),
        ("TRAFFIC={'l3': {'proto': 'udp'}}", {"TRAFFIC": {"l3": {"proto": "udp"}}}),
        ("['TRAFFICGEN_DURATION=10;TRAFFICGEN_PKT_SIZES=(128,)']", {"TRAFFICGEN_DURATION": 10, **{}}),
        ("", {}),
        (" ; ", {}),
    ],
)
def test_texts_are_read_as_vsperf_reads_them(text: str, values: dict[str, Any]):
    found = parse_parameters(text)
    assert {name: found[name] for name in values} == values


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("TRAFFICGEN_DURATION=__import__('os').getpid()", ("TRAFFICGEN_DURATION is no literal", "--test-params")),
        ("TRAFFICGEN_DURATION=1+", ("no literal",)),
        ("=3", ("without a name",)),
        ("['A=1', 'B=2']", ("for several tests", "2 texts")),
        ("[1]", ("no list of texts",)),
        ("[", ("no literal",)),
        ("x" * 100_001, ("too long",)),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_no_text_of_parameters_is_reported(text: str, parts: tuple[str, ...]):
    with pytest.raises(ConfigurationError) as caught:
        parse_parameters(text)
    reported(caught.value, *parts)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("TRAFFICGEN_PKT_SIZE=(64,)", ("unknown parameter", "did you mean 'TRAFFICGEN_PKT_SIZES'")),
        ("TRAFFIC={'frame_rat': 3}", ("unknown key 'frame_rat'", "did you mean 'frame_rate'")),
        ("TEST_PARAMS={}", ("unknown parameter 'TEST_PARAMS'",)),
    ],
)
def test_unknown_names_are_reported(text: str, parts: tuple[str, ...]):
    with pytest.raises(ConfigurationError) as caught:
        with_parameters(NOTHING, text)
    reported(caught.value, *parts)


def test_they_weigh_more_than_files_and_less_than_the_tests_own(tmp_path: Path):
    files = settings_of(tmp_path, n03_t="TRAFFICGEN_DURATION = 5\nTEST_PARAMS = {'TRAFFICGEN_PKT_SIZES': (512,)}\n")
    settings = with_parameters(files, "TRAFFICGEN_DURATION=7; TRAFFIC={'bidir': 'False', 'frame_rate': 10}")
    experiment = select(settings, "phy2phy_cont", PROJECT).experiment
    assert (experiment["trials"]["mrr_duration_s"], experiment["frame_sizes"]) == (7, [512])
    assert experiment["traffic"]["bidirectional"] is False
    assert "TRAFFICGEN_DURATION" not in files.values["TEST_PARAMS"], "what was read stays as it is"
    own = with_parameters(NOTHING, "TRAFFIC={'multistream': 5}")
    assert select(own, "phy2phy_scalability_cont", PROJECT).experiment["traffic"]["flows"] == 8000


SPEED = "TRAFFICGEN_TREX_FORCE_PORT_SPEED; TRAFFICGEN_TREX_PORT_SPEED=10000; TRAFFICGEN_PKT_SIZES=(64,)"


@pytest.mark.parametrize(("bidir", "load_pps"), [("True", 14_880_952), ("False", 7_440_476)])
def test_a_declared_line_rate_gives_a_load(bidir: str, load_pps: int):
    text = f"{SPEED}; TRAFFIC={{'frame_rate': 50, 'bidir': '{bidir}'}}; TRAFFICGEN_DURATION=3"
    selection = select(with_parameters(NOTHING, text), "phy2phy_cont", PROJECT)
    assert selection.missing == ()
    experiment = study_of(selection, PROJECT).experiment
    (test,) = experiment.tests
    # RFC 2544 appendix B: 14,880,952 frames/s of 64 bytes at 10 Gbit/s, one way.
    assert (test.kind, test.load_pps, test.duration_s) == ("continuous", load_pps, 3)
    assert any(f"{load_pps:,} frames/s" in note.text for note in selection.notes)


@pytest.mark.parametrize("test", ["phy2phy_cont", "phy2phy_tput"])
def test_a_declared_line_rate_bounds_no_test_at_full_load(test: str):
    selection = select(with_parameters(NOTHING, SPEED), test, PROJECT)
    (note,) = [note for note in selection.notes if note.name == "TRAFFICGEN_TREX_FORCE_PORT_SPEED"]
    assert (note.kind, selection.missing) == ("differs", ())


def test_a_load_without_a_line_rate_or_of_several_sizes_is_missing():
    part = "TRAFFIC={'frame_rate': 50}"
    settings = with_parameters(NOTHING, part)
    assert "TRAFFICGEN_TREX_PORT_SPEED" in select(settings, "phy2phy_cont", PROJECT).missing[0]
    several = with_parameters(NOTHING, f"{SPEED}; TRAFFICGEN_PKT_SIZES=(64,128); {part}")
    assert "each of 2 frame sizes" in select(several, "phy2phy_cont", PROJECT).missing[0]
    wrong = with_parameters(NOTHING, f"{SPEED}; TRAFFICGEN_TREX_PORT_SPEED=fast; {part}")
    with pytest.raises(ConfigurationError, match="TRAFFICGEN_TREX_PORT_SPEED"):
        select(wrong, "phy2phy_cont", PROJECT)


@pytest.mark.parametrize("test", ["back2back", "phy2phy_caching", "phy2phy_learning"])
def test_tests_with_a_kind_of_their_own_are_that_kind_alone(test: str):
    selection = select(NOTHING, test, PROJECT)
    assert (selection.experiment["tests"], selection.missing) == ([{"kind": selection.kind.value}], ())
    assert selection.experiment["repetitions"]["needed"] == 1
    lossy = with_parameters(NOTHING, "TRAFFICGEN_LOSSRATE=1")
    assert "without loss" in select(lossy, test, PROJECT).missing[0]
