"""Figures that are touched: the same data, intervals in words, scales that move, numbers that stay in their column."""

import copy

import pytest

from nfvbed.compare.comparison import compare
from nfvbed.report.figures.catalogue import drawings
from nfvbed.report.figures.interactive import interactive
from tests.sample_many import many_variants
from tests.sample_records import BRIDGE, OVS, Scenario, build


@pytest.fixture(scope="module", name="drawn")
def _drawn():
    return drawings(compare([build(Scenario(systems=(BRIDGE, OVS), common_load=True))]))


def test_a_figure_stays_as_it_is_and_its_copy_moves(drawn):
    spec = drawn["rate"].spec
    before = copy.deepcopy(spec)
    found = interactive(spec)
    assert spec == before
    layers = found["spec"]["layer"]
    assert layers[0]["params"] == [
        {
            "name": "zoom0",
            "select": {"type": "interval", "encodings": ["x"], "zoom": "wheel![event.shiftKey]"},
            "bind": "scales",
        }
    ]
    assert [layer["mark"]["clip"] for layer in layers if layer["mark"]["type"] == "text"] == [False]


def test_intervals_are_in_the_words_at_hover(drawn):
    found = interactive(drawn["rate"].spec)
    (values,) = found["datasets"].values()
    medians = [record for record in values if record["kind"] == "median"]
    assert medians and all(record["interval"] == f"{record['low']:.4g} to {record['high']:.4g}" for record in medians)
    assert {record["interval"] for record in values if record["kind"] == "ceiling"} <= {"-"}
    tips = [layer["encoding"]["tooltip"] for layer in found["spec"]["layer"] if "tooltip" in layer.get("encoding", {})]
    assert tips and all(tip[-1] == {"field": "interval", "type": "nominal"} for tip in tips)


def test_each_panel_moves_by_itself():
    every = drawings(compare([many_variants(rounds=2)]))
    assert interactive(every["rate"].spec)["spec"]["layer"][0]["params"]
    names = [view["params"][0]["name"] for view in _views(interactive(every["core-distance"].spec)) if "params" in view]
    assert len(names) == len(set(names))


def _views(node):
    yield node
    for inner in (*node.get("layer", ()), *node.get("concat", ()), *([node["spec"]] if "spec" in node else [])):
        yield from _views(inner)
