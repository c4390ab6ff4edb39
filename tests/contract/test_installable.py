"""What pyproject.toml declares is what the package imports: an extra's libraries are those that a message names."""

import ast
import importlib.metadata
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

from nfvbed.cli.extras import EXTRA_OF
from tests.contract.source import assert_none, nodes, python_files, text

pytestmark = pytest.mark.xdist_group("syntax")
ELSEWHERE = {"neutron", "neutron_lib", "oslo_config", "oslo_log", "oslo_messaging", "tools", "pods", "_typeshed"}
"""Imported by what runs in a cloud's private root, in VSPERF, or when types are checked."""
WITH = {"starlette": "fastapi", "anyio": "fastapi", "pydantic_core": "pydantic", "h11": "uvicorn"}
"""What a declared library is made of, and brings in any version."""


def test_every_library_is_declared_in_the_base_or_in_the_extra_that_a_message_names():
    declared = tomllib.loads(text(Path("pyproject.toml")))["project"]
    extras = {name: _distributions(wanted) for name, wanted in declared["optional-dependencies"].items()}
    base = _distributions(declared["dependencies"])
    owners = importlib.metadata.packages_distributions()
    undeclared = set()
    for path in python_files("nfvbed"):
        for package in _imported(path) - set(sys.stdlib_module_names) - ELSEWHERE - {"nfvbed"}:
            names = {_normal(WITH.get(name, name)) for name in owners[WITH.get(package, package)]}
            if not names & extras.get(EXTRA_OF.get(package, ""), base):
                undeclared.add(f"{path}: {package}")
    assert_none(undeclared)


def test_every_extra_that_a_message_names_is_there_and_nothing_is_declared_that_no_module_imports():
    declared = tomllib.loads(text(Path("pyproject.toml")))["project"]
    assert set(EXTRA_OF.values()) < set(declared["optional-dependencies"])
    imported = set().union(*(_imported(path) for path in python_files("nfvbed")))
    owners = importlib.metadata.packages_distributions()
    used = {_normal(name) for package in imported for name in owners.get(package, ())}
    wanted = [
        *declared["dependencies"],
        *(name for extra in set(EXTRA_OF.values()) for name in declared["optional-dependencies"][extra]),
    ]
    # psycopg is SQLAlchemy's way to PostgreSQL, named in the URL; itsdangerous is what Starlette signs sessions with;
    # heat-translator has ETSI's type files, which packages contain.
    assert_none(_distributions(wanted) - used - {"nfvbed", "psycopg", "itsdangerous", "heat-translator"})


@cache
def _imported(path: Path) -> set[str]:
    """Top-level packages that a module imports, anywhere in it."""
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
    return found


def _distributions(wanted: list[str]) -> set[str]:
    return {_normal(re.split(r"[\[<>=~ ]", name)[0]) for name in wanted}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
