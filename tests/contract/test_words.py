"""The field's words: each term is defined, with its source."""

import re
from pathlib import Path

from nfvbed.compare.differences.scope import Scope
from nfvbed.compare.verdict import Verdict
from nfvbed.records import Readiness, Status
from tests.contract.source import assert_none, text

PAGE = Path("docs/reference/words.md")
TERMS = {
    "available",
    "ceiling",
    "cell",
    "core distance",
    "deployed",
    "excluded",
    "forwarded rate",
    "generator-limited",
    "heal",
    "host hash",
    "intended load",
    "killed and restarted",
    "loopback",
    "loss ratio",
    "missing frames",
    "MRR",
    "NIC",
    "offered load",
    "onboard",
    "p2p",
    "placement class",
    "pvp",
    "pvvp",
    "readiness",
    "rig hash",
    "round",
    "running",
    "scale",
    "scope",
    "switching overhead",
    "throughput",
    "trial",
    "verdict",
    "visit",
    "warning",
}


def _rows():
    lines = [line for line in text(PAGE).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_term_has_a_definition_and_a_source():
    terms = {row[0]: row[1:] for row in _rows()}
    assert_none(TERMS - set(terms))
    assert_none(term for term, cells in terms.items() if not term or len(cells) != 2 or not cells[0])


def test_closed_lists_are_on_the_page():
    page = text(PAGE)
    words = [word.value for closed in (Status, Readiness, Verdict, Scope) for word in closed]
    assert_none(word for word in words if not re.search(rf"(\| |`){re.escape(word)}( \||`)", page))
