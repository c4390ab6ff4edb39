"""What no tracked file may hold."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from tests.contract.source import python_files, text, tracked, tree

C_FILES = [path for path in tracked() if path.suffix in (".c", ".h")]
DATA = ("tests/unit", "tests/golden", "nfvbed/vsperf/conf/released.json")
"""Recorded output of real hosts, and settings of VSPERF's releases, are kept as they were."""
MACHINE_PATHS = re.compile(r"(?<!\w)/(?:work|home/\w+|root|workspace)/")
INDEX_HOSTS = re.compile(
    r"(?:--index-url|--extra-index-url|--find-links|trusted-host|https?://[\w.-]*(?:pypi|mirror)[\w.-]*)"
)


def _calls(path):
    return (node for node in ast.walk(tree(path)) if isinstance(node, ast.Call))


@pytest.mark.parametrize("path", python_files(), ids=str)
def test_nothing_is_evaluated_or_given_to_a_shell(path):
    found = []
    for call in _calls(path):
        name = ast.unparse(call.func)
        if name in ("eval", "exec", "yaml.load", "os.system", "os.popen"):
            found.append(f"line {call.lineno}: {name}")
        if any(k.arg == "shell" and getattr(k.value, "value", True) is not False for k in call.keywords):
            found.append(f"line {call.lineno}: shell=")
    assert found == []


def _docstrings(path):
    """Yield (place, function, docstring) of every function that has one."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and (doc := ast.get_docstring(node)):
            yield f"{path}:{node.lineno} {node.name}", node, doc


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
        for path in python_files()
        for place, function, doc in _docstrings(path)
        if re.match(r"Returns?\b", doc)
        if (isinstance(function.returns, ast.Constant) and function.returns.value is None)
        or any(isinstance(node, ast.Yield | ast.YieldFrom) for node in _own_nodes(function))
    ]
    assert false == []


def test_docstrings_name_parameters_that_exist():
    unknown = []
    for path in python_files():
        for place, function, doc in _docstrings(path):
            block = doc.partition("Args:\n")[2].partition("\n\n")[0]
            known = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
            named = re.findall(r"^    \*{0,2}(\w+):", block, re.M)
            unknown += [f"{place}: {name}" for name in named if name not in known]
    assert unknown == []


@pytest.mark.parametrize("path", C_FILES, ids=str)
def test_c_sources_name_their_licence(path):
    first = text(path).splitlines()[0]
    dual = "OR" in first or "GPL" in first
    assert "SPDX-License-Identifier:" in first
    assert "Apache-2.0" in first or (path.name.endswith((".bpf.c", ".bpf.h")) and dual)


def test_no_file_names_a_machine():
    own = Path("tests/contract/test_source.py")
    found = [
        f"{path}:{number}: {line.strip()[:80]}"
        for path in tracked()
        if path != own and path.name != "LICENSE" and not str(path).startswith(DATA)
        for number, line in enumerate(text(path).splitlines(), 1)
        if MACHINE_PATHS.search(line) or INDEX_HOSTS.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    "name", ["requirements.txt", "requirements-test.txt", "setup/uv.txt", "kolla/requirements.txt"]
)
def test_every_pin_is_exact_and_has_hashes(name):
    lines = [line for line in text(Path(name)).replace("\\\n", " ").splitlines() if not line.startswith("#")]
    pin = r"[A-Za-z0-9._-]+==[\w.]+( ; [^\\]+?)?(\s+--hash=sha256:[0-9a-f]{64})+"
    assert lines and [line for line in lines if not re.fullmatch(pin, line.strip())] == []


@pytest.mark.parametrize("name", ["bootstrap", "requirements", "debian"])
def test_every_pin_of_ocata_has_the_hash_of_its_file(name):
    lines = [line for line in text(Path(f"kolla/ocata/{name}.txt")).splitlines() if line and not line.startswith("#")]
    pin = r"[a-z0-9.-]+ \S+ [0-9a-f]{64}" if name == "debian" else r"[a-z0-9.-]+==[\w.]+ --hash=sha256:[0-9a-f]{64}"
    assert lines and [line for line in lines if not re.fullmatch(pin, line)] == []


def test_everything_asked_for_is_pinned():
    def normal(name):
        return re.sub(r"[-_.]+", "-", re.split(r"[=<>~\[ ]", name)[0]).lower()

    def pinned(*files):
        return {normal(line) for file in files for line in text(Path(file)).splitlines() if "==" in line}

    project = tomllib.loads(text(Path("pyproject.toml")))
    wanted = [project["project"]["dependencies"], *project["project"]["optional-dependencies"].values()]
    wanted += project["dependency-groups"].values()
    asked = {normal(name) for some in wanted for name in some} - {"nfvbed"}
    assert asked - pinned("requirements.txt", "requirements-test.txt") == set()
    lines = (line.partition("#")[0].strip() for line in text(Path("kolla/requirements.in")).splitlines())
    assert {normal(line) for line in lines if line} <= pinned("kolla/requirements.txt")
