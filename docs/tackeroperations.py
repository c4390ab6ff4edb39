"""The table of Tacker's operations: done, failed, retried and rolled back, with the test that drove each."""

import json
from pathlib import Path
from typing import Any

import yaml

TESTS = Path(__file__).parents[1] / "tests"
DOUBLE = TESTS / "unit" / "cloud" / "tacker" / "recorded" / "operations.yml"
"""What Tacker's released source says; `test_failed_operations.py` beside it drives every cell with it."""
CLOUD = TESTS / "openstack" / "recorded" / "operations.json"
"""What the test on a cloud found; none: it has not run."""
ACTIONS = ("do", "fail", "retry", "rollback")
_INTRO = """What becomes of an operation on a VNF instance in Tacker {release}, and of one that has failed for the time
being (`FAILED_TEMP`) when it is failed for good, retried or rolled back.

- First in each cell is what the release's source says. `tests/unit/cloud/tacker/test_failed_operations.py` holds
  nfvbed's client against it, cell by cell.
- After `cloud:` is what `tests/openstack/test_failed_operations_on_tacker.py` found on a devcloud. It is on
  demand, as it takes a real OpenStack, and writes what it finds; a number refers to the reason why it has not driven a
  cell. What `test_a_life_cycle` does is driven by continuous integration.
- A refusal that Tacker documents is a pass: nfvbed says `unsupported` with Tacker's words."""
LIFE_CYCLE = ("test_onboarding.py", "test_a_life_cycle")
"""The test of continuous integration that does these operations on a devcloud, and asserts what they come to."""
_OF_LIFE_CYCLE = ("INSTANTIATE", "SCALE_OUT", "SCALE_IN", "HEAL", "TERMINATE")
_UNDRIVEN = {
    "SCALE_IN": "nothing makes a devcloud fail at it: a stack that shrinks needs no host",
    "TERMINATE": "nothing makes a devcloud fail at it: a stack that is deleted needs no host",
}
_NOT_YET = "its test has not been run"


def page() -> str:
    """Return the text below the title."""
    recorded = yaml.safe_load(DOUBLE.read_text(encoding="utf-8"))
    cloud = json.loads(CLOUD.read_text(encoding="utf-8")) if CLOUD.exists() else {}
    parts = [_INTRO.format(release=recorded["release"])]
    for api, source in recorded["sources"].items():
        reasons: list[str] = []
        table = _table(recorded[api], cloud.get(api, {}), api == "v1", reasons)
        listed = "\n".join(f"{number}. not driven: {reason}" for number, reason in enumerate(reasons, 1))
        parts += [f"## {api}", f"Source: `{source}`.", table, *([listed] if listed else [])]
    return "\n\n".join(parts)


def _table(cells: dict[str, Any], cloud: dict[str, Any], in_life_cycle: bool, reasons: list[str]) -> str:
    """Return one version's table; the reasons why cells were not driven are added to `reasons`.

    Args:
        in_life_cycle: whether continuous integration drives it.
    """
    rows = ["| operation | " + " | ".join(ACTIONS) + " |", "|---" * (len(ACTIONS) + 1) + "|"]
    for kind, actions in cells.items():
        words = []
        for action in ACTIONS:
            found = cloud.get(kind, {}).get(action)
            if found is None and in_life_cycle and action == "do" and kind in _OF_LIFE_CYCLE:
                found = f"COMPLETED in `{LIFE_CYCLE[1]}`"
            if found is None:
                why = _why(kind, action)
                reasons += [] if why in reasons else [why]
                found = f"not driven ({reasons.index(why) + 1})"
            words.append(_cell(actions[action], found))
        rows.append(f"| `{kind}` | " + " | ".join(words) + " |")
    return "\n".join(rows)


def _why(kind: str, action: str) -> str:
    return _UNDRIVEN.get(kind, _NOT_YET) if action != "do" else _NOT_YET


def _cell(source: dict[str, Any], found: str) -> str:
    said = source.get("state") or f"refused, as documented: {source['refused']} ({source['status']})"
    return f"{said}; cloud: {found}".replace("|", "\\|")
