"""The project's packages, parsed by the tosca-parser of each Tacker that takes packages: 8.0.0's and 15.0.0's."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nfvbed.vnfs.descriptors import csar, sol
from nfvbed.vnfs.descriptors.typefiles import VNFD_TYPES, etsi_types
from tests.kolla.genconfig import ENVIRONMENT
from tests.unit.vnfs.descriptors import several
from tests.unit.vnfs.descriptors.requests import PROJECT, request

pytestmark = pytest.mark.on_demand
HERE = Path(__file__).parent
PACKAGES = {
    "vloop": lambda: sol.files(request(most_instances=2)),
    "vloop, managed": lambda: sol.files(request(management=True)),
    "vepc": lambda: sol.files(several.request(zones=several.ZONES)),
    "vpair": lambda: sol.files(
        several.request(vnf=PROJECT.load_vnf("vpair"), zones_of_machines={"west": "left", "east": "right"})
    ),
}
"""Members of packages of one machine and of several."""


@pytest.fixture(scope="session", name="newest")
def _newest(tmp_path_factory):
    """The folder of Tacker 15's parser, from the package index."""
    folder = tmp_path_factory.mktemp("tosca-parser")
    pip = [
        str(ENVIRONMENT.parent / "uv/bin/python"),
        "-m",
        "pip",
        "--disable-pip-version-check",
        "install",
        "--quiet",
        "--no-deps",
    ]
    pins = ["--require-hashes", "--target", str(folder), "-r", str(HERE / "tosca-parser.txt")]
    subprocess.run([*pip, *pins], check=True, timeout=120)
    return folder


def parsed(folder, members, parser=None):
    """Return what a parser says; None: nfvbed's own, which is that of Tacker 8.0.0."""
    package = folder / "package.zip"
    package.write_bytes(csar.write(members))
    environment = {**os.environ, **({"PYTHONPATH": str(parser)} if parser else {})}
    words = [sys.executable, str(HERE / "parse_package.py"), str(package), str(folder / "unpacked")]
    return subprocess.run(words, capture_output=True, text=True, env=environment, check=False, timeout=120)


def answer(result):
    assert result.returncode == 0, result.stderr[-2000:]
    return json.loads(result.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", PACKAGES)
def test_both_parsers_take_a_package(newest, tmp_path, name):
    (tmp_path / "old").mkdir()
    old = answer(parsed(tmp_path / "old", PACKAGES[name]()))
    new = answer(parsed(tmp_path, PACKAGES[name](), newest))
    assert (old["version"], new["version"]) == ("2.7.0", "2.14.0")
    assert old["flavours"] == new["flavours"]
    assert all("VNF" in nodes and len(nodes) > 2 for nodes in new["flavours"].values())


def test_etsis_own_file_is_what_the_newer_parser_refuses(newest, tmp_path):
    members = {**PACKAGES["vloop"](), f"Definitions/{VNFD_TYPES}": etsi_types()[VNFD_TYPES]}
    refused = parsed(tmp_path, members, newest)
    assert refused.returncode != 0
    assert 'Relationship "virtual_link" in template' in refused.stderr
    assert "wrong number of occurrences" in refused.stderr
