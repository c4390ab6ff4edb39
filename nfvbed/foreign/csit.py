"""CSIT's results: the output of test cases in its Unified Test Interface, by the schema of its model 1.5.1.

Source: FD.io CSIT, resources/model_schema and resources/libraries/python/model. One file is one test case.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from jsonschema import Draft202012Validator

from nfvbed.foreign.documents import as_written_by, refused
from nfvbed.foreign.records import ForeignResult, Tool
from nfvbed.spec import boundedyaml
from nfvbed.spec.textfile import read_text

MODEL: Final = "1.5.1"
_SCHEMA: Final = Path(__file__).with_name(f"csit_test_case_{MODEL}.schema.yaml")
_KNOWN_BY: Final = frozenset(("test_id", "start_time", "version"))
_UNITS: Final = {"pps": "frames/s"}


def is_uti(document: Any) -> bool:
    """Return whether a JSON document has what all test cases of CSIT's have."""
    return isinstance(document, dict) and document.keys() >= _KNOWN_BY


def fault_of(document: Any) -> str:
    """Return where and how a document breaks CSIT's schema; empty: nowhere."""
    error = next(iter(sorted(_validator().iter_errors(document), key=lambda found: list(map(str, found.path)))), None)
    if error is None:
        return ""
    return f"{'.'.join(map(str, error.path)) or 'the document'}: {error.message}"[:400]


def results_of(document: Mapping[str, Any], path: Path, sha256: str) -> tuple[ForeignResult, ...]:
    """Return the numbers of a test case; one that failed, or is of a kind without numbers, has none.

    Raises:
        ConfigurationError: it is not of the schema.
    """
    if fault := fault_of(document):
        raise refused(str(path), f"by the schema of CSIT's model {MODEL}: {fault}")
    with as_written_by(Tool.CSIT, path):
        shared = {
            "tool": Tool.CSIT,
            "tool_version": f"model {document['version']}",
            "file": str(path),
            "sha256": sha256,
            "test": document["test_id"],
            "system": f"{document['dut_type']} {document['dut_version']}",
            "measured_at": document["start_time"],
            "frame_size": _frame_size(document["test_name_long"]),
            "remark": "" if document["passed"] else f"failed: {document['message']}",
        }
        return tuple(ForeignResult(**shared, **number) for number in _numbers(document["result"]))


def _numbers(result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    match result["type"]:
        case "mrr":
            rate = result["receive_rate"]["rate"]
            yield _number("receive_rate", "mrr", rate["avg"], rate["unit"]) | {"samples": len(rate["values"])}
        case "ndrpdr":
            for goal in ("ndr", "pdr"):
                lower = result[goal]["lower"]["rate"]
                yield _number(f"{goal}.lower", goal, lower["value"], lower["unit"])
        case "soak":
            lower = result["critical_rate"]["lower"]["rate"]
            yield _number("critical_rate.lower", "critical rate", lower["value"], lower["unit"])
        case "reconf":
            loss = result["loss"]["packet"]
            yield _number("loss.packet", "loss when reconfigured", loss["value"], loss["unit"])
        case "hoststack":
            found = result["bandwidth"]
            yield _number("bandwidth", "goodput", found["value"], found["unit"])


def _number(place: str, quantity: str, value: float, unit: str) -> dict[str, Any]:
    return {"place": f"result.{place}", "quantity": quantity, "value": value, "unit": _UNITS.get(unit, unit)}


def _frame_size(long_name: str) -> str:
    """Return the frame size of a long name: NIC, size with its unit, threads and cores, suite."""
    part = (long_name.split("-") + [""])[1]
    return part.removesuffix("b")


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(boundedyaml.load(read_text(_SCHEMA)))
