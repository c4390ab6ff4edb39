"""This host gives exactly what tests/support.yml says: no less, and nothing unsupported that works unnoticed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import support

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = support.manifest()


@pytest.fixture(scope="module", name="report")
def _report():
    argv = [sys.executable, "-m", "nfvbed", "doctor", "--json"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_runs_as_root():
    assert os.geteuid() == 0, "functional tests deploy on this machine: run them as root"


@pytest.mark.parametrize("name", sorted(MANIFEST["variants"]))
def test_variant_gives_what_the_manifest_says(report, name):
    entry = MANIFEST["variants"][name]
    wanted = {"readiness": "ready"} if os.environ.get(entry.get("brought_by", "")) else support.here(entry)
    found = {one["variant"]: one for one in report["variants"]}[name]
    assert found["readiness"] in _each(wanted["readiness"]), found["reason"]
    assert re.search(wanted.get("reason", ""), found["reason"])
    assert "not" not in wanted or not re.search(wanted["not"], found["reason"])
    if found["readiness"] == "unsupported":
        assert found["fix"]


def _each(value):
    return value if isinstance(value, list) else [value]


@pytest.mark.parametrize("topic", sorted(MANIFEST["host"]))
def test_host_has_what_the_manifest_says(report, topic):
    found = {value["topic"]: value for value in report.values() if isinstance(value, dict)}[topic]
    assert found["state"] in _each(support.here(MANIFEST["host"][topic])["state"]), found["summary"]


def test_a_host_that_has_more_is_asked_for_more():
    facts = dict.fromkeys(support.FACTS, False)
    kernel = MANIFEST["variants"]["ovs-kernel"]
    assert support.here(kernel, facts)["readiness"] == "unsupported"
    assert support.here(kernel, facts | {"openvswitch module": True}) == {"readiness": "ready"}
    entries = [*MANIFEST["variants"].values(), *MANIFEST["host"].values()]
    assert {fact for entry in entries for fact in entry.get("where", {})} <= set(support.FACTS)


def test_manifest_names_every_variant(report):
    assert {support["variant"] for support in report["variants"]} == set(MANIFEST["variants"])
