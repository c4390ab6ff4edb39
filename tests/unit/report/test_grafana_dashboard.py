"""The Grafana dashboard: valid by Grafana's own schemas, and asking for metrics that exist alone."""

import json
import re
from functools import cache
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from nfvbed.report import openmetrics
from nfvbed.spec.root import find_root
from tests.contract.source import text

RECORDED = Path(__file__).parent / "grafana"
DASHBOARD = json.loads((find_root(None) / "deploy" / "grafana" / "nfvbed.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


@cache
def schema(name, definition=None):
    found = json.loads((RECORDED / f"{name}.jsonschema.json").read_text())
    return Draft7Validator({**found, "$ref": f"#/definitions/{definition}"} if definition else found)


def test_the_dashboard_is_valid():
    assert [error.json_path for error in schema("dashboard").iter_errors(DASHBOARD)] == []
    broken = {**DASHBOARD, "panels": [{**PANELS[0], "unknown": 1}]}
    assert not schema("dashboard").is_valid(broken), "the schema refuses what it does not know"


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel["title"])
def test_each_panel_is_valid_of_its_kind(panel):
    schema(panel["type"], "Options").validate(panel["options"])
    if panel["type"] == "timeseries":
        schema("timeseries", "FieldConfig").validate(panel["fieldConfig"]["defaults"]["custom"])
    for target in panel["targets"]:
        schema("prometheus", "Dataquery").validate(target)


def test_panels_lie_beside_each_other():
    taken = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        places = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not places & taken and max(x for x, _ in places) < 24, panel["title"]
        taken |= places
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


def asked():
    """Return the names of metrics in all queries, those of variables too."""
    queries = [target["expr"] for panel in PANELS for target in panel["targets"]]
    queries += [variable["query"] for variable in DASHBOARD["templating"]["list"]]
    return {name for query in queries for name in re.findall(r"\b(?:node|nfvbed)_[a-zA-Z0-9_]+", query)}


def test_names_of_the_exporter_are_its_own():
    recorded = set(re.findall(r"^# TYPE (\S+)", (RECORDED / "node_exporter.txt").read_text(), re.MULTILINE))
    wanted = {name for name in asked() if name.startswith("node_")}
    assert len(wanted) > 10 and wanted <= recorded


def test_our_names_are_those_that_are_told():
    told = set(re.findall(r'"([a-z_]+)", "[A-Z]', text(Path("nfvbed/dashboard/metrics.py")))) | {"runs", "measured_"}
    units = {openmetrics.metric_unit(unit)[0] for unit in ("frames/s", "s", "cycles/packet")}
    known = {f"nfvbed_{name}" for name in told | {f"measured_{unit}" for unit in units}}
    assert {name for name in asked() if name.startswith("nfvbed_")} <= known


def test_labels_in_queries_are_those_of_settings():
    matchers = re.findall(r"nfvbed_measured_\w+\{([^}]*)\}", json.dumps(DASHBOARD).replace('\\"', '"'))
    assert {name for found in matchers for name in re.findall(r"(\w+)(?:=~|!=|=)", found)} <= set(openmetrics.LABELS)
