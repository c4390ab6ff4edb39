"""This host gives exactly what tests/support.yml says: no less, and nothing unsupported that works unnoticed."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = yaml.safe_load((ROOT / "tests" / "support.yml").read_text())


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
    wanted = MANIFEST["variants"][name]
    if os.environ.get(wanted.get("brought_by", "")):
        wanted = {"readiness": "ready"}
    found = {support["variant"]: support for support in report["variants"]}[name]
    assert found["readiness"] == wanted["readiness"], found["reason"]
    assert re.search(wanted.get("reason", ""), found["reason"])
    if found["readiness"] == "unsupported":
        assert found["fix"]


@pytest.mark.parametrize("topic", sorted(MANIFEST["host"]))
def test_host_has_what_the_manifest_says(report, topic):
    found = {value["topic"]: value for value in report.values() if isinstance(value, dict)}[topic]
    assert found["state"] == MANIFEST["host"][topic], found["summary"]


def test_manifest_names_every_variant(report):
    assert {support["variant"] for support in report["variants"]} == set(MANIFEST["variants"])
