"""Programs that tests and benches start from a string import what there is: neither mypy nor ruff reads them."""

import ast
import re

import pytest

from tests.contract.source import ROOT, assert_none, nodes, python_files

pytestmark = pytest.mark.xdist_group("syntax")

IMPORT = re.compile(r"^\s*from (nfvbed(?:\.\w+)*) import ([\w, ]+)$", re.MULTILINE)


def _names(path):
    """Return the names that a module has at its top: definitions, assignments, imports."""
    found = set()
    for node in (one for statement in nodes(path)[0].body for one in ast.walk(statement)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def _lacks(module, name):
    place = ROOT.joinpath(*module.split("."))
    if place.joinpath(name).is_dir() or place.joinpath(f"{name}.py").is_file():
        return False
    found = [path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file()]
    return not found or name not in _names(found[0].relative_to(ROOT))


def _programs():
    for path in python_files("tests", "bench", "demo", "nfvbed", "images"):
        for node in nodes(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                for module, names in IMPORT.findall(node.value):
                    for name in names.split(","):
                        yield f"{path}:{node.lineno} imports {name.split()[0]} of {module}", module, name.split()[0]


def test_what_they_import_is_there():
    programs = list(_programs())
    assert len(programs) > 20
    assert_none(said for said, module, name in programs if _lacks(module, name))


def test_what_is_not_there_is_found():
    assert _lacks("nfvbed.errors", "Nothing") and _lacks("nfvbed.nowhere", "Nothing")
    assert not _lacks("nfvbed.errors", "NfvbedError") and not _lacks("nfvbed.host.network", "links")
