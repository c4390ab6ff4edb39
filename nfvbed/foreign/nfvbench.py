"""NFVbench's results: what `nfvbench --json FILE` writes.

Source: nfvbench/nfvbench.py and chain_runner.py of NFVbench 5. Rates are sums over both directions.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from nfvbed.foreign.documents import as_written_by
from nfvbed.foreign.records import ForeignResult, Tool

_KNOWN_BY: Final = frozenset(("benchmarks", "nfvbench_version"))
_GOALS: Final = ("ndr", "pdr")


def is_nfvbench(document: Any) -> bool:
    """Return whether a JSON document has what all results of NFVbench have."""
    return isinstance(document, dict) and document.keys() >= _KNOWN_BY


def results_of(document: Mapping[str, Any], path: Path, sha256: str) -> tuple[ForeignResult, ...]:
    """Return the numbers of a run: NDR and PDR, or at a given load the rate that came back, of each chain and size.

    Raises:
        ConfigurationError: it lacks something that NFVbench writes.
    """
    with as_written_by(Tool.NFVBENCH, path):
        shared = {
            "tool": Tool.NFVBENCH,
            "tool_version": str(document["nfvbench_version"]),
            "file": str(path),
            "sha256": sha256,
            "measured_at": str(document["date"]),
            "system": _system(document),
        }
        return tuple(ForeignResult(**shared, **number) for number in _numbers(document))


def _system(document: Mapping[str, Any]) -> str:
    spec = document.get("openstack_spec") or {}
    return ", ".join(f"{key} {spec[key]}" for key in ("vswitch", "encaps") if spec.get(key))


def _numbers(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for chain, found in document["benchmarks"]["network"]["service_chain"].items():
        of_chain = found["result"]
        named = f"{chain} x {of_chain['service_chain_count']}, {of_chain['flow_count']} flows"
        for size, result in of_chain["result"].items():
            if not isinstance(result, dict):
                continue  # A warning of the whole chain, beside the sizes.
            place = f"benchmarks.network.service_chain.{chain}.result.result.{size}"
            shared = {"test": named, "frame_size": str(size)}
            for goal in _GOALS:
                if goal in result:
                    yield shared | _of_goal(result[goal], goal, f"{place}.{goal}")
            if "run_config" in result:
                yield shared | _of_load(result, place)


def _of_goal(found: Mapping[str, Any], goal: str, place: str) -> dict[str, Any]:
    stats = found["stats"]
    said = [f"drop {stats['overall']['drop_percentage']:g} %"]
    # NFVbench's rate is that asked for; a generator that sent less is in a warning.
    said += [f"sent {stats['total_tx_rate']} frames/s"] + _warnings(found, stats)
    return {
        "place": place,
        "quantity": goal,
        "value": found["rate_pps"],
        "unit": "frames/s",
        "remark": "; ".join(said),
    }


def _of_load(result: Mapping[str, Any], place: str) -> dict[str, Any]:
    total = result["run_config"]["direction-total"]
    dropped = result["stats"]["overall"]["drop_rate_percent"]
    said = [f"asked for {total['orig']['rate_pps']} frames/s", f"drop {dropped:g} %"]
    return {
        "place": f"{place}.run_config.direction-total.rx",
        "quantity": "received",
        "value": total["rx"]["rate_pps"],
        "unit": "frames/s",
        "remark": "; ".join((*said, *_warnings(result["run_config"], result["stats"]))),
    }


def _warnings(*found: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(" ".join(str(one["warning"]).split()) for one in found if one.get("warning")))
