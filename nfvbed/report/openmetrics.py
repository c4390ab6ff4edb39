"""Stored figures as metrics: the newest of each setting for who asks now, or all of them with their times.

Names end in the unit, which is a base unit of Prometheus's (seconds, bytes, ratios) where there is one. Labels are what
a setting consists of, so a series goes on from run to run; ids of runs are none: each would be a series of its own.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.openmetrics.exposition import generate_latest
from prometheus_client.registry import Collector

from nfvbed.compare.series import Setting, SettingFigure

_ENCODE: Final[Callable[[CollectorRegistry], bytes]] = generate_latest
PREFIX: Final = "nfvbed"
_BASE_UNITS: Final[Mapping[str, tuple[str, float]]] = {
    "s": ("seconds", 1),
    "ms": ("seconds", 1e-3),
    "us": ("seconds", 1e-6),
    "ns": ("seconds", 1e-9),
    "bit/s": ("bytes_per_second", 1 / 8),
    "MiB/s": ("bytes_per_second", 2**20),
    "%": ("ratio", 1e-2),
}
"""By the unit of a stored figure: the base unit, and what a value is multiplied by."""
_PER: Final = {"s": "second"}
_NONE: Final = "value"
"""The end of a name of what has no unit: a number, or a ratio, as the label `test` says."""


def metric_unit(unit: str) -> tuple[str, float]:
    """Return the end of a metric's name for a stored unit, and the factor to it; units of counts stay as they are."""
    if unit in _BASE_UNITS:
        return _BASE_UNITS[unit]
    of, _, per = unit.partition("/")
    words = (of, f"per_{_PER.get(per, per)}" if per else "")
    return re.sub(r"[^a-z0-9]+", "_", "_".join(filter(None, words)).lower()) or _NONE, 1


def labels_of(setting: Setting) -> dict[str, str]:
    """Return what tells a setting from others."""
    return {
        "variant": setting.variant,
        "topology": setting.topology,
        "vnf": setting.vnf,
        "frame_size_bytes": str(setting.frame_size),
        "flows": str(setting.flows),
        "directions": "both" if setting.bidirectional else "one",
        "sessions": setting.sessions.value,
        "neighbour": setting.neighbour,
        "test": setting.test,
        "site": setting.site,
        "machine": setting.machine,
        "simulated": str(setting.simulated).lower(),
    }


LABELS: Final = (
    *("variant", "topology", "vnf", "frame_size_bytes", "flows", "directions"),
    *("sessions", "neighbour", "test", "site", "machine", "simulated"),
)


def newest_figures(measured: Iterable[SettingFigure]) -> list[GaugeMetricFamily]:
    """Return each setting's newest figure, and when its run began, without times of their own."""
    newest: dict[tuple[Setting, str], SettingFigure] = {}
    for entry in measured:
        key = entry.setting, metric_unit(entry.unit)[0]
        if key not in newest or _order(entry) > _order(newest[key]):
            newest[key] = entry
    families = _families(newest.values(), with_times=False)
    began = GaugeMetricFamily(
        f"{PREFIX}_measured_run_start_timestamp",
        "When the run began that the newest figure of a setting is of.",
        labels=LABELS,
        unit="seconds",
    )
    for setting in dict.fromkeys(entry.setting for entry in newest.values()):
        at = max(entry.at for entry in newest.values() if entry.setting == setting)
        began.add_metric(_values(setting), timestamp(at))
    return [*families, began]


def history_text(measured: Iterable[SettingFigure]) -> str:
    """Return all figures as OpenMetrics, each with the time when its run began: `promtool tsdb create-blocks-from`."""

    class AllFigures(Collector):
        def collect(self) -> Iterator[GaugeMetricFamily]:
            yield from _families(measured, with_times=True)

    registry = CollectorRegistry()
    registry.register(AllFigures())
    return _ENCODE(registry).decode()


def _families(measured: Iterable[SettingFigure], *, with_times: bool) -> list[GaugeMetricFamily]:
    """Return figures by unit, those of a setting together and in order of time."""
    found: dict[str, dict[Setting, list[SettingFigure]]] = {}
    for entry in sorted(measured, key=_order):
        found.setdefault(metric_unit(entry.unit)[0], {}).setdefault(entry.setting, []).append(entry)
    families = []
    for unit, settings in sorted(found.items()):
        family = GaugeMetricFamily(
            f"{PREFIX}_measured", f"What runs measured, in {unit.replace('_', ' ')}.", labels=LABELS, unit=unit
        )
        for setting, entries in sorted(settings.items(), key=lambda of: of[0].name):
            # A time has one value: of runs that began in the same second the later one's.
            for at, entry in {timestamp(entry.at): entry for entry in entries}.items():
                value = entry.value * metric_unit(entry.unit)[1]
                family.add_metric(_values(setting), value, timestamp=at if with_times else None)
        families.append(family)
    return families


def _values(setting: Setting) -> tuple[str, ...]:
    found = labels_of(setting)
    return tuple(found[name] for name in LABELS)


def _order(entry: SettingFigure) -> tuple[str, str]:
    return entry.at, entry.run


def timestamp(at: str) -> float:
    """Return a stored time in seconds since 1970."""
    return datetime.fromisoformat(at).timestamp()
