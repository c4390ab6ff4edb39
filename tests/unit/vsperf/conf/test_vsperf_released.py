"""Every name of every release of VSPERF is known, with what becomes of it; what nfvbed writes are VSPERF's names."""

from pathlib import Path

import pytest

from nfvbed.vsperf.conf import TEST_IDS, read_settings, select
from nfvbed.vsperf.conf.columns import CONDITIONS, COUNTS, TRAFFIC, burst_counts
from nfvbed.vsperf.conf.guest import _LOOPBACKS, _VNIC_OF, _WITHOUT_VNIC
from nfvbed.vsperf.conf.names import TRAFFIC_KEYS, is_setting
from nfvbed.vsperf.conf.old import PARAMETERS, TRAFFIC_KEYWORDS, UNREAD
from nfvbed.vsperf.conf.released import default_of, release_of, releases, same
from nfvbed.vsperf.conf.switch import NONE
from nfvbed.vsperf.conf.testcase import KEYWORDS, LISTS
from nfvbed.vsperf.conf.testids import KIND_OF, SWITCH_OF, topology_of
from nfvbed.vsperf.conf.treatment import SETTINGS, Treatment
from tests.unit.vsperf.conf.conf_files import PROJECT
from tests.unit.vsperf.recorded import NAMES, NEWEST, every, recorded

EVERY = pytest.mark.parametrize("release", NAMES)


@EVERY
def test_every_name_of_a_release_has_a_treatment(release: str):
    assert sorted(recorded(release).settings - SETTINGS.keys()) == []
    assert [name for name in recorded(release)["helpers"] if is_setting(name)] == []


def test_every_treatment_is_of_a_setting_and_has_a_reason():
    names = {name for release in every() for name in release.settings}
    assert SETTINGS.keys() - names - set(LISTS) == set()
    assert [name for name, setting in SETTINGS.items() if not setting.reason] == []
    assert {setting.treatment for setting in SETTINGS.values()} == set(Treatment)


@EVERY
def test_the_defaults_are_those_of_the_recorded_release(release: str):
    kept, names = releases()[release], set(recorded(release)["conf"])
    assert kept.commit == recorded(release)["commit"]
    assert set(kept.defaults) == names
    assert release_of(names) is kept
    # A few lines of a copy are gone, and some of the user's own are there.
    assert release_of({*sorted(names)[5:], "TRAFFICGEN_TREX_MAX_REPEAT"}).name == release


def test_a_file_of_the_users_own_is_held_against_the_newest():
    assert release_of({"TRAFFICGEN", "WHITELIST_NICS"}).name == NEWEST == NAMES[-1]
    assert default_of("GUEST_MEMORY", releases()["brahmaputra"]) == ["4096", "4096"]
    assert default_of("VSWITCH_MULTI_QUEUES", releases()[NEWEST]) == 0, "of the newest that has it"


def stock(folder: Path, release: str) -> Path:
    """Write a release's settings as they are recorded, in one file of its form."""
    tests = [{"Name": name, **test} for name, test in recorded(release)["tests"].items()]
    values = {**releases()[release].defaults, "PERFORMANCE_TESTS": tests}
    lines = [f"{name} = {value!r}".replace("$ROOT_DIR", "/vsperf") for name, value in values.items()]
    (folder / "00_common.conf").write_text("\n".join(lines) + "\n")
    return folder


@EVERY
def test_the_settings_of_a_release_are_read_and_none_of_its_defaults_is_missing(tmp_path: Path, release: str):
    settings = read_settings([stock(tmp_path, release)])
    assert settings.release.name == release
    accepted = set()
    for case in settings.tests:
        selection = select(settings, case.name, PROJECT)
        given = {name for name in settings.places if f"({name} = " in " ".join(selection.missing)}
        # A load beside the test is the test's own, and so is the part of the line rate.
        assert given - {"LOADGEN"} == set(), selection.missing
        accepted |= set() if selection.missing else {case.name}
    assert accepted >= {"phy2phy_tput", "pvp_tput", "pvvp_tput", "back2back", "phy2phy_scalability"}


@EVERY
def test_old_parameters_and_keywords_are_known(release: str):
    assert set(recorded(release)["test_parameters"]) <= PARAMETERS
    assert set(recorded(release)["keywords"]) <= KEYWORDS
    assert all(key in TRAFFIC_KEYS[part] for part, keys in recorded(release).traffic.items() for key in keys)


def test_no_keyword_and_parameter_is_known_that_no_release_has():
    assert {key for release in every() for key in release["keywords"]} == KEYWORDS
    assert {name for release in every() for name in release["test_parameters"]} == PARAMETERS - UNREAD
    assert set(releases()["brahmaputra"].defaults["TEST_PARAMS"]) == UNREAD
    traffic = {(part, key) for release in every() for part, keys in release.traffic.items() for key in keys}
    of_frames = {("l3", "packetsize")}
    assert {(part, key) for part, keys in TRAFFIC_KEYS.items() for key in keys} == traffic | of_frames
    integration = [name for name in SETTINGS if name.endswith("_FRAME_L3")]
    assert integration, "TRAFFIC['l3']['packetsize'] is in the frames of tunnels alone"
    assert set(TRAFFIC_KEYWORDS.values()) <= TRAFFIC_KEYS[""]


def union(key: str) -> set[str]:
    return {value for release in every() for value in release[key]}


def test_values_that_are_names_are_vsperfs():
    classes = {kind: {name for one in every() for name in one.classes(kind)} for kind in ("VSWITCH", "VNF")}
    assert set(SWITCH_OF) == classes["VSWITCH"]
    assert {*_VNIC_OF, *_WITHOUT_VNIC} == classes["VNF"]
    assert NONE in releases()[NEWEST].defaults["PATHS"]["vswitch"]
    assert set(_LOOPBACKS) == union("guest_loopbacks")
    assert set(KIND_OF) == set(recorded(NEWEST)["traffic_types"])
    assert {name for name in union("deployments") if topology_of(name)} == {"p2p", "pvp", "pvvp", "pvpv", "ptunp"}


@pytest.mark.parametrize("names", [TRAFFIC, COUNTS, CONDITIONS, tuple(burst_counts((), 64))])
def test_columns_are_vsperfs(names: tuple[str, ...]):
    assert [name for name in names if name not in recorded(NEWEST)["columns"]] == []


UNSAID = {"Deployment", "Parameters", "Collector", "Tunnel Type"}
"""Keywords of tests that an ID has elsewhere, or that change nothing of a test that is run."""


def test_the_ids_that_are_known_without_files_are_vsperfs_own():
    tests = recorded(NEWEST)["tests"] | recorded(NEWEST)["integration_tests"]
    assert TEST_IDS.keys() <= tests.keys()
    with_settings = {name for name, test in tests.items() if "VSWITCH_PMD_CPU_MASK" in test.get("Parameters", {})}
    assert tests.keys() - TEST_IDS.keys() == with_settings
    for name, native in TEST_IDS.items():
        test = tests[name]
        traffic = test.get("Parameters", {}).get("TRAFFIC", {})
        assert native.deployment == test["Deployment"].lower()
        assert native.traffic_type == traffic.get("traffic_type", "rfc2544_throughput")
        assert native.multistream == traffic.get("multistream", 0)
        assert native.bidirectional == (traffic.get("bidir", "True") == "True")
        assert {keyword: dict(native.keywords).get(keyword) for keyword in test.keys() - UNSAID - {"Load"}} == {
            keyword: value for keyword, value in test.items() if keyword not in UNSAID | {"Load"}
        }
        assert ("Load" in dict(native.keywords)) == ("Load" in test)


def test_values_mean_the_same_to_vsperf_as_text_and_as_number():
    assert same(("64", 2, True), [64, "2", "True"])
    assert same({"a": 30000.0}, {"a": "30000"})
    assert not same([1], [1, 1])
    assert not same("0", False)
