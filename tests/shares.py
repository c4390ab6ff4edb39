"""Deals test files out to the workers of pytest-xdist before anything is collected: `-p tests.shares --dist each`.

Workers of the other ways of distribution collect every test each: what is imported, compiled and parametrized for a
test is then done once in each of them. Here a worker collects and runs the files of its share alone.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest

GROUP: Final = re.compile(r'xdist_group\("([^"]+)"\)')
"""Files that name the same group share what one worker makes."""
OF_ANOTHER_TIER: Final = re.compile(r"^pytestmark = .*mark\.(dashboard|slow|vepc)\b", re.MULTILINE)
"""Files whose tests are collected, and left out."""
HEAVIER: Final = {
    **{"image": 90, "browser": 30},
    **{
        "dashboard": 10,
        "store": 10,
        "unit": 10,
        "run": 7,
        "report": 7,
        "search": 6,
        "cli": 6,
        "vnfs": 4,
        "golden": 4,
        "compare": 3,
    },
}
"""How many times longer than others of their size tests take, by their folder: measured once, and rounded."""


def deal(files: Iterable[Path], workers: int) -> list[set[Path]]:
    """Return the files of each worker: about as many bytes of tests each, weighed, which says how long they take."""
    together: dict[str, list[Path]] = {}
    for file in files:
        named = GROUP.search(file.read_text("utf-8"))
        together.setdefault(named[1] if named else str(file), []).append(file)
    shares: list[set[Path]] = [set() for _ in range(workers)]
    loads = [0] * workers
    weighed = ((sum(map(_weight, group)), group) for group in together.values())
    for weight, group in sorted(weighed, key=lambda entry: (-entry[0], entry[1])):
        least = loads.index(min(loads))
        shares[least].update(group)
        loads[least] += weight
    return shares


def _weight(file: Path) -> int:
    """Return its size times the weight of its room: `unit/store`, or the tier where it is in none."""
    if OF_ANOTHER_TIER.search(file.read_text("utf-8")):
        return 0
    tier_and_room = str(file.parent).rpartition("/tests/")[2].split("/")[:2]
    return file.stat().st_size * HEAVIER.get(tier_and_room[-1], 1)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker, before it collects, which files are not its own."""
    every = sorted(file.resolve() for folder in node.config.args for file in Path(folder).rglob("test_*.py"))
    shares = deal(every, len(node.config.getoption("tx")))
    own = shares[int(node.workerinput["workerid"].removeprefix("gw"))]
    node.workerinput["others"] = [str(file) for file in every if file not in own]


def pytest_configure(config: pytest.Config) -> None:
    """In a worker: leave out the files of others. In the process that has them: count the tests of all."""
    given = getattr(config, "workerinput", None)
    config.pluginmanager.register(_Sum() if given is None else _Share(given["others"]))


class _Sum:
    """What is done so far is shown as a part of all tests; pytest-xdist takes those of one worker for all."""

    def __init__(self) -> None:
        self._tests = 0
        self._session: pytest.Session | None = None

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self._tests += len(ids)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        assert self._session is not None
        self._session.testscollected = self._tests


class _Share:
    """The hook of a worker that leaves out the files of others."""

    def __init__(self, others: Iterable[str]) -> None:
        self._others = frozenset(others)

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        return True if str(collection_path.resolve()) in self._others else None
