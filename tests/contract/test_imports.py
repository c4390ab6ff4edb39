"""A layer imports lower layers only; siblings never import each other (docs/architecture.md)."""

import ast

import pytest
from source import python_files, tree

LAYERS = (
    ("cli",),
    ("dashboard", "run"),
    ("report", "measure"),
    ("onboard",),
    ("deploy",),
    ("traffic", "plan", "search", "store", "compare"),
    ("spec",),
    ("records", "results", "quality", "missing", "units", "errors", "signals", "patience", "__init__"),
)
OWN_PART = {"__main__": "cli"}
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
BASE = len(LAYERS) - 1


def _imported(path):
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module
            if node.module == "nfvbed":
                yield from (f"nfvbed.{alias.name}" for alias in node.names)


def _part(module):
    parts = module.split(".")
    name = parts[1] if len(parts) > 1 else "__init__"
    return name if name in LEVEL else "__init__"


@pytest.mark.parametrize("path", python_files("nfvbed"), ids=str)
def test_layer_imports_only_lower_layers(path):
    own = path.parts[1].removesuffix(".py")
    own = OWN_PART.get(own, own)
    wrong = []
    for module in _imported(path):
        if module.split(".")[0] != "nfvbed":
            continue
        other = _part(module)
        allowed = other == own or LEVEL[other] > LEVEL[own] or LEVEL[own] == LEVEL[other] == BASE
        if not allowed:
            wrong.append(f"{own} imports {module}")
    assert wrong == []
