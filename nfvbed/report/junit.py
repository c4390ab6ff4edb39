"""JUnit's XML, as continuous integration reads it: one suite, and a case for each thing that was judged.

The form is the one that Jenkins' plug-in documents (`testsuite`, `testcase`, `failure`, `error`, `skipped`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from xml.etree import ElementTree

from nfvbed.characters import drawable


class Outcome(StrEnum):
    """How a case ended, by the name of JUnit's element."""

    PASSED = "passed"
    FAILED = "failure"
    ERROR = "error"
    """What was to be judged could not be, by no fault of its own."""
    SKIPPED = "skipped"
    """No verdict."""


@dataclass(frozen=True)
class TestCase:
    """One thing that was judged."""

    name: str
    outcome: Outcome
    message: str = ""
    detail: str = ""
    """Figures, in as many lines as it takes."""


def junit_xml(suite: str, classname: str, cases: Sequence[TestCase], time_s: float) -> str:
    """Return a suite as a document.

    Args:
        classname: groups the cases.
        time_s: time of the whole suite.
    """
    count = {kind: sum(case.outcome is kind for case in cases) for kind in Outcome}
    numbers = {"tests": len(cases), "failures": count[Outcome.FAILED], "errors": count[Outcome.ERROR]}
    root = ElementTree.Element(
        "testsuite",
        {
            "name": drawable(suite),
            **{key: str(number) for key, number in numbers.items()},
            "skipped": str(count[Outcome.SKIPPED]),
            "time": f"{time_s:.3f}",
        },
    )
    for case in cases:
        entry = ElementTree.SubElement(
            root, "testcase", {"name": drawable(case.name), "classname": drawable(classname)}
        )
        if case.outcome is not Outcome.PASSED:
            ElementTree.SubElement(entry, case.outcome.value, {"message": drawable(case.message)})
        if case.detail:
            output = ElementTree.SubElement(entry, "system-out")
            output.text = "\n".join(drawable(line) for line in case.detail.splitlines())
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
