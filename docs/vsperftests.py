"""The tables of VSPERF's tests: which run natively, and what each other one lacks."""

import json
from pathlib import Path

from nfvbed.spec.loader import Project
from nfvbed.vsperf.conf import TEST_IDS, Selection, VsperfSettings, select
from nfvbed.vsperf.conf.testcase import TestCase

STEPS = Path(__file__).parents[1] / "tests" / "unit" / "vsperf" / "steps" / "jerma.json"
"""VSPERF's step-driven tests, as its files have them."""
_INTRO = """Whether a test runs natively with VSPERF's defaults, as the code maps it; `nfvbed run --vsperf ID --dry-run`
says the same of your settings. [VSPERF](../howto/vsperf.md) says what the words mean."""
_STEPS = """Tests of `conf/integration` (and `TestSteps` of your own) are driven step by step. Steps that set up a chain
on one switch and send on it are a test of that deployment, in any file; so are steps that only send on a
deployment of VSPERF's own. Traffic of several types on one path is one experiment with a test for each. Steps are never
executed one by one. Of each other test the first thing that has no equivalent is named."""
_A_STEP = "a step has no equivalent: "


def page(project: Project) -> str:
    """Return the text below the title: both tables, with their counts."""
    settings = VsperfSettings()
    ids = {name: select(settings, name, project) for name in TEST_IDS}
    steps = recorded_steps()
    found = VsperfSettings(tests=steps)
    driven = {case.name: select(found, case.name, project) for case in steps}
    return "\n\n".join(
        (
            _INTRO,
            f"## Test IDs\n\n{_count(ids)}",
            "| ID | topology | native test | flows | variant | lacks |\n|---|---|---|---|---|---|\n"
            + "\n".join(_id_row(name, found) for name, found in ids.items()),
            f"## Step-driven tests\n\n{_STEPS}\n\n{_count(driven)}",
            "| test | topology | lacks |\n|---|---|---|\n"
            + "\n".join(f"| `{name}` | {_topology(found)} | {lacks(found)} |" for name, found in driven.items()),
        )
    )


def recorded_steps() -> tuple[TestCase, ...]:
    """Return VSPERF's step-driven tests."""
    recorded = json.loads(STEPS.read_text(encoding="utf-8"))["tests"]
    return tuple(
        TestCase(
            name,
            case["deployment"],
            keywords={
                "Parameters": case["parameters"],
                "TestSteps": case["steps"],
                **({"vSwitch": case["vSwitch"]} if "vSwitch" in case else {}),
            },
        )
        for name, case in recorded.items()
    )


def lacks(found: Selection) -> str:
    """Return what a test lacks, the step before all else; empty where it runs."""
    if not found.missing:
        return ""
    text = next((one for one in found.missing if one.startswith(_A_STEP)), found.missing[0])
    return text.partition(" (TestSteps = ")[0].removeprefix(_A_STEP).replace("|", "\\|")


def _id_row(name: str, found: Selection) -> str:
    native = TEST_IDS[name]
    words = (f"`{name}`", _topology(found), found.kind.value, f"{native.flows:,}", native.variant or "", lacks(found))
    return "| " + " | ".join(words) + " |"


def _topology(found: Selection) -> str:
    return found.topology or "none"


def _count(found: dict[str, Selection]) -> str:
    return f"{sum(not one.missing for one in found.values())} of {len(found)} run natively."
