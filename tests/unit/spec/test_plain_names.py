"""Files of a user's: no text in them, and no key, has a character that controls a terminal."""

from pathlib import Path

import pytest

from nfvbed.errors import ConfigurationError, UsageError
from nfvbed.records.annotations import Mark, checked
from nfvbed.spec.document import parse_document
from nfvbed.spec.published import Publication
from nfvbed.spec.site import AnySite
from nfvbed.spec.validate import build, build_one_of, require_plain
from nfvbed.spec.vnf import VnfSpec
from nfvbed.vnfs.descriptors import foreign
from nfvbed.vsperf.conf.results import read_results

ESCAPES = {"escape": "\\e[2J", "null": "\\0", "c1": "\\x9b", "override": "\\u202e", "nonchar": "\\ufffe"}
FILES = {
    "vnf": (VnfSpec, 'name: vloop\nsummary: "a{}b"\n', 2),
    "site": (AnySite, 'name: here\nkind: lab\ntitle: "a{}b"\n', 3),
    "published": (Publication, 'name: x\ntitle: t\ntables:\n- {{key: a, title: "a{}b"}}\n', 4),
}


@pytest.mark.parametrize("escape", ESCAPES.values(), ids=ESCAPES)
@pytest.mark.parametrize("kind", FILES)
def test_a_file_has_none(kind: str, escape: str, tmp_path: Path):
    model, text, line = FILES[kind]
    document = parse_document(tmp_path / "file.yml", text.format(escape))
    with pytest.raises(ConfigurationError) as failure:
        build_one_of(document, model)
    assert f"file.yml:{line} " in failure.value.where
    assert failure.value.observed.startswith("\\u")
    assert failure.value.exit_code == 10


def test_a_key_has_none(tmp_path: Path):
    document = parse_document(tmp_path / "file.yml", 'name: x\n"a\\eb": 1\n')
    with pytest.raises(ConfigurationError) as failure:
        build(document, VnfSpec)
    assert (failure.value.observed, "\x1b" in str(failure.value)) == (r"\u001b", False)


def test_texts_of_several_lines_are_fine(tmp_path: Path):
    require_plain(parse_document(tmp_path / "file.yml", "summary: |\n  one\n  two\ttabs\n"))


def test_a_descriptor_of_someone_elses_has_none(tmp_path: Path):
    path = tmp_path / "vnfd.yaml"
    path.write_text('tosca_definitions_version: tosca_simple_profile_for_nfv_1_0_0\ndescription: "a\\eb"\n')
    with pytest.raises(ConfigurationError) as failure:
        foreign.read(path)
    assert failure.value.where == f"{path}:2 description"


def test_a_result_of_vsperf_has_none(tmp_path: Path):
    path = tmp_path / "result_0.csv"
    path.write_text("type,packet_size,throughput_rx_fps,vswitch\nrfc2544,64,1.0,Ovs\x1b[2J\n")
    with pytest.raises(ConfigurationError) as failure:
        read_results(path)
    assert (failure.value.where, failure.value.observed) == (f"{path}:2 vswitch", r"\u001b")


@pytest.mark.parametrize("mark", [Mark.LABEL, Mark.NOTE], ids=str)
def test_what_is_said_of_a_run_has_none(mark: Mark):
    with pytest.raises(UsageError) as failure:
        checked(mark, "a\x1b[2Jb")
    assert failure.value.observed == r"\u001b"
