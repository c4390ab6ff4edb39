"""The field's words: each term is defined with its source, and the words that were replaced do not come back."""

import io
import re
import tokenize
from pathlib import Path

import pytest

from nfvbed.compare.scope import Scope
from nfvbed.compare.verdict import Verdict
from nfvbed.records import Readiness, Status
from tests.contract.source import text, tracked

PAGE = Path("docs/reference/words.md")
PLACES = (
    ".ci",
    "CONTRIBUTING.md",
    "Makefile",
    "README.md",
    "bench",
    "deploy",
    "docs",
    "flavors",
    "horizon-plugin",
    "images",
    "native",
    "nfvbed",
    "setup",
    "tests",
    "vnfd",
    "vsperf-conf",
)
"""Folders and files that are checked."""
HISTORY = ("docs/adr", "tests/golden/report")
"""What was written before stays as it was."""
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
REPLACED = {
    "give": r'"""Gives? (?:the|what|all|a) \w+ (?:of|that|in|which|with|where|behind)\b',
    "stand": r"\bst(?:ands?|ood|anding)\b(?! for\b|-in\b)",
    "to be had": r"\bbe had\b",
    "anew": r"\banew\b",
    "mend": r"\bmend(?:s|ed|ing)?\b",
    "told": r'(?<!")\btold\b(?!")',
    "broken off": r"\b(?:breaks?|breaking|broken?) off\b",
    "last words": r"\blast words\b",
    "doubt": r"\bdoubt(?:s|ed|ful)?\b",
    "price": r'(?<!")\bprices?\b(?!-of-switch)',
    "card": r"\bcards?\b",
    "loop-back": r"\bloop-backs?\b",
    "set aside": r"\bset(?:s|ting)? aside\b",
}
"""The second column of the page's last table, and what it looks like."""
CODE = re.compile(r"`[^`\n]*`|\{[^{}\n]*\}|--[a-z][a-z-]+")
C_PROSE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def _rows():
    lines = [line for line in text(PAGE).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def _checked():
    places = [Path(place) for place in PLACES]
    exempt = [PAGE, Path("tests/contract/test_words.py"), *map(Path, HISTORY)]
    return [
        path
        for path in tracked()
        if any(path.is_relative_to(place) for place in places) and not any(path.is_relative_to(e) for e in exempt)
    ]


def _prose(path):
    """Yield (line, text) of what people read: of Python and C the comments and strings, else all but inline code."""
    if path.suffix == ".py":
        read = (tokenize.COMMENT, tokenize.STRING)
        tokens = tokenize.generate_tokens(io.StringIO(text(path)).readline)
        found = [(token.start[0], token.string) for token in tokens if token.type in read]
    elif path.suffix in (".c", ".h"):
        source = text(path)
        found = [(source.count("\n", 0, match.start()) + 1, match[0]) for match in C_PROSE.finditer(source)]
    else:
        found = [(1, text(path))]
    for first, block in found:
        for number, line in enumerate(block.splitlines(), first):
            yield number, CODE.sub("", line)


def test_every_term_has_a_definition_and_a_source():
    terms = {row[0]: row[1:] for row in _rows()}
    assert TERMS - set(terms) == set()
    assert [term for term, cells in terms.items() if not term or len(cells) != 2 or not cells[0]] == []


@pytest.mark.parametrize("words", [Status, Readiness, Verdict, Scope], ids=lambda words: words.__name__)
def test_closed_lists_are_on_the_page(words):
    page = text(PAGE)
    assert [word.value for word in words if not re.search(rf"(\| |`){re.escape(word.value)}( \||`)", page)] == []


def test_replaced_words_are_those_of_the_page():
    table = text(PAGE).partition("## We say, not")[2]
    listed = [line.split("|")[2].strip() for line in table.splitlines() if line.startswith("| ")]
    assert listed[1:] == list(REPLACED)


def test_replaced_words_do_not_come_back():
    found = [
        f"{path}:{number}: {word}: {line.strip()[:90]}"
        for path in _checked()
        for number, line in _prose(path)
        for word, pattern in REPLACED.items()
        if re.search(pattern, line, re.IGNORECASE)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("give", '"""Give the rate of a trial."""'),
        ("stand", "The variant that stands is used."),
        ("to be had", "Both can be had."),
        ("told", "User is told from system."),
        ("broken off", "The switch is broken off under traffic."),
        ("price", "The price of the switch."),
        ("card", "Two network cards."),
        ("loop-back", "the generator's Loop-Back"),
    ],
)
def test_patterns_find_what_was_replaced(word, line):
    assert re.search(REPLACED[word], line, re.IGNORECASE)


@pytest.mark.parametrize(
    "line",
    [
        "Either give a load or leave it out; the given one is kept.",
        "What `native` stands for, and folders that stand for others.",
        "A standard, a wildcard, an outstanding request, looped back, a loopback.",
    ],
)
def test_patterns_leave_other_words_alone(line):
    assert [word for word, pattern in REPLACED.items() if re.search(pattern, line, re.IGNORECASE)] == []
