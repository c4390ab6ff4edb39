"""Every bad input is reported with file, line, key, what was seen and what would be right; exit code 10."""

import math
import re
import shutil
from datetime import date
from pathlib import Path

import pytest
from pydantic import BaseModel, Field, FiniteFloat

from nfvbed.dataplanes.catalogue import open_project
from nfvbed.errors import ConfigurationError
from nfvbed.spec.document import Document
from nfvbed.spec.loader import Project
from nfvbed.spec.validate import build
from tests.refusals import misconfigured

ROOT = Path(__file__).parents[3]

VARIANT = """\
name: ovs
title: Open vSwitch
summary: Of a test
topologies: [p2p]
options:
  dataplane: ovs-dpdk
  pmd_cores: 1
"""
EXPERIMENT = """\
name: trial
title: A trial
variants: [linux-bridge, ovs-dpdk]
baseline: linux-bridge
topologies: [p2p]
frame_sizes: [64, 1518]
repetitions:
  needed: 5
  max_rounds: 12
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy", ignore=shutil.ignore_patterns("playbooks", "roles"))
    (tmp_path / "vsperf-conf" / "experiments").mkdir(parents=True)
    return open_project(tmp_path)


def refused_variant(project: Project, text: str) -> ConfigurationError:
    (project.variants_folder / "ovs.yml").write_text(text)
    return misconfigured(lambda: project.load_variant("ovs"))


def refused_experiment(project: Project, text: str) -> ConfigurationError:
    (project.experiments_folder / "trial.yml").write_text(text)
    return misconfigured(lambda: project.load_study("trial"))


# what is changed, line and key, what was seen, what would be right
VARIANT_CASES = [
    ("pmd_cores:", "pmd_core:", "ovs.yml:7 options.pmd_core", "'pmd_core'", "did you mean 'pmd_cores'?"),
    ("title:", "titel:", "ovs.yml:2 titel", "'titel'", "did you mean 'title'?"),
    ("pmd_cores: 1", "pmd_cores: 100", "ovs.yml:7 options.pmd_cores", "100", "at least 1 and at most 64"),
    ("pmd_cores: 1", "pmd_cores: '1'", "ovs.yml:7 options.pmd_cores", '"1"', "a whole number"),
    ("pmd_cores: 1", "pmd_cores: 1.5", "ovs.yml:7 options.pmd_cores", "1.5", "a whole number"),
    ("pmd_cores: 1", "emc: 1", "ovs.yml:7 options.emc", "1", "true or false"),
    (
        "pmd_cores: 1",
        "flows: normall",
        "ovs.yml:7 options.flows",
        '"normall"',
        "'port-to-port', 'normal' or 'push-vlan'",
    ),
    ("dataplane: ovs-dpdk", "dataplane: ovs", "ovs.yml:6 options.dataplane", '"ovs"', "'ovs-dpdk'"),
    ("  dataplane: ovs-dpdk\n", "", "ovs.yml:5 options.dataplane", "no such key", "add `dataplane: ...`"),
    ("summary: Of a test", "port_kind: vhost-user", "ovs.yml:3 port_kind", "'vhost-user'", "delete the line"),
    ("summary: Of a test", "port_kind: memif", "ovs.yml:3 port_kind", "'memif'", "by options.port_type: memif"),
    ("summary: Of a test", "port_kind: veth", "ovs.yml:3 port_kind", "'veth'", "has ports of kind vhost-user"),
    ("pmd_cores: 1", "port_type: veth", "ovs.yml:7 options.port_type", '"veth"', "'vhost-user', 'memif' or 'pci'"),
    ("pmd_cores: 1", "rx_queue_size: 1000", "ovs.yml:7 options.rx_queue_size", "1000", "descriptors: 512 or 1024"),
    ("pmd_cores: 1", "rx_queue_size: 5000", "ovs.yml:7 options.rx_queue_size", "5000", "at least 64 and at most 4096"),
    ("pmd_cores: 1", "rxq_affinity: {p9: [0]}", "ovs.yml:7 options.rxq_affinity.p9", "'p9'", "p[01]|v([1-9]|10)[ab]"),
    ("title: Open vSwitch\n", "", "ovs.yml:1 title", "no such key", "add `title: ...`"),
    ("topologies: [p2p]", "topologies: p2p", "ovs.yml:4 topologies", '"p2p"', "a list"),
    ("name: ovs", "name: other", "ovs.yml:1 name", "'other'", "name: ovs"),
    ("name: ovs", "name: O V S", "ovs.yml:1 name", '"O V S"', "of the form"),
    ("title: Open vSwitch", "title: 15", "ovs.yml:2 title", "15", "in quotes: YAML reads it as the number 15"),
    ("title: Open vSwitch", "title: 00101", "ovs.yml:2 title", "00101", "in quotes: YAML reads it as the number 65"),
    ("title: Open vSwitch", "title: 1.5", "ovs.yml:2 title", "1.5", "in quotes: YAML reads it as the number 1.5"),
    ("title: Open vSwitch", "title: yes", "ovs.yml:2 title", "yes", "in quotes: YAML reads it as a truth value"),
    ("title: Open vSwitch", "title: 52:54:00:12:34:56", "ovs.yml:2 title", "52:54:00:12:34:56", "in quotes"),
    ("pmd_cores: 1", "pmd_cores: 010", "ovs.yml:7 options.pmd_cores", "010", "YAML reads it as the number 8"),
    ("pmd_cores: 1", "pmd_cores: 1:30", "ovs.yml:7 options.pmd_cores", "1:30", "YAML reads it as the number 90"),
    ("pmd_cores: 1", "pmd_cores: .inf", "ovs.yml:7 options.pmd_cores", "Infinity", "a whole number"),
]


@pytest.mark.parametrize(("old", "new", "where", "observed", "fix"), VARIANT_CASES)
def test_a_wrong_key_or_value(project: Project, old: str, new: str, where: str, observed: str, fix: str) -> None:
    assert old in VARIANT
    error = refused_variant(project, VARIANT.replace(old, new))
    assert error.where == f"{project.variants_folder}/{where}"
    assert observed in error.observed
    assert fix in error.fix


MALFORMED = [
    (VARIANT + "  - [\n", ":8:3", "found '-'"),
    ("name: [ovs", ":1:11", "expected ',' or ']'"),
    ("name: ovs\n\ttitle: x", ":2:1", "cannot start any token"),
    (VARIANT + "name: again\n", ":8:1", "'name' is given twice, first in line 1"),
    (VARIANT + "on: 1\n", ":8:1", "put it in quotes"),
    ("a: &x [1]\nb: *x\n", ":2:4", "aliases"),
    ("a: !!python/object/apply:os.system [x]\n", ":1:4", "not allowed"),
    ("a: !!binary aGk=\n", ":1:4", "not allowed"),
    ("- a\n- b\n", ":1", "a list"),
    ("", ":1", "nothing"),
    ("a: 1\n--- \nb: 2\n", ":2:1", "another document"),
    ("a: " + "[" * 3000, ":1:67", "nests too deeply"),
    ("a: " + "9" * 401 + "\n", ":1:4", "a number of 401 digits"),
    ("a: !!bool perhaps\n", ":1:4", "this is no bool"),
    ("? " + "k" * 1025 + "\n: 1\n", ":1:3", "a key of 1025 characters"),
    ("a: [" + "1," * 100_000 + "]\n", ":1:199999", "it holds too much"),
    ("a: " + "x" * 10_000_000, "", "more than 10000000 bytes"),
]


@pytest.mark.parametrize(("text", "place", "observed"), MALFORMED)
def test_malformed_yaml(project: Project, text: str, place: str, observed: str) -> None:
    error = refused_variant(project, text)
    assert error.where == f"{project.variants_folder}/ovs.yml{place}"
    assert observed in error.observed
    assert error.fix


def test_a_file_that_is_no_text(project: Project) -> None:
    (project.variants_folder / "ovs.yml").write_bytes(b"name: \xff\xfe")
    with pytest.raises(ConfigurationError, match="cannot be read") as caught:
        project.load_variant("ovs")
    assert "UTF-8" in caught.value.observed


EXPERIMENT_CASES = [
    ("ovs-dpdk]", "ovs-dpkd]", "trial.yml:3 variants[1]", "'ovs-dpkd'", "did you mean 'ovs-dpdk'?"),
    ("64, 1518", "64, 63", "trial.yml:6 frame_sizes[1]", "63", "at least 64 and at most 9018, or one of 'imix'"),
    ("64, 1518", "64, 9019", "trial.yml:6 frame_sizes[1]", "9019", "at least 64 and at most 9018"),
    ("64, 1518", "64, imx", "trial.yml:6 frame_sizes[1]", '"imx"', "'imix'"),
    ("64, 1518", "64, 64", "trial.yml:1", "names something twice", "change one"),
    ("frame_sizes", "frame_size", "trial.yml:6 frame_size", "'frame_size'", "did you mean 'frame_sizes'?"),
    ("max_rounds: 12", "max_rounds: 1", "trial.yml:7 repetitions", "(1) must be at least needed (5)", "change one"),
    ("baseline: linux-bridge", "baseline: vpp", "trial.yml:1", "'vpp' is none of the variants", "change one"),
    ("topologies: [p2p]", "topologies: [q2q]", "trial.yml:5 topologies[0]", '"q2q"', "there are p2p, pvp"),
    ("topologies: [p2p]", "site: lap", "trial.yml:5 site", "'lap'", "did you mean 'lab'?"),
    ("topologies: [p2p]", "traffic: {ip: 6}", "trial.yml:6 frame_sizes[0]", "64, with IPv6", "at least 84 bytes"),
    ("topologies: [p2p]", "traffic: {vlan: 5}", "trial.yml:6 frame_sizes[0]", "a VLAN tag", "at least 68 bytes"),
    ("topologies: [p2p]", "traffic: {vlan: 5000}", "trial.yml:5 traffic.vlan", "5000", "at least 1 and at most 4094"),
    ("topologies: [p2p]", "topologies: [p2p, pvpv]", "trial.yml:1 traffic.flows", "flows: 1; 2 VNFs", "{flows: 2}"),
    ("ovs-dpdk]", "simulated]", "trial.yml:3 variants", "simulated: simulated; real: linux-bridge", "two experiments"),
]


@pytest.mark.parametrize(("old", "new", "where", "observed", "fix"), EXPERIMENT_CASES)
def test_a_wrong_experiment(project: Project, old: str, new: str, where: str, observed: str, fix: str) -> None:
    assert old in EXPERIMENT
    error = refused_experiment(project, EXPERIMENT.replace(old, new))
    assert error.where == f"{project.experiments_folder}/{where}"
    assert observed in error.observed
    assert fix in error.fix


@pytest.mark.parametrize("value", [math.nan, -math.inf])
def test_a_number_that_is_none(project: Project, value: float) -> None:
    (project.experiments_folder / "trial.yml").write_text(EXPERIMENT)
    with pytest.raises(ConfigurationError) as caught:
        project.load_study("trial", {"trials.mrr_duration_s": value})
    assert caught.value.fix == "give a number of at least 0.05 and at most 3600"


def test_words_of_the_reader_that_are_a_sentence() -> None:
    class Plain(BaseModel):
        ratio: FiniteFloat = 0
        names: tuple[str, ...] = Field((), min_length=2)
        day: date | None = None

    for data, fix in (
        ({"ratio": math.inf}, "give a number that is finite"),
        ({"names": ["one"]}, "give another value (Tuple should have at least 2 items after validation, not 1)"),
        ({"day": "x"}, "give a valid date in the format YYYY-MM-DD, input is too short"),
    ):
        with pytest.raises(ConfigurationError) as caught:
            build(Document(Path("plain.yml"), data, {}), Plain)
        assert caught.value.fix == fix


def test_vnfs_side_by_side_need_a_flow_each(project: Project) -> None:
    text = EXPERIMENT.replace("topologies: [p2p]", "topologies: [pvpv]")
    error = refused_experiment(project, text + "traffic:\n  flows: 1\n")
    assert error.what == "topology pvpv of trial.yml needs at least 2 flows"
    assert error.where.endswith(f"trial.yml:{len(text.splitlines()) + 2} traffic.flows")
    with pytest.raises(ConfigurationError, match="needs at least 2 flows") as caught:
        project.load_study("trial", {"traffic.flows": 1})
    assert caught.value.where == "command line, traffic.flows"


def test_a_topology_that_no_variant_has(project: Project) -> None:
    for name in ("linux-bridge", "ovs-dpdk"):
        path = project.variants_folder / f"{name}.yml"
        path.write_text(re.sub(r"topologies: .*", "topologies: []", path.read_text()))
    error = refused_experiment(project, EXPERIMENT)
    assert "no variant of trial.yml has the topology 'p2p'" in error.what


def test_an_unknown_name(project: Project) -> None:
    loads = {"variant": project.load_variant, "site": project.load_site, "experiment": project.load_study}
    for kind, load in loads.items():
        with pytest.raises(ConfigurationError, match=f"unknown {kind} 'nobody'"):
            load("nobody")


def test_an_unknown_file(project: Project) -> None:
    with pytest.raises(ConfigurationError, match="nowhere.yml cannot be read"):
        project.load_study("/nowhere.yml")


@pytest.mark.parametrize(
    ("key", "value", "where", "fix"),
    [
        ("frame_sizes", [9], "command line, frame_sizes[0]", "at least 64"),
        ("repetitions.needed", 0, "command line, repetitions.needed", "at least 1"),
        ("trials.x", 1, "command line, trials.x", "mrr_duration_s"),
        ("variants", ["ovs-dpkd"], "command line, variants[0]", "did you mean 'ovs-dpdk'?"),
        ("traffic", 1, "command line, traffic", "keys and values"),
    ],
)
def test_the_command_line_is_checked_like_the_file(
    project: Project, key: str, value: object, where: str, fix: str
) -> None:
    (project.experiments_folder / "trial.yml").write_text(EXPERIMENT)
    with pytest.raises(ConfigurationError) as caught:
        project.load_study("trial", {key: value})
    assert caught.value.where == where
    assert fix in caught.value.fix


def test_a_key_that_was_renamed_is_refused_by_its_name(project: Project) -> None:
    text = (project.variants_folder / "emulated-nic.yml").read_text().replace("guest_nic:", "guest_card:")
    (project.variants_folder / "emulated-nic.yml").write_text(text)
    with pytest.raises(ConfigurationError) as refused:
        project.load_variant("emulated-nic")
    assert refused.value.fix == "it is called 'guest_nic' now" and "emulated-nic.yml:" in refused.value.where
