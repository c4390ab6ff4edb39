"""The shape of the project: known folders, small modules, small functions, telling names."""

import ast
from pathlib import Path

import yaml

from tests.contract.source import ROOT, python_files, text, tracked, tree

TOP_LEVEL = {
    ".ci",
    "bench",
    "demo",
    "deploy",
    "docs",
    "flavors",
    "horizon-plugin",
    "images",
    "kolla",
    "native",
    "nfvbed",
    "setup",
    "tests",
    "tosca",
    "vnfd",
    "vsperf-conf",
}
PACKAGE = {
    "cli",
    "compare",
    "dashboard",
    "dataplanes",
    "host",
    "measure",
    "plan",
    "report",
    "run",
    "search",
    "sites",
    "spec",
    "store",
    "traffic",
    "vnfs",
    "vsperf",
}
MAX_MODULE_LINES = 400
MAX_FUNCTION_LINES = 50
MAX_PARAMETERS = 5
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}
EXCEPTIONS = yaml.safe_load(text(Path("tests/contract/exceptions.yml"))) or {}


def _functions(path):
    """Return (qualified name, node) of every function of a module."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{path}::{node.name}", node


def _is_command(node):
    """A click command's parameters are its options."""
    return any("command" in ast.unparse(d).split("(")[0] or "option" in ast.unparse(d) for d in node.decorator_list)


def _parameters(node):
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return [argument.arg for argument in arguments if argument.arg not in ("self", "cls")]


def test_top_level_folders_are_known():
    found = {path.parts[0] for path in tracked() if len(path.parts) > 1}
    assert found <= TOP_LEVEL


def test_folders_of_the_package_are_known():
    found = {path.parts[1] for path in tracked() if path.parts[0] == "nfvbed" and len(path.parts) > 2}
    assert found <= PACKAGE


def test_names_tell_what_is_inside():
    assert [str(path) for path in tracked() if path.stem in BANNED_NAMES] == []


def test_modules_are_short():
    long = {
        str(path): len(text(path).splitlines())
        for path in tracked()
        if path.suffix in (".py", ".c", ".h", ".sh")
        and len(text(path).splitlines()) > MAX_MODULE_LINES
        and str(path) not in EXCEPTIONS
    }
    assert long == {}


def test_functions_are_short():
    long = {
        name: node.end_lineno - node.lineno + 1
        for path in python_files("nfvbed", "bench", "docs", "horizon-plugin", "tests")
        for name, node in _functions(path)
        if node.end_lineno - node.lineno + 1 > MAX_FUNCTION_LINES and name not in EXCEPTIONS
    }
    assert long == {}


def test_functions_have_few_parameters():
    many = {
        name: len(_parameters(node))
        for path in python_files("nfvbed", "bench", "horizon-plugin")
        for name, node in _functions(path)
        if len(_parameters(node)) > MAX_PARAMETERS and not _is_command(node) and name not in EXCEPTIONS
    }
    assert many == {}


def test_names_of_test_modules_are_unique():
    names = [path.name for path in tracked() if path.parts[0] == "tests" and path.name.startswith("test_")]
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_exceptions_exist_are_needed_and_give_a_reason():
    for name, reason in EXCEPTIONS.items():
        path, _, function = name.partition("::")
        assert (ROOT / path).is_file(), f"{name}: there is no such file"
        assert not function or name in dict(_functions(Path(path))), f"{name}: there is no such function"
        assert function or len(text(Path(path)).splitlines()) > MAX_MODULE_LINES, f"{name}: is short now"
        assert len(reason) > 20, f"{name}: gives no reason"
