"""What no tracked file may hold; what ruff sees (`eval`, `exec`, loaders of YAML, shells) is in pyproject.toml."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

from tests.contract.source import assert_none, nodes, python_files, text, tracked

pytestmark = pytest.mark.xdist_group("syntax")

C_FILES = [path for path in tracked() if path.suffix in (".c", ".h")]
DATA = ("tests/unit", "tests/golden", "nfvbed/vsperf/conf/released.json")
"""Recorded output of real hosts, and settings of VSPERF's releases, are kept as they were."""
MACHINE_PATHS = re.compile(r"(?<!\w)/(?:work|home/\w+|root|workspace)/")
INDEX_HOSTS = re.compile(
    r"(?:--index-url|--extra-index-url|--find-links|trusted-host|https?://[\w.-]*(?:pypi|mirror)[\w.-]*)"
)


def test_no_variable_decides_whether_a_shell_is_started():
    """Ruff refuses a true value, and sees no variable."""
    found = [
        f"{path}:{node.lineno}"
        for path in python_files()
        if "shell=" in text(path)
        for node in nodes(path)
        if isinstance(node, ast.Call)
        if any(keyword.arg == "shell" and not isinstance(keyword.value, ast.Constant) for keyword in node.keywords)
    ]
    assert_none(found)


@cache
def _docstrings():
    """Return (place, function, docstring) of every function whose docstring names parameters or what is returned."""
    spoken = re.compile(r"""["']\s*Returns?\b|Args:""")
    return [
        (f"{path}:{node.lineno} {node.name}", node, doc)
        for path in python_files()
        if spoken.search(text(path))
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (doc := ast.get_docstring(node))
    ]


def _own_nodes(function):
    """Yield the nodes of a function's body, those of functions inside it left out."""
    waiting = list(function.body)
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            yield node
            waiting.extend(ast.iter_child_nodes(node))


def test_docstrings_say_return_only_where_something_is_returned():
    false = [
        place
        for place, function, doc in _docstrings()
        if re.match(r"Returns?\b", doc)
        if (isinstance(function.returns, ast.Constant) and function.returns.value is None)
        or any(isinstance(node, ast.Yield | ast.YieldFrom) for node in _own_nodes(function))
    ]
    assert_none(false)


def test_docstrings_name_parameters_that_exist():
    unknown = []
    for place, function, doc in _docstrings():
        block = doc.partition("Args:\n")[2].partition("\n\n")[0]
        known = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
        named = re.findall(r"^    \*{0,2}(\w+):", block, re.M)
        unknown += [f"{place}: {name}" for name in named if name not in known]
    assert_none(unknown)


def _names_its_licence(path):
    first = text(path).partition("\n")[0]
    dual = path.name.endswith((".bpf.c", ".bpf.h")) and ("OR" in first or "GPL" in first)
    return "SPDX-License-Identifier:" in first and ("Apache-2.0" in first or dual)


def test_c_sources_name_their_licence():
    assert C_FILES
    assert_none(str(path) for path in C_FILES if not _names_its_licence(path))


def test_no_file_names_a_machine():
    own = Path("tests/contract/test_source.py")
    found = [
        f"{path}:{number}: {line.strip()[:80]}"
        for path in tracked()
        if path != own and path.name != "LICENSE" and not str(path).startswith(DATA)
        for number, line in enumerate(text(path).splitlines(), 1)
        if MACHINE_PATHS.search(line) or INDEX_HOSTS.search(line)
    ]
    assert_none(found)


def test_no_merge_is_left_half_done():
    marks = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
    assert_none(
        f"{path}:{text(path)[: found.start()].count(chr(10)) + 1}"
        for path in tracked()
        for found in marks.finditer(text(path))
    )


def test_every_pin_is_exact_and_has_hashes():
    python = r"[A-Za-z0-9._-]+==[\w.]+( ; [^\\]+?)?(\s+--hash=sha256:[0-9a-f]{64})+"
    files = {
        **dict.fromkeys(
            ("requirements.txt", "requirements-test.txt", "setup/uv.txt", "kolla/requirements.txt"), python
        ),
        **dict.fromkeys(("kolla/ocata/bootstrap.txt", "kolla/ocata/requirements.txt"), python),
        "kolla/ocata/debian.txt": r"[a-z0-9.-]+ \S+ [0-9a-f]{64}",
    }
    found = []
    for name, pin in files.items():
        lines = [line.strip() for line in text(Path(name)).replace("\\\n", " ").splitlines()]
        lines = [line for line in lines if line and not line.startswith("#")]
        assert lines, name
        found += [f"{name}: {line}" for line in lines if not re.fullmatch(pin, line)]
    assert_none(found)


def test_everything_asked_for_is_pinned():
    def normal(name):
        return re.sub(r"[-_.]+", "-", re.split(r"[=<>~\[ ]", name)[0]).lower()

    def pinned(*files):
        return {normal(line) for file in files for line in text(Path(file)).splitlines() if "==" in line}

    project = tomllib.loads(text(Path("pyproject.toml")))
    wanted = [project["project"]["dependencies"], *project["project"]["optional-dependencies"].values()]
    wanted += project["dependency-groups"].values()
    asked = {normal(name) for some in wanted for name in some} - {"nfvbed"}
    assert_none(asked - pinned("requirements.txt", "requirements-test.txt"))
    lines = (line.partition("#")[0].strip() for line in text(Path("kolla/requirements.in")).splitlines())
    assert {normal(line) for line in lines if line} <= pinned("kolla/requirements.txt")
