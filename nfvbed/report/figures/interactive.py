"""Figures that are touched: the same specifications with intervals at hover, and with zoom and pan.

The intervals are in the data that is drawn, so nothing is computed here but their words.
"""

from collections.abc import Iterator
from typing import Any, Final

from nfvbed.report.figures.theme import Spec

INTERVAL: Final = "interval"
ZOOM: Final = "zoom"
PARTS: Final = ("layer", "concat", "hconcat", "vconcat")
WHEEL: Final = "wheel![event.shiftKey]"
"""With Shift: without it the page scrolls."""


def interactive(spec: Spec) -> Spec:
    """Return a figure with each interval in the words at hover, and with scales that are dragged and zoomed."""
    found: Spec = _copied(spec)
    with_intervals = False
    for record in (record for values in found.get("datasets", {}).values() for record in values):
        with_intervals |= _has_interval(record)
        record[INTERVAL] = _words(record)
    for node in _nodes(found):
        tips = node.get("encoding", {}).get("tooltip")
        if with_intervals and isinstance(tips, list):
            node["encoding"]["tooltip"] = [*tips, {"field": INTERVAL, "type": "nominal"}]
    for number, view in enumerate(_views(found)):
        channels = _continuous(view)
        if channels:
            select = {"type": "interval", "encodings": channels, "zoom": WHEEL}
            _unit(view)["params"] = [{"name": f"{ZOOM}{number}", "select": select, "bind": "scales"}]
            for layer in view.get("layer", ()):
                if layer.get("mark", {}).get("type") == "text":
                    layer["mark"]["clip"] = False  # Numbers in their column beside the panel; marks stay within it.
    return found


def _copied(value: Any) -> Any:
    """Return a copy of all but the texts and numbers in it; lists of records are lists, also where they were tuples."""
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list | tuple) else value


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    """Yield a specification and those inside it; not what is in its data."""
    if not isinstance(node, dict):
        return
    yield node
    for part in PARTS:
        for inner in node.get(part, ()):
            yield from _nodes(inner)
    yield from _nodes(node.get("spec"))


def _views(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the single views, each of one or more layers, that a specification places beside each other."""
    inner = [part for name in PARTS[1:] for part in node.get(name, ())]
    if "spec" in node:
        inner.append(node["spec"])
    if not inner:
        yield node
    for part in inner:
        yield from _views(part)


def _unit(view: dict[str, Any]) -> dict[str, Any]:
    """Return the first layer, which the others share their scales with; the view itself where it has none."""
    while "layer" in view:
        view = view["layer"][0]
    return view


def _continuous(view: dict[str, Any]) -> list[str]:
    """Return the channels of the first layer whose scales can be dragged."""
    encoding = {**view.get("encoding", {}), **_unit(view).get("encoding", {})}
    return [name for name in ("x", "y") if encoding.get(name, {}).get("type") == "quantitative"]


def _has_interval(record: dict[str, Any]) -> bool:
    return isinstance(record.get("low"), int | float) and isinstance(record.get("high"), int | float)


def _words(record: dict[str, Any]) -> str:
    if not _has_interval(record):
        return "-"
    return f"{'range ' if record.get('range') else ''}{record['low']:.4g} to {record['high']:.4g}"
